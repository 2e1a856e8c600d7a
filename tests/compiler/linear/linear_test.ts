import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  elementAt,
  invertOrder,
  type LinearLayout,
  permuteLayout,
  product,
  sameLayout,
  spellLayout,
  unbroadcastLayout,
} from "../../../compiler/linear/linear.ts";
import { unflatten } from "../../support/compiler/tile_index.ts";
import { blockedLayout, orderFrom } from "../../../compiler/layout/blocked.ts";

/** Every (register, lane, warp) of a layout with the element it holds. */
function* coordinates(
  layout: LinearLayout,
): Generator<{ register: number; lane: number; warp: number; element: number }> {
  for (let warp = 0; warp < 1 << layout.warp.length; warp++) {
    for (let lane = 0; lane < 32; lane++) {
      for (let register = 0; register < 1 << layout.register.length; register++) {
        yield { register, lane, warp, element: elementAt(layout, register, lane, warp) };
      }
    }
  }
}

const arbitraryBlocked = fc.record({
  rows: fc.integer({ min: 0, max: 7 }),
  columns: fc.integer({ min: 0, max: 7 }),
  warps: fc.integer({ min: 0, max: 3 }),
  vector: fc.integer({ min: 0, max: 4 }),
  block: fc.integer({ min: 0, max: 4 }),
  first: fc.integer({ min: 0, max: 1 }),
}).map((r) => ({
  shape: [2 ** r.rows, 2 ** r.columns],
  numWarps: 2 ** r.warps,
  order: orderFrom(r.first, 2),
  vector: Math.min(2 ** r.vector, r.first === 0 ? 2 ** r.rows : 2 ** r.columns),
  block: { axis: 1 - r.first, size: 2 ** r.block },
}));

Deno.test("blockedLayout() reaches every element of any shape", () => {
  fc.assert(fc.property(arbitraryBlocked, (spec) => {
    const layout = blockedLayout(spec);
    const elements = new Set([...coordinates(layout)].map((c) => c.element));
    assertEquals(elements.size, product(spec.shape));
  }));
});

Deno.test("blockedLayout() holds each element once when there are enough elements for all threads", () => {
  fc.assert(fc.property(arbitraryBlocked, (spec) => {
    fc.pre(product(spec.shape) >= 32 * spec.numWarps);
    assertEquals([...coordinates(blockedLayout(spec))].length, product(spec.shape));
  }));
});

Deno.test("blockedLayout() puts a vector along the contiguous axis into the first registers", () => {
  const layout = blockedLayout({ shape: [64, 64], numWarps: 4, order: [1, 0], vector: 4 });
  const columns = [0, 1, 2, 3].map((register) =>
    unflatten(elementAt(layout, register, 5, 2), layout.shape)
  );
  assertEquals(columns.map(([row]) => row), new Array(4).fill(columns[0]?.[0]));
  assertEquals(columns.map(([, column]) => (column ?? 0) - (columns[0]?.[1] ?? 0)), [0, 1, 2, 3]);
});

Deno.test("permuteLayout() gives element (i, j) of the source to (j, i) of the result", () => {
  fc.assert(
    fc.property(arbitraryBlocked, (spec) => {
      const layout = blockedLayout(spec);
      const transposed = permuteLayout(layout, [1, 0]);
      for (const { register, lane, warp, element } of coordinates(layout)) {
        const [row, column] = unflatten(element, layout.shape);
        assertEquals(unflatten(elementAt(transposed, register, lane, warp), transposed.shape), [
          column,
          row,
        ]);
      }
      assert(sameLayout(permuteLayout(transposed, invertOrder([1, 0])), layout));
    }),
    { numRuns: 30 },
  );
});

Deno.test("unbroadcastLayout() holds in every coordinate the operand element that is stretched there", () => {
  fc.assert(
    fc.property(arbitraryBlocked, (spec) => {
      const layout = blockedLayout(spec);
      const column = unbroadcastLayout(layout, [spec.shape[0] ?? 1, 1]);
      for (const { register, lane, warp, element } of coordinates(layout)) {
        assertEquals(elementAt(column, register, lane, warp), unflatten(element, layout.shape)[0]);
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("spellLayout() names index bits by axis", () => {
  const layout = blockedLayout({ shape: [4, 8], numWarps: 1, order: [1, 0], vector: 2 });
  assertEquals(spellLayout(layout), "register() lane(b0 b1 b2 a0 a1) warp()");
});
