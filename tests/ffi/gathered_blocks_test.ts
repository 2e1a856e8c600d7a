/** Groups of blocks of any rows and columns: each block in one of them, and few places without one. */
import fc from "../support/property.ts";
import { blockTables } from "../../ffi/block_tables.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import { gatheredBlockTables } from "../../ffi/gathered_blocks.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { freshRandom } from "../support/random.ts";

const MASKS = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 40 })).chain(
  ([rows, columns]) =>
    fc.tuple(
      fc.constant(rows),
      fc.constant(columns),
      fc.array(fc.boolean(), { minLength: rows * columns, maxLength: rows * columns }),
    ),
);

Deno.test("gatheredBlockTables() has each block in one group, where its row and column say", () => {
  const extent = fc.integer({ min: 1, max: 4 });
  const shape = fc.tuple(extent, extent, fc.integer({ min: 1, max: 3 }), fc.constantFrom(1, 2));
  fc.assert(fc.property(MASKS, shape, ([rows, columns, mask], [high, wide, run, parts]) => {
    const tables = gatheredBlockTables(mask, rows, columns, high, wide, run, parts);
    const known = blockTables(mask, rows, columns);
    const { count, blocks } = tables;
    assertEquals([tables.rows.length, tables.columns.length], [count * high, count * wide]);
    assertEquals(blocks.length, count * high * run * wide * run);
    const found = [...blocks].filter((number) => number >= 0).sort((a, b) => a - b);
    assertEquals(found, Array.from({ length: known.count }, (_, number) => number));
    blocks.forEach((number, at) => {
      const [line, across] = [Math.floor(at / (wide * run)), at % (wide * run)];
      const firstRow = must(tables.rows[Math.floor(line / run)], "row");
      const group = Math.floor(line / (high * run));
      const firstColumn = must(tables.columns[group * wide + Math.floor(across / run)], "column");
      assert(firstRow >= 0 && firstRow * run < rows && firstColumn * run < columns);
      assert(firstColumn >= 0 || (parts === 2 && number < 0));
      if (number < 0) return;
      const place = [firstRow * run + line % run, firstColumn * run + across % run];
      assertEquals(place, [known.rows[number], known.columns[number]]);
    });
  }));
});

Deno.test("gatheredBlockTables() leaves out right parts with few blocks, and no left one", () => {
  const mask = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0];
  const { count, columns } = gatheredBlockTables(mask, 2, 8, 2, 4, 1, 2);
  assertEquals([count, [...columns]], [2, [3, 4, 5, 0, 1, 2, -1, -1]]);
});

Deno.test("gatheredBlockTables() leaves few places of random patterns empty, and none of full ones", () => {
  const random = freshRandom(14);
  const filled = (side: number, high: number, wide: number, density: number): number => {
    const mask = Array.from({ length: side * side }, () => random.unit() < density);
    const { count } = gatheredBlockTables(mask, side, side, high, wide);
    return mask.filter((isThere) => isThere).length / (count * high * wide);
  };
  assertEquals(filled(32, 2, 2, 1), 1);
  assert(filled(64, 2, 2, 0.5) > 0.96);
  assert(filled(64, 4, 4, 0.5) > 0.82);
});

Deno.test("gatheredBlockTables() refuses groups without an extent, other parts, and masks of another size", () => {
  assertThrows(() => gatheredBlockTables([1], 1, 1, 0, 1), ArgumentError, "high");
  assertThrows(() => gatheredBlockTables([1], 1, 1, 1, 0.5), ArgumentError, "wide");
  assertThrows(() => gatheredBlockTables([1], 1, 1, 1, 1, 0), ArgumentError, "run");
  assertThrows(() => gatheredBlockTables([1], 1, 1, 1, 1, 1, 3), ArgumentError, "parts");
  assertThrows(() => gatheredBlockTables([1, 0], 1, 1, 1, 1), ArgumentError, "mask");
});
