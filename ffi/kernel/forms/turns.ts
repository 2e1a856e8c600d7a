/** Launches of code whose blocks do several programs in turn. */
import type { Persistence } from "../facts/facts.ts";
import type { Grid } from "../types.ts";

/** Blocks to launch, and the numbers that the code takes after its tensor maps. */
export interface Turns {
  readonly blocks: Grid;
  readonly numbers: readonly number[];
}

/** How many numbers the code takes. */
export const TURN_NUMBERS: Readonly<Record<Persistence, number>> = {
  x: 1,
  several: 2,
  xyz: 6,
  all: 3,
};

/**
 * As many programs as the device does at a time, one for each multiprocessor, or fewer that take as many turns each. Where
 * only programs along x take turns and the grid has other axes, each program has a block: the axes share the multiprocessors.
 * Where programs are known to take differently long, or blocks take them from a queue, all multiprocessors have a block.
 */
export function turnsOf(
  persistent: Persistence,
  [x, y, z]: Grid,
  atOnce: number,
  queue = 0,
): Turns {
  const most = Math.max(atOnce, 1);
  if (persistent === "several") {
    return { blocks: [Math.min(x, most), y, z], numbers: [x, queue] };
  }
  if (persistent === "x") {
    return { blocks: [y * z > 1 ? x : Math.ceil(x / Math.ceil(x / most)), y, z], numbers: [x] };
  }
  const programs = x * y * z;
  if (persistent === "all") {
    return { blocks: [Math.min(programs, most), 1, 1], numbers: [x, y, z] };
  }
  const count = blocksAlongAll(x, programs, most);
  const row = Math.floor(count / x);
  const steps = [count % x, row % y, Math.floor(row / y)];
  return { blocks: [count, 1, 1], numbers: [x, y, z, ...steps] };
}

/** Whether each block does several programs along x. */
export const takesSeveral = ([x, y, z]: Grid, atOnce: number): boolean =>
  y * z === 1 && x >= 2 * Math.max(atOnce, 1);

/** Whether some block does more than one program. */
export function takesTurns([x, y, z]: Grid, multiprocessors: number): boolean {
  const programs = x * y * z;
  return blocksAlongAll(x, programs, Math.max(multiprocessors, 1)) < programs;
}

/**
 * Programs may take longer the further along x they are, as under a causal mask. So a block does one of each index along x, or
 * nearly: the number of blocks has no factor in common with the extent. Where there are more indices than turns, that does not
 * even blocks out, and each program has one.
 */
function blocksAlongAll(x: number, programs: number, most: number): number {
  const turns = Math.ceil(programs / most);
  if (turns < x) return programs;
  let blocks = Math.ceil(programs / turns);
  while (blocks < most && haveCommonFactor(blocks, x)) blocks++;
  return blocks;
}

function haveCommonFactor(a: number, b: number): boolean {
  while (b > 0) [a, b] = [b, a % b];
  return a > 1;
}
