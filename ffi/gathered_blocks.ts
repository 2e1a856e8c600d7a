/**
 * Look-up tables for kernels that make the blocks of a sparse matrix in groups whose rows and columns lie anywhere.
 * What a group lacks is computed in vain, so groups are chosen one after the other such that each has as many blocks
 * as can be: of the block row with the most blocks left, the rows that share most of them, and the columns that most
 * of these rows have. Where several are as good, those come first that have fewer blocks left, so that few remain of
 * which no full group can be made.
 */
import { expectInteger } from "./arguments/numbers.ts";
import { blockTables } from "./block_tables.ts";

/** In the list of blocks' numbers: there is no block, or another group has it. */
const NONE = -1;
/** The most blocks along an axis of a group: what fits a tile of a product. */
const MOST_SIDE = 1024;
const WORD = 32;

/** Groups of `high` x `wide` blocks: which block rows and columns each has. */
export interface GatheredBlockTables {
  /** How many groups there are. */
  readonly count: number;
  /** The block rows of each group, `high` for each; one that it does not need is another one again. */
  readonly rows: Int32Array<ArrayBuffer>;
  /** The block columns of each group, `wide` for each. */
  readonly columns: Int32Array<ArrayBuffer>;
  /** Numbers of the blocks of each group, row-major, as in {@linkcode blockTables}; -1 where there is none. */
  readonly blocks: Int32Array<ArrayBuffer>;
}

/**
 * The tables for kernels such as `sdd_packed`, which make `high` x `wide` blocks at a time: each block that the mask
 * names is in one group. `mask` as for {@linkcode blockTables}.
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
): GatheredBlockTables {
  expectInteger("high of gatheredBlockTables", high, 1, MOST_SIDE);
  expectInteger("wide of gatheredBlockTables", wide, 1, MOST_SIDE);
  const tables = blockTables(mask, blockRows, blockColumns);
  const numbers = new Map<number, number>();
  tables.rows.forEach((row, block) =>
    numbers.set(row * blockColumns + (tables.columns[block] ?? 0), block)
  );
  const left = { rows: countsOf(tables.rowOffsets), columns: countsOf(tables.columnOffsets) };
  const masks = rowMasks(tables.rows, tables.columns, blockRows, blockColumns);
  const [rows, columns, blocks]: [number[], number[], number[]] = [[], [], []];
  while (numbers.size > 0) {
    const chosen = chooseRows(masks, left.rows, high, wide);
    const across = chooseColumns(chosen.levels, left.columns, wide);
    for (let i = 0; i < high; i++) {
      const row = chosen.rows[i] ?? chosen.rows[0] ?? 0;
      rows.push(row);
      for (let j = 0; j < wide; j++) {
        const column = across[j] ?? across[0] ?? 0;
        if (i === 0) columns.push(column);
        const at = row * blockColumns + column;
        blocks.push(numbers.get(at) ?? NONE);
        if (!numbers.delete(at)) continue;
        left.rows[row] = (left.rows[row] ?? 0) - 1;
        left.columns[column] = (left.columns[column] ?? 0) - 1;
        const words = masks[row];
        const word = Math.floor(column / WORD);
        if (words !== undefined) words[word] = (words[word] ?? 0) & ~(1 << column % WORD);
      }
    }
  }
  return {
    count: rows.length / high,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
    blocks: Int32Array.from(blocks),
  };
}

/** How many blocks each row or column has. */
const countsOf = (offsets: Int32Array): Int32Array =>
  offsets.slice(1).map((end, at) => end - (offsets[at] ?? end));

/** The columns of each row's blocks, a bit for each. */
function rowMasks(
  rows: Int32Array,
  columns: Int32Array,
  blockRows: number,
  blockColumns: number,
): readonly Uint32Array[] {
  const masks = Array.from(
    { length: blockRows },
    () => new Uint32Array(Math.ceil(blockColumns / WORD)),
  );
  rows.forEach((row, block) => {
    const column = columns[block] ?? 0;
    const words = masks[row];
    const word = Math.floor(column / WORD);
    if (words !== undefined) words[word] = (words[word] ?? 0) | 1 << column % WORD;
  });
  return masks;
}

/** Rows of a group, and the columns that at least 1, 2, … of them have. */
interface Chosen {
  readonly rows: readonly number[];
  readonly levels: readonly Uint32Array[];
}

/** The row with the most blocks left, and those that add the most blocks in `wide` columns. */
function chooseRows(
  masks: readonly Uint32Array[],
  left: Int32Array,
  high: number,
  wide: number,
): Chosen {
  let seed = 0;
  left.forEach((count, row) => {
    if (count > (left[seed] ?? 0)) seed = row;
  });
  const others = candidates(left, seed);
  const rows = [seed];
  const levels: Uint32Array[] = [Uint32Array.from(masks[seed] ?? [])];
  while (rows.length < high) {
    const before = levels.map((level) => level.reduce((sum, word) => sum + bitsIn(word), 0));
    let [best, most] = [-1, 0];
    for (const row of others) {
      const mask = masks[row];
      if (mask === undefined || rows.includes(row)) continue;
      const value = gain(levels, before, mask, wide);
      if (value > most) [best, most] = [row, value];
    }
    const mask = masks[best];
    if (mask === undefined) break;
    rows.push(best);
    addRow(levels, mask);
  }
  return { rows, levels };
}

/** Rows that are compared for a place in a group: with more, groups are little better, and take longer to find. */
const CANDIDATES = 256;

/** Other rows with blocks left, or as many of them as are compared; those with fewer first. */
function candidates(left: Int32Array, seed: number): readonly number[] {
  const rows: number[] = [];
  left.forEach((count, row) => {
    if (count > 0 && row !== seed) rows.push(row);
  });
  const step = Math.ceil(rows.length / CANDIDATES);
  return rows.sort((a, b) => (left[a] ?? 0) - (left[b] ?? 0)).filter((_, i) => i % step === 0);
}

/** What a further row adds to a group: first blocks in its columns, then those that later groups of these rows can have. */
function gain(
  levels: readonly Uint32Array[],
  before: readonly number[],
  mask: Uint32Array,
  wide: number,
): number {
  let [inGroup, shared] = [0, 0];
  for (let level = 0; level <= levels.length; level++) {
    const count = before[level] ?? 0;
    const isLast = level === levels.length;
    // A level that fills the group's columns gains nothing.
    if (count >= wide && !isLast) continue;
    const [above, here] = [levels[level - 1], levels[level]];
    let added = 0;
    for (let word = 0; word < mask.length; word++) {
      added += bitsIn((mask[word] ?? 0) & (above?.[word] ?? ~0) & ~(here?.[word] ?? 0));
    }
    inGroup += Math.min(wide, count + added) - count;
    if (isLast) shared = added;
  }
  return inGroup * SHARED + shared;
}

/** More than columns of a matrix that matter for the choice between rows that add as many blocks. */
const SHARED = 2 ** 16;

/** The levels with one more row. */
function addRow(levels: Uint32Array[], mask: Uint32Array): void {
  levels.push(new Uint32Array(mask.length));
  for (let level = levels.length - 1; level >= 0; level--) {
    const [above, here] = [levels[level - 1], levels[level]];
    here?.forEach((there, word) => {
      here[word] = there | ((mask[word] ?? 0) & (above?.[word] ?? ~0));
    });
  }
}

/** The columns that most of the rows have. */
function chooseColumns(
  levels: readonly Uint32Array[],
  left: Int32Array,
  wide: number,
): readonly number[] {
  const columns = new Set<number>();
  for (const level of [...levels].reverse()) {
    const here: number[] = [];
    level.forEach((bits, word) => {
      for (let rest = bits; rest !== 0; rest &= rest - 1) {
        here.push(word * WORD + 31 - Math.clz32(rest & -rest));
      }
    });
    here.sort((a, b) => (left[a] ?? 0) - (left[b] ?? 0));
    for (const column of here) if (columns.size < wide) columns.add(column);
  }
  return [...columns];
}

/** How many bits of a word are set. */
function bitsIn(word: number): number {
  const pairs = word - (word >>> 1 & 0x55555555);
  const quads = (pairs & 0x33333333) + (pairs >>> 2 & 0x33333333);
  return Math.imul(quads + (quads >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
