/** Look-up tables of a block-sparse matrix, for kernels such as `sdd`, `dsd` and `dds`, and for those that multiply groups of blocks. */
import { ArgumentError } from "./errors.ts";
import { expectInteger } from "./arguments/numbers.ts";
import { describeValue } from "./arguments/values.ts";

/** The most blocks along an axis: far more than a matrix has, and few enough to count. */
const MOST_BLOCKS = 2 ** 24;

/** In the list of blocks' numbers: there is no block. */
const NONE = -1;

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
  /** In column-major order: how many blocks the columns before have, and at the end `count`. */
  readonly columnOffsets: Int32Array<ArrayBuffer>;
  /** In column-major order: the block row of each block. */
  readonly columnRows: Int32Array<ArrayBuffer>;
  /** In column-major order: the number of each block. */
  readonly columnNumbers: Int32Array<ArrayBuffer>;
}

/**
 * The tables for the blocks that a mask names: one value per block, row-major, zero or false where no block is. Throws
 * `ArgumentError` for a mask of another length and for values that are neither numbers nor truth values.
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
  expectInteger("blockRows of blockTables", blockRows, 0, MOST_BLOCKS);
  expectInteger("blockColumns of blockTables", blockColumns, 0, MOST_BLOCKS);
  const length = readLength(mask);
  if (length !== blockRows * blockColumns) {
    throw new ArgumentError({
      argument: "mask of blockTables",
      expected: `${blockRows} x ${blockColumns} values`,
      actual: typeof length === "number" ? `${length} values` : describeValue(mask),
    });
  }
  const numbers: number[] = [];
  const rows: number[] = [];
  const columns: number[] = [];
  const rowOffsets = [0];
  for (let row = 0; row < blockRows; row++) {
    for (let column = 0; column < blockColumns; column++) {
      const at = row * blockColumns + column;
      const value: unknown = mask[at];
      if (typeof value !== "number" && typeof value !== "boolean") {
        throw new ArgumentError({
          argument: `mask[${at}] of blockTables`,
          expected: "a number, true or false",
          actual: describeValue(value),
        });
      }
      numbers.push(value ? rows.length : NONE);
      if (!value) continue;
      rows.push(row);
      columns.push(column);
    }
    rowOffsets.push(rows.length);
  }
  const columnRows: number[] = [];
  const columnNumbers: number[] = [];
  const columnOffsets = [0];
  for (let column = 0; column < blockColumns; column++) {
    for (let row = 0; row < blockRows; row++) {
      const at = row * blockColumns + column;
      const number = numbers[at] ?? NONE;
      if (number === NONE) continue;
      columnRows.push(row);
      columnNumbers.push(number);
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
    columnNumbers: Int32Array.from(columnNumbers),
  };
}

/** Where the blocks of a matrix are, in groups of blocks. Tables of {@linkcode BlockTables} say where the groups are. */
export interface PackedBlockTables extends Omit<BlockTables, "columnNumbers"> {
  /** Numbers of the blocks of each group, row-major, -1 where there is none: groups in row-major order. */
  readonly blocks: Int32Array<ArrayBuffer>;
  /** The same for groups in column-major order. */
  readonly columnBlocks: Int32Array<ArrayBuffer>;
}

/**
 * The tables for kernels such as `dsd_packed`, which multiply groups of `high` x `wide` blocks at a time: as
 * {@linkcode blockTables} of the groups that have a block, with the numbers of their blocks. Groups at the lower and right
 * edges may reach beyond the mask.
 *
 * ```ts
 * const { rowOffsets, columns, blocks } = packedBlockTables([1, 0, 1, 1, 0, 0], 2, 3, 1, 2);
 * // rowOffsets is [0, 2, 3], columns is [0, 1, 0], blocks is [0, -1, 1, -1, 2, -1]
 * ```
 */
export function packedBlockTables(
  mask: ArrayLike<number | boolean>,
  blockRows: number,
  blockColumns: number,
  high: number,
  wide: number,
): PackedBlockTables {
  expectInteger("high of packedBlockTables", high, 1, MOST_BLOCKS);
  expectInteger("wide of packedBlockTables", wide, 1, MOST_BLOCKS);
  const { rows, columns } = blockTables(mask, blockRows, blockColumns);
  const across = Math.ceil(blockColumns / wide);
  const groupOf = (block: number): number =>
    Math.floor((rows[block] ?? NaN) / high) * across + Math.floor((columns[block] ?? NaN) / wide);
  const groups: boolean[] = new Array<boolean>(Math.ceil(blockRows / high) * across).fill(false);
  for (let block = 0; block < rows.length; block++) groups[groupOf(block)] = true;
  const { columnNumbers, ...tables } = blockTables(groups, Math.ceil(blockRows / high), across);
  // Where each group is in row-major order.
  const place = new Map<number, number>();
  groups.forEach((isThere, group) => isThere && place.set(group, place.size));
  const size = high * wide;
  const blocks = new Int32Array(tables.count * size).fill(NONE);
  for (let block = 0; block < rows.length; block++) {
    const [row, column] = [rows[block] ?? NaN, columns[block] ?? NaN];
    blocks[(place.get(groupOf(block)) ?? NaN) * size + row % high * wide + column % wide] = block;
  }
  const columnBlocks = new Int32Array(blocks.length);
  columnNumbers.forEach((group, at) =>
    columnBlocks.set(blocks.subarray(group * size, (group + 1) * size), at * size)
  );
  return { ...tables, blocks, columnBlocks };
}

/** What an object says its length is; undefined where it has none, or an accessor that refuses the object. */
function readLength(mask: unknown): unknown {
  try {
    return typeof mask === "object" && mask !== null ? Reflect.get(mask, "length") : undefined;
  } catch {
    return undefined;
  }
}
