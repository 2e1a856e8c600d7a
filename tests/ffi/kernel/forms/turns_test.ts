/** How many blocks are launched for programs in turn, and that these do each program once. */
import { takesTurns, turnsOf } from "../../../../ffi/kernel/forms/turns.ts";
import type { Grid } from "../../../../ffi/kernel/types.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

import fc from "../../../support/property.ts";

Deno.test("turnsOf() launches as many blocks as there are multiprocessors, or fewer with as many programs each", () => {
  const along = (x: number, multiprocessors: number, y = 1): unknown =>
    turnsOf("x", [x, y, 1], multiprocessors);
  assertEquals(along(2048, 132), { blocks: [128, 1, 1], numbers: [2048] });
  assertEquals(along(132, 132), { blocks: [132, 1, 1], numbers: [132] });
  assertEquals(along(133, 132), { blocks: [67, 1, 1], numbers: [133] });
  assertEquals(along(5, 132), { blocks: [5, 1, 1], numbers: [5] });
  assertEquals(along(300, 1), { blocks: [1, 1, 1], numbers: [300] });
  // Blocks take programs from a queue, one more or less.
  assertEquals(turnsOf("several", [133, 1, 1], 66, 7), { blocks: [66, 1, 1], numbers: [133, 7] });
  // Where the grid has more axes, each program has a block.
  assertEquals(along(300, 132, 2), { blocks: [300, 2, 1], numbers: [300] });
});

Deno.test("turnsOf() gives blocks that do programs along all axes each index along x", () => {
  // 128 blocks would do, but each would have one index.
  assertEquals(turnsOf("xyz", [4, 32, 32], 132), {
    blocks: [129, 1, 1],
    numbers: [4, 32, 32, 1, 0, 1],
  });
  assertEquals(turnsOf("xyz", [5, 3, 7], 20), { blocks: [18, 1, 1], numbers: [5, 3, 7, 3, 0, 1] });
  // More indices than turns: each program has a block.
  assertEquals(turnsOf("xyz", [64, 5, 1], 132).blocks, [320, 1, 1]);
  assertEquals([takesTurns([4, 32, 32], 132), takesTurns([64, 5, 1], 132)], [true, false]);
  assertEquals(takesTurns([4, 3, 2], 132), false);
  // Programs that take differently long: as many blocks as there can be, to and fro.
  assertEquals(turnsOf("all", [64, 5, 1], 132), { blocks: [132, 1, 1], numbers: [64, 5, 1] });
  assertEquals(turnsOf("all", [4, 3, 1], 132), { blocks: [12, 1, 1], numbers: [4, 3, 1] });
});

Deno.test("turnsOf() lets blocks do each program of any grid once", () => {
  const extent = fc.integer({ min: 1, max: 12 });
  const anyTurns = fc.constantFrom("xyz" as const, "all" as const);
  fc.assert(
    fc.property(anyTurns, extent, extent, extent, fc.nat(40), (persistent, x, y, z, most) => {
      const { blocks: [count, ...others], numbers } = turnsOf(persistent, [x, y, z], most);
      assertEquals(others, [1, 1]);
      assert(count <= Math.max(most, 1) || (persistent === "xyz" && count === x * y * z));
      const done = new Set<number>();
      for (let block = 0; block < count; block++) {
        const programs = persistent === "all"
          ? toAndFro(block, count, x * y * z)
          : programsOf(block, [x, y, z], numbers.slice(3));
        for (const program of programs) {
          assert(!done.has(program));
          done.add(program);
        }
      }
      assertEquals(done.size, x * y * z);
    }),
  );
});

/** The programs of a block by the sums that compiler/schedule/programs/turns.ts emits. */
function toAndFro(block: number, blocks: number, count: number): number[] {
  const programs: number[] = [];
  for (let at = block; at < count;) {
    programs.push(at);
    const end = (Math.floor(at / blocks) + 1) * blocks;
    at = end + (end - 1 - at);
  }
  return programs;
}

/** The programs of a block by the carries that compiler/schedule/programs/turns.ts emits. */
function programsOf(block: number, [x, y, z]: Grid, steps: readonly number[]): number[] {
  const [dx = 0, dy = 0, dz = 0] = steps;
  const row = Math.floor(block / x);
  const programs: number[] = [];
  for (let at = [block % x, row % y, Math.floor(row / y)] as const; at[2] < z;) {
    programs.push(at[0] + x * (at[1] + y * at[2]));
    const i = at[0] + dx;
    const j = at[1] + dy + (i >= x ? 1 : 0);
    at = [i % x, j % y, at[2] + dz + (j >= y ? 1 : 0)];
  }
  return programs;
}
