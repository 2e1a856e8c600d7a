/** The thread's part of a layout: the bases of lanes and warps together, by the bits of the thread's index in its block. */
import type { LinearLayout } from "./linear.ts";

/** Bases of the thread index: lanes below warps. */
export function threadBases(layout: LinearLayout): readonly number[] {
  return [...layout.lane, ...layout.warp];
}

/** Mask of thread index bits that only make copies. */
export function copyBits(layout: LinearLayout): number {
  return threadBases(layout).reduce(
    (mask, basis, bit) => basis === 0 ? mask | (1 << bit) : mask,
    0,
  );
}
