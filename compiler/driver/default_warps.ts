/**
 * The warps of a block where no option says how many: four, and more for large tiles. Of a block of 16 warps or more, a thread
 * has at most 64 registers then, so that a multiprocessor has two blocks of 16: one loads while the other reduces.
 *
 * What was tuned on GPUs decides (kernels/softmax.tc and its kin, transpose.tc, matmul_tiles.h). A thread has 16 elements of
 * tiles of 4096 and 32 of larger ones, so that its loads are under way at once and two or three tiles fit its registers; four
 * warps would have 128 elements of a row of 16,384 for each thread. The sums of a product take at most 128 registers.
 */
import type { Func } from "../ir/func.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { product } from "../linear/linear.ts";

const LANES = 32;
/** For all kernels. */
const LEAST = 4;
const MOST = { dots: 8, others: 32 } as const;
/** Elements of a thread: of tiles up to `LARGE_TILE`, of larger ones, and of sums of products. */
const PER_THREAD = { usual: 16, large: 32, sums: 128 } as const;
const LARGE_TILE = 4096;
/** Blocks of so many warps have `registers` for a thread, as softmax and norms of rows from 16,384 elements were tuned. */
const WIDE = { warps: 16, registers: 64 } as const;

/** Warps for a function after the passes that all targets share: a power of two, as the extents of tiles are. */
export function defaultWarps(func: Func, numCtas: number): number {
  let [largest, sums] = [1, 0];
  walkOps(func.body, ({ name, results }) => {
    for (const { type: { element, shape } } of results) {
      if (isPointer(element) || element === "bool") continue;
      largest = Math.max(largest, product(shape));
      if (name === "dot") sums = Math.max(sums, product(shape));
    }
  });
  if (sums > 0) return between(LEAST, sums / LANES / PER_THREAD.sums, MOST.dots);
  const elements = largest / numCtas;
  const each = elements > LARGE_TILE ? PER_THREAD.large : PER_THREAD.usual;
  return between(LEAST, elements / LANES / each, MOST.others);
}

/** The most registers of a thread, where the warps are chosen and the registers are not stated. */
export function defaultRegisters(numWarps: number): number | undefined {
  return numWarps < WIDE.warps ? undefined : WIDE.registers;
}

const between = (least: number, value: number, most: number): number =>
  Math.max(least, Math.min(value, most));
