/** Slices of tiles along an axis: each thread finds its elements of a slice in its registers of the whole. */
import { assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";
import { sliceLayout, sliceRegister } from "../../../compiler/layout/slices.ts";
import { elementAt, type LinearLayout } from "../../../compiler/linear/linear.ts";

/** A tile whose index bits are dealt out in some order, lanes and warps after registers. */
const anyLayout: fc.Arbitrary<LinearLayout> = fc.record({
  rows: fc.integer({ min: 2, max: 4 }),
  columns: fc.integer({ min: 4, max: 6 }),
  warps: fc.integer({ min: 0, max: 1 }),
}).chain(({ rows, columns, warps }) => {
  const bits = Array.from({ length: rows + columns }, (_, bit) => 1 << bit);
  return fc.shuffledSubarray(bits, { minLength: bits.length }).map((order) => {
    const threads = [...order.slice(0, 5 + warps)];
    return {
      shape: [1 << rows, 1 << columns],
      register: order.slice(5 + warps),
      lane: threads.slice(0, 5),
      warp: threads.slice(5),
      block: [],
    };
  });
});

Deno.test("sliceLayout() is undefined exactly where a bit that numbers slices is not one of registers", () => {
  fc.assert(fc.property(anyLayout, fc.constantFrom(0, 1), (layout, axis) => {
    const extent = layout.shape[axis] ?? 0;
    const top = axis === 1 ? extent / 2 : layout.shape.reduce((a, b) => a * b) / 2;
    const part = sliceLayout(layout, layout.shape.with(axis, extent / 2));
    assertEquals(part !== undefined, layout.register.includes(top));
  }));
});

Deno.test("sliceRegister() gives each thread's elements of every slice", () => {
  fc.assert(fc.property(anyLayout, fc.constantFrom(0, 1), (layout, axis) => {
    const extent = (layout.shape[axis] ?? 0) / 2;
    const shape = layout.shape.with(axis, extent);
    const part = sliceLayout(layout, shape);
    fc.pre(part !== undefined);
    const [, columns = 1] = shape;
    const [, all = 1] = layout.shape;
    for (const first of [0, extent]) {
      const registerOf = sliceRegister(layout, shape, first);
      for (let lane = 0; lane < 32; lane += 3) {
        for (let warp = 0; warp < 1 << part.warp.length; warp++) {
          for (let register = 0; register < 1 << part.register.length; register++) {
            const element = elementAt(part, register, lane, warp);
            const place = [Math.floor(element / columns), element % columns];
            const [row = 0, column = 0] = place.with(axis, (place[axis] ?? 0) + first);
            assertEquals(
              elementAt(layout, registerOf(register), lane, warp),
              row * all + column,
            );
          }
        }
      }
    }
  }));
});
