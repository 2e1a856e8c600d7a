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
  const extents = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }));
  fc.assert(fc.property(MASKS, extents, ([rows, columns, mask], [high, wide]) => {
    const tables = gatheredBlockTables(mask, rows, columns, high, wide);
    const known = blockTables(mask, rows, columns);
    const { count, blocks } = tables;
    assertEquals([tables.rows.length, tables.columns.length], [count * high, count * wide]);
    assertEquals(blocks.length, count * high * wide);
    const found = [...blocks].filter((number) => number >= 0).sort((a, b) => a - b);
    assertEquals(found, Array.from({ length: known.count }, (_, number) => number));
    blocks.forEach((number, at) => {
      const [group, place] = [Math.floor(at / (high * wide)), at % (high * wide)];
      const row = must(tables.rows[group * high + Math.floor(place / wide)], "row");
      const column = must(tables.columns[group * wide + place % wide], "column");
      assert(row < rows && column < columns);
      if (number < 0) return;
      assertEquals([row, column], [known.rows[number], known.columns[number]]);
    });
  }));
});

Deno.test("gatheredBlockTables() leaves few places of random patterns empty, and none of full ones", () => {
  const random = freshRandom(14);
  const filled = (side: number, high: number, wide: number, density: number): number => {
    const mask = Array.from({ length: side * side }, () => random.unit() < density);
    const { count } = gatheredBlockTables(mask, side, side, high, wide);
    return mask.filter((isThere) => isThere).length / (count * high * wide);
  };
  assertEquals(filled(32, 2, 2, 1), 1);
  assert(filled(64, 2, 2, 0.5) > 0.94);
  assert(filled(64, 4, 4, 0.5) > 0.75);
});

Deno.test("gatheredBlockTables() refuses groups without an extent, and masks of another size", () => {
  assertThrows(() => gatheredBlockTables([1], 1, 1, 0, 1), ArgumentError, "high");
  assertThrows(() => gatheredBlockTables([1], 1, 1, 1, 0.5), ArgumentError, "wide");
  assertThrows(() => gatheredBlockTables([1, 0], 1, 1, 1, 1), ArgumentError, "mask");
});
