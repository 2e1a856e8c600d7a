/** Look-up tables of block-sparse matrices, against sorting the coordinates. */
import fc from "../support/property.ts";
import { blockTables, packedBlockTables } from "../../ffi/block_tables.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

const MASKS = fc.tuple(fc.nat(9), fc.nat(9)).chain(([rows, columns]) =>
  fc.tuple(
    fc.constant(rows),
    fc.constant(columns),
    fc.array(fc.boolean(), { minLength: rows * columns, maxLength: rows * columns }),
  )
);

Deno.test("blockTables() lists every block by rows and by columns", () => {
  fc.assert(fc.property(MASKS, ([rows, columns, mask]) => {
    const tables = blockTables(mask, rows, columns);
    const blocks = mask.flatMap((isThere, at) =>
      isThere ? [{ row: Math.floor(at / columns), column: at % columns }] : []
    ).map((block, number) => ({ ...block, number }));
    const down = blocks.toSorted((a, b) => a.column - b.column || a.row - b.row);
    const upTo = (extent: number, key: "row" | "column"): number[] =>
      Array.from({ length: extent + 1 }, (_, i) => blocks.filter((block) => block[key] < i).length);
    assertEquals(tables.count, blocks.length);
    assertEquals([...tables.rows], blocks.map(({ row }) => row));
    assertEquals([...tables.columns], blocks.map(({ column }) => column));
    assertEquals([...tables.rowOffsets], upTo(rows, "row"));
    assertEquals([...tables.columnOffsets], upTo(columns, "column"));
    assertEquals([...tables.columnRows], down.map(({ row }) => row));
    assertEquals([...tables.columnNumbers], down.map(({ number }) => number));
  }));
});

Deno.test("packedBlockTables() lists the blocks of each group that has one", () => {
  const extents = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }));
  fc.assert(fc.property(MASKS, extents, ([rows, columns, mask], [high, wide]) => {
    const { blocks, columnBlocks, ...tables } = packedBlockTables(mask, rows, columns, high, wide);
    const numbers = mask.map((isThere, at) =>
      isThere ? mask.slice(0, at).filter((before) => before).length : -1
    );
    const [down, across] = [Math.ceil(rows / high), Math.ceil(columns / wide)];
    const groups = Array.from({ length: down * across }, (_, group) => {
      const [top, left] = [Math.floor(group / across) * high, group % across * wide];
      return Array.from({ length: high * wide }, (_, i) => {
        const [row, column] = [top + Math.floor(i / wide), left + i % wide];
        return row < rows && column < columns ? numbers[row * columns + column] : -1;
      });
    });
    const isThere = groups.map((group) => group.some((number) => number !== -1));
    const { columnNumbers: _, ...expected } = blockTables(isThere, down, across);
    assertEquals(tables, expected);
    assertEquals([...blocks], groups.filter((_, group) => isThere[group]).flat());
    const byColumns = Array.from(
      { length: across },
      (_, column) => groups.filter((_, group) => isThere[group] && group % across === column),
    ).flat(2);
    assertEquals([...columnBlocks], byColumns);
  }));
});

Deno.test("packedBlockTables() refuses groups without an extent", () => {
  assertThrows(() => packedBlockTables([1], 1, 1, 0, 1), ArgumentError, "high");
  assertThrows(() => packedBlockTables([1], 1, 1, 1, 0.5), ArgumentError, "wide");
});

Deno.test("blockTables() refuses masks of another size", () => {
  const error = assertThrows(() => blockTables([1, 0, 1], 2, 2), ArgumentError);
  assertEquals([error.argument, error.expected, error.actual], [
    "mask of blockTables",
    "2 x 2 values",
    "3 values",
  ]);
  assertThrows(() => blockTables([], -1, 0), ArgumentError, "blockRows");
});

Deno.test("blockTables() refuses what is no mask, holes in it, and numbers of blocks that are none", () => {
  const call = (...args: unknown[]): () => unknown => () =>
    Reflect.apply(blockTables, undefined, args);
  for (const mask of [null, "100110", 6, {}, Object.create(Float32Array.prototype)]) {
    assertThrows(call(mask, 2, 3), ArgumentError, "Argument mask of blockTables");
  }
  assertThrows(call({ length: 6, 0: 1 }, 2, 3), ArgumentError, "mask[1] of blockTables");
  assertThrows(call([1, 0, "1", 1, 0, 0], 2, 3), ArgumentError, "mask[2] of blockTables");
  for (const count of [0.5, NaN, "2", 2n, Symbol("s"), 2 ** 53, 2 ** 25]) {
    assertThrows(call([], count, 0), ArgumentError, "blockRows of blockTables");
  }
});
