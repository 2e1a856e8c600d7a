/**
 * Which rows and columns of blocks a group gets (gathered_blocks.ts): a block row, the rows that share most of its blocks,
 * and the columns that most of these rows have. The fullest groups come first. Where several are as good, those come
 * first whose rows and columns have fewer blocks left, so that few remain of which no full group can be made.
 */

/** The blocks that no group has yet. */
export interface BlocksLeft {
  count: number;
  /** How many there are in each row and column. */
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  /** The columns of each row's blocks, a bit for each. */
  readonly masks: readonly Uint32Array[];
}

/** Rows and columns of a group, at most as many as it has room for, and how many blocks are there. */
export interface BlockGroup {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly count: number;
}

const WORD = 32;

/** None yet. */
export const blocksLeft = (rows: number, columns: number): BlocksLeft => ({
  count: 0,
  rows: new Int32Array(rows),
  columns: new Int32Array(columns),
  masks: Array.from({ length: rows }, () => new Uint32Array(Math.ceil(columns / WORD))),
});

export function addBlock(left: BlocksLeft, row: number, column: number): void {
  if (!hasBlock(left, row, column)) changeBlock(left, row, column, 1);
}

export function removeBlock(left: BlocksLeft, row: number, column: number): void {
  if (hasBlock(left, row, column)) changeBlock(left, row, column, -1);
}

function changeBlock(left: BlocksLeft, row: number, column: number, change: 1 | -1): void {
  left.count += change;
  left.rows[row] = (left.rows[row] ?? 0) + change;
  left.columns[column] = (left.columns[column] ?? 0) + change;
  const words = left.masks[row];
  const word = Math.floor(column / WORD);
  if (words !== undefined) words[word] = (words[word] ?? 0) ^ (1 << column % WORD);
}

const hasBlock = ({ masks }: BlocksLeft, row: number, column: number): boolean =>
  ((masks[row]?.[Math.floor(column / WORD)] ?? 0) >>> column % WORD & 1) === 1;

/** What is known about the groups of a size. */
export interface GroupSearch {
  readonly high: number;
  readonly wide: number;
  /** By row, the most blocks that a group of it can have: as many as its last one, since blocks only get fewer. */
  readonly most: Int32Array;
}

/** Nothing yet, for groups of `high` x `wide` blocks. */
export const groupSearch = (left: BlocksLeft, high: number, wide: number): GroupSearch => ({
  high,
  wide,
  most: new Int32Array(left.rows.length).fill(high * wide),
});

/** The fullest group; of those, one of the row with the fewest blocks left. */
export function fullestGroup(left: BlocksLeft, { high, wide, most }: GroupSearch): BlockGroup {
  for (;;) {
    let seed = 0;
    most.forEach((count, row) => {
      const more = count - (most[seed] ?? 0);
      if (more > 0 || (more === 0 && (left.rows[row] ?? 0) < (left.rows[seed] ?? 0))) seed = row;
    });
    const group = groupOfRow(left, seed, high, wide);
    if (group.count >= (most[seed] ?? 0)) return group;
    most[seed] = group.count;
  }
}

/** The group of a row. */
function groupOfRow(left: BlocksLeft, seed: number, high: number, wide: number): BlockGroup {
  const { rows, levels } = chooseRows(left, seed, high, wide);
  const columns = chooseColumns(levels, left.columns, wide);
  return { rows, columns, count: blocksIn(left, rows, columns) };
}

/** How many of the blocks left are in some rows and columns. */
export function blocksIn(
  left: BlocksLeft,
  rows: readonly number[],
  columns: readonly number[],
): number {
  let count = 0;
  for (const row of rows) {
    for (const column of columns) if (hasBlock(left, row, column)) count++;
  }
  return count;
}

/** Rows of a group, and the columns that at least 1, 2, … of them have. */
interface Chosen {
  readonly rows: readonly number[];
  readonly levels: readonly Uint32Array[];
}

/** A row, and those that add the most blocks in `wide` columns. */
function chooseRows(
  { masks, rows: left }: BlocksLeft,
  seed: number,
  high: number,
  wide: number,
): Chosen {
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
