import fc from "../../support/property.ts";
import { overlapsItself } from "../../../ffi/tensors/self_overlap.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stridedOffsets } from "./strided.ts";

Deno.test("overlapsItself() compares every element with every other", () => {
  const axis = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: -7, max: 20 }));
  fc.assert(
    fc.property(fc.array(axis, { maxLength: 4 }), (axes) => {
      const [extents, strides] = [axes.map(([extent]) => extent), axes.map(([, step]) => step)];
      const all = stridedOffsets(extents, strides);
      assertEquals(overlapsItself(extents, strides), new Set(all).size < all.length);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("overlapsItself() takes rows, columns, gaps and interleaved rows", () => {
  for (
    const [extents, strides] of [
      [[], []],
      [[1 << 30], [1]],
      [[4096, 4096], [4096, 1]],
      [[4096, 4096], [1, 5000]],
      [[2, 3, 1, 4], [1, 2, 0, 6]],
      [[2, 3], [3, 2]],
      [[0, 7], [0, 0]],
    ] as const
  ) assert(!overlapsItself(extents, strides), `${extents} with ${strides}`);
  for (
    const [extents, strides] of [
      [[2, 3], [0, 1]],
      [[2, 3], [1, 1]],
      [[4096, 4096], [4095, 1]],
      [[1000, 1000, 1000], [999_999, 1000, 1]],
    ] as const
  ) assert(overlapsItself(extents, strides), `${extents} with ${strides}`);
});

Deno.test("overlapsItself() ends its search after a bounded time: what it cannot decide counts as overlapping", () => {
  const extents = Array.from({ length: 40 }, () => 1000);
  // Strides without a common structure near each other: a knapsack.
  const strides = extents.map((_, i) => 2 ** 40 + 7919 * i * i);
  assert(overlapsItself(extents, strides));
});
