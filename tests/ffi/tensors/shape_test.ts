import fc from "../../support/property.ts";
import { ArgumentError } from "../../../ffi/errors.ts";
import {
  denseStrides,
  describe,
  gather,
  isDense,
  scatter,
  spanElements,
  takeLayout,
} from "../../../ffi/tensors/shape.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { stridedOffsets } from "./strided.ts";

Deno.test("denseStrides() are those of a row-major array", () => {
  assertEquals(denseStrides([]), []);
  assertEquals(denseStrides([5]), [1]);
  assertEquals(denseStrides([2, 3, 4]), [12, 4, 1]);
  assertEquals(denseStrides([2, 0, 4]), [4, 4, 1]);
});

Deno.test("spanElements() counts from the first to the last element", () => {
  assertEquals(spanElements([], []), 1);
  assertEquals(spanElements([2, 3], [3, 1]), 6);
  assertEquals(spanElements([2, 3], [10, 2]), 15);
  assertEquals(spanElements([2, 0], [10, 1]), 0);
  assertEquals(spanElements([4, 4], [0, 0]), 1);
});

Deno.test("isDense() ignores the strides of axes with one element", () => {
  assert(isDense([2, 3], [3, 1]));
  assert(isDense([1, 3], [99, 1]));
  assert(isDense([0, 3], [7, 7]));
  assert(!isDense([2, 3], [4, 1]));
  assert(!isDense([3, 2], [1, 3]));
});

Deno.test("takeLayout() refuses what is no list of counts", () => {
  const holes: number[] = [];
  holes[1] = 3;
  const liar = new Proxy([2, 3], {
    get: (list, name) => name === "length" ? 1e9 : list[Number(name)],
  });
  for (const shape of [[-1], [1.5], [NaN], [2 ** 53], holes, ["2"], [2n]]) {
    assertThrows(() => takeLayout(shape, undefined), ArgumentError, "integers from 0 to 2^53 - 1");
  }
  for (const shape of [5, null, { length: 1, 0: 2 }, "2"]) {
    assertThrows(() => takeLayout(shape, undefined), ArgumentError, "a list of integers, such as");
  }
  assertThrows(() => takeLayout(liar, undefined), ArgumentError, "at most 64 entries");
  assertThrows(
    () => takeLayout([2 ** 40, 2 ** 40], undefined),
    ArgumentError,
    "fewer than 2^53 elements",
  );
  assertThrows(() => takeLayout([2 ** 30], [2 ** 40]), ArgumentError, "from the first to the last");
  assertThrows(() => takeLayout([2, 3], [3]), ArgumentError, "2 strides for shape [2, 3], got [3]");
  assertThrows(() => takeLayout([2], [-1]), ArgumentError, "Argument strides");
});

Deno.test("takeLayout() copies, and makes 0 of -0", () => {
  const [shape, strides] = [[2, -0], [1, -0]];
  const layout = takeLayout(shape, strides);
  shape[0] = 9;
  assertEquals(layout, { shape: [2, 0], strides: [1, 0] });
  assert(Object.is(layout.shape[1], 0));
});

Deno.test("describe() names type and shape", () => {
  assertEquals(describe("float32", [2, 3]), "float32[2, 3]");
  assertEquals(describe("int8", []), "int8[]");
});

const layouts = fc.record({
  shape: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
  gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 4 }),
  reversed: fc.boolean(),
  elementBytes: fc.constantFrom(1, 2, 4, 8),
});

Deno.test("gather() and scatter() put every element where the strides say", () => {
  fc.assert(fc.property(layouts, ({ shape, gaps, reversed, elementBytes }) => {
    const order = reversed ? shape.toReversed() : shape;
    const dense = denseStrides(order.map((extent, axis) => extent * (gaps[axis] ?? 1)));
    const strides = reversed ? dense.toReversed() : dense;
    const span = spanElements(shape, strides);
    const source = Uint8Array.from({ length: span * elementBytes }, (_, i) => i * 37 + 11);
    const wanted = stridedOffsets(shape, strides).flatMap((offset) => [
      ...source.subarray(offset * elementBytes, (offset + 1) * elementBytes),
    ]);
    const out = new Uint8Array(wanted.length);
    gather(out, source, { shape, strides, elementBytes });
    assertEquals([...out], wanted);
    const back = new Uint8Array(source.length);
    scatter(back, out, { shape, strides, elementBytes });
    const again = new Uint8Array(wanted.length);
    gather(again, back, { shape, strides, elementBytes });
    assertEquals([...again], wanted);
  }));
});
