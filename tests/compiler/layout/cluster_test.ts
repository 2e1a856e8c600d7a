import fc from "../../support/property.ts";
import { assertEquals } from "../../support/assert.ts";
import { blockedLayout, withoutBlocks } from "../../../compiler/layout/blocked.ts";
import { partConversion } from "../../../compiler/layout/cluster.ts";
import {
  applyBases,
  elementAt,
  type LinearLayout,
  permuteLayout,
} from "../../../compiler/linear/linear.ts";
import { threadBases } from "../../../compiler/linear/threads.ts";

/** Every coordinate in the registers, lanes, warps and blocks of a layout. */
function* coordinatesOf(
  { register, lane, warp, block }: LinearLayout,
): Generator<readonly [register: number, lane: number, warp: number, block: number]> {
  for (let b = 0; b < 1 << block.length; b++) {
    for (let w = 0; w < 1 << warp.length; w++) {
      for (let l = 0; l < 1 << lane.length; l++) {
        for (let r = 0; r < 1 << register.length; r++) yield [r, l, w, b];
      }
    }
  }
}

const blocked = fc.record({
  shape: fc.constantFrom([64, 32], [2, 512], [1, 256], [1024, 1]),
  numWarps: fc.constantFrom(1, 2),
  numCtas: fc.constantFrom(2, 4, 8),
  vector: fc.constantFrom(1, 4),
  contiguous: fc.constantFrom(0, 1),
});

/** As loads, transpositions and look-ups have them. */
const layouts = blocked.map(({ shape: [rows = 1, columns = 1], contiguous, ...rest }) => {
  const order = contiguous === 1 ? [1, 0] : [0, 1];
  const layout = blockedLayout({ ...rest, shape: [rows, columns], order });
  const back = blockedLayout({ ...rest, shape: [columns, rows], order });
  return [layout, permuteLayout(back, [1, 0]), withoutBlocks(layout)] as const;
});

Deno.test("blockedLayout() gives the blocks of a program all elements, each to one block where there are enough", () => {
  fc.assert(fc.property(layouts, ([layout]) => {
    const owners = new Map<number, Set<number>>();
    for (const [register, lane, warp, block] of coordinatesOf(layout)) {
      const element = elementAt(layout, register, lane, warp, block);
      owners.set(element, (owners.get(element) ?? new Set()).add(block));
    }
    assertEquals(owners.size, layout.shape.reduce((a, b) => a * b, 1));
    assertEquals(new Set([...owners.values()].map(({ size }) => size)), new Set([1]));
  }));
});

Deno.test("partConversion() finds each element in the part of the block that it names", () => {
  const pair = fc.tuple(layouts, fc.nat(2), fc.nat(2));
  fc.assert(fc.property(pair, ([all, from, to]) => {
    const [first] = all;
    const [src, dst] = [all[from] ?? first, all[to] ?? first];
    const parts = partConversion(src, dst);
    const held = new Map<string, number>();
    for (const [register, lane, warp, block] of coordinatesOf(src)) {
      const place = elementAt(parts.src, register, lane, warp);
      held.set(`${block} ${place}`, elementAt(src, register, lane, warp, block));
    }
    for (const [register, lane, warp, block] of coordinatesOf(dst)) {
      const place = elementAt(parts.dst, register, lane, warp, block);
      const thread = lane | (warp << 5) | (block << (5 + dst.warp.length));
      const rank = parts.ranks === undefined
        ? block
        : applyBases(parts.ranks.register, register) ^ applyBases(parts.ranks.thread, thread);
      assertEquals(held.get(`${rank} ${place}`), elementAt(dst, register, lane, warp, block));
    }
    assertEquals(threadBases(dst).length, 5 + dst.warp.length + dst.block.length);
  }));
});
