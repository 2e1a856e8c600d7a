/** Look-up tables of a block-sparse matrix, for kernels such as `sdd`, `dsd` and `dds`. */
import { ArgumentError } from "./errors.ts";

/** Where the blocks of a matrix are, counted in blocks. Numbers of blocks are those of the row-major order. */
export interface BlockTables {
  /** How many blocks there are. */
  readonly count: number;
  /** The block row of each block. */
  readonly rows: Int32Array<ArrayBuffer>;
  /** The block column of each block. */
  readonly columns: Int32Array<ArrayBuffer>;
  /** The number of the first block of each block row, and at the end `count`. */
  readonly rowOffsets: Int32Array<ArrayBuffer>;
  /** Down the columns: how many blocks the columns before have, and at the end `count`. */
  readonly columnOffsets: Int32Array<ArrayBuffer>;
  /** Down the columns: the block row of each block. */
  readonly columnRows: Int32Array<ArrayBuffer>;
  /** Down the columns: the number of each block. */
  readonly columnPlaces: Int32Array<ArrayBuffer>;
}

/**
 * The tables for the blocks that a mask names: one value per block, row-major, zero or false where no block is.
 *
 * ```ts
 * const { rowOffsets, columns } = blockTables([1, 0, 1, 1, 0, 0], 2, 3);
 * // rowOffsets is [0, 2, 3], columns is [0, 2, 0]
 * ```
 */
export function blockTables(
  mask: ArrayLike<number | boolean>,
  blockRows: number,
  blockColumns: number,
): BlockTables {
  for (const [argument, value] of Object.entries({ blockRows, blockColumns })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new ArgumentError({
      argument: `${argument} of blockTables`,
      expected: "a number of blocks",
      actual: `${value}`,
    });
  }
  if (mask.length !== blockRows * blockColumns) {
    throw new ArgumentError({
      argument: "mask of blockTables",
      expected: `${blockRows} x ${blockColumns} values`,
      actual: `${mask.length} values`,
    });
  }
  const numbers = Array.from({ length: mask.length }, () => 0);
  const rows: number[] = [];
  const columns: number[] = [];
  const rowOffsets = [0];
  for (let row = 0; row < blockRows; row++) {
    for (let column = 0; column < blockColumns; column++) {
      const at = row * blockColumns + column;
      if (!mask[at]) continue;
      numbers[at] = rows.length;
      rows.push(row);
      columns.push(column);
    }
    rowOffsets.push(rows.length);
  }
  const columnRows: number[] = [];
  const columnPlaces: number[] = [];
  const columnOffsets = [0];
  for (let column = 0; column < blockColumns; column++) {
    for (let row = 0; row < blockRows; row++) {
      const at = row * blockColumns + column;
      if (!mask[at]) continue;
      columnRows.push(row);
      columnPlaces.push(numbers[at] ?? 0);
    }
    columnOffsets.push(columnRows.length);
  }
  return {
    count: rows.length,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
    rowOffsets: Int32Array.from(rowOffsets),
    columnOffsets: Int32Array.from(columnOffsets),
    columnRows: Int32Array.from(columnRows),
    columnPlaces: Int32Array.from(columnPlaces),
  };
}
