/**
 * Look-up tables for kernels that make the blocks of a sparse matrix in groups whose rows and columns lie anywhere.
 * What a group lacks is computed in vain, so groups are chosen one after the other such that each has as many blocks
 * as can be (block_groups.ts).
 */
import { expectInteger } from "./arguments/numbers.ts";
import { blockTables } from "./block_tables.ts";
import {
  addBlock,
  type BlockGroup,
  blocksIn,
  type BlocksLeft,
  blocksLeft,
  fullestGroup,
  type GroupSearch,
  groupSearch,
  removeBlock,
} from "./block_groups.ts";

/** There is no block, or another group has it; or no column. */
const NONE = -1;
/** The most blocks along an axis of a group: what fits a tile of a product. */
const MOST_SIDE = 1024;
/** Parts of a group's columns. */
const MOST_PARTS = 2;

/** Groups of blocks: which runs of block rows and columns each has. */
export interface GatheredBlockTables {
  /** How many groups there are. */
  readonly count: number;
  /** The runs of block rows of each group, `high` for each; one that it does not need is another one again. */
  readonly rows: Int32Array<ArrayBuffer>;
  /** The runs of block columns of each group, `wide` for each; those of a part that it does without are -1. */
  readonly columns: Int32Array<ArrayBuffer>;
  /** Numbers of the blocks of each group, row-major, as in {@linkcode blockTables}; -1 where there is none. */
  readonly blocks: Int32Array<ArrayBuffer>;
}

/**
 * The tables for kernels such as `sdd_packed`, which make `high` x `wide` runs of blocks at a time: each block that the
 * mask names is in one group. A run is `run` block rows or columns that are neighbours; the first one has number 0. With 2
 * `parts`, a group whose right half would have few blocks has the left half of its columns alone. `mask` as for
 * {@linkcode blockTables}. Throws `ArgumentError` for a mask of another length and for sizes of groups and runs outside 1
 * to 1024.
 *
 * ```ts
 * const { count, rows, columns, blocks } = gatheredBlockTables([1, 0, 1, 0, 1, 0, 1, 0, 1], 3, 3, 2, 2);
 * // count is 2, rows is [0, 2, 1, 1], columns is [0, 2, 1, 1], blocks is [0, 1, 3, 4, 2, -1, -1, -1]
 * ```
 */
export function gatheredBlockTables(
  mask: ArrayLike<number | boolean>,
  blockRows: number,
  blockColumns: number,
  high: number,
  wide: number,
  run = 1,
  parts = 1,
): GatheredBlockTables {
  expectInteger("high of gatheredBlockTables", high, 1, MOST_SIDE);
  expectInteger("wide of gatheredBlockTables", wide, 1, MOST_SIDE);
  expectInteger("run of gatheredBlockTables", run, 1, MOST_SIDE);
  expectInteger("parts of gatheredBlockTables", parts, 1, MOST_PARTS);
  const tables = blockTables(mask, blockRows, blockColumns);
  const numbers = new Map<number, number>();
  const left = blocksLeft(Math.ceil(blockRows / run), Math.ceil(blockColumns / run));
  tables.rows.forEach((row, block) => {
    const column = tables.columns[block] ?? 0;
    numbers.set(row * blockColumns + column, block);
    addBlock(left, Math.floor(row / run), Math.floor(column / run));
  });
  const wholes = groupSearch(left, high, wide);
  const halves = parts === 1 ? undefined : groupSearch(left, high, Math.ceil(wide / parts));
  const [rows, columns, blocks]: [number[], number[], number[]] = [[], [], []];
  while (left.count > 0) {
    const group = groupOrHalf(left, wholes, halves);
    const down = Array.from({ length: high }, (_, i) => group.rows[i] ?? group.rows[0] ?? NONE);
    const across = Array.from(
      { length: wide },
      (_, j) => group.columns[j] ?? (j < group.wide ? group.columns[0] : undefined) ?? NONE,
    );
    rows.push(...down);
    columns.push(...across);
    for (const row of elementsOf(down, run)) {
      for (const column of elementsOf(across, run)) {
        const at = row * blockColumns + column;
        const isInside = column >= 0 && column < blockColumns;
        blocks.push((isInside ? numbers.get(at) : undefined) ?? NONE);
        if (isInside) numbers.delete(at);
      }
    }
    for (const row of group.rows) {
      for (const column of group.columns) removeBlock(left, row, column);
    }
  }
  return {
    count: rows.length / high,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
    blocks: Int32Array.from(blocks),
  };
}

/** The rows or columns of runs, one after the other; those of no run are none. */
const elementsOf = (runs: readonly number[], run: number): number[] =>
  runs.flatMap((first) =>
    Array.from({ length: run }, (_, i) => first === NONE ? NONE : first * run + i)
  );

/** The part of the right half's places that must have blocks: with fewer, it takes longer than it is worth. */
const LEAST_FILLED = 0.5;

/** The next group and its width. */
function groupOrHalf(
  left: BlocksLeft,
  wholes: GroupSearch,
  halves: GroupSearch | undefined,
): BlockGroup & { readonly wide: number } {
  const whole = { ...fullestGroup(left, wholes), wide: wholes.wide };
  if (halves === undefined) return whole;
  const { high, wide } = halves;
  const right = blocksIn(left, whole.rows, whole.columns.slice(wide));
  if (right > LEAST_FILLED * high * (wholes.wide - wide)) return whole;
  return { ...fullestGroup(left, halves), wide };
}
