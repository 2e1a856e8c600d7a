/**
 * The thread's part of a layout: the bases of lanes, warps and blocks together, by the bits of the thread's index in its
 * program.
 */
import { freeMask, type LinearLayout } from "./linear.ts";

/** Bases of the thread index: lanes below warps below blocks. */
export function threadBases({ lane, warp, block }: LinearLayout): readonly number[] {
  return [...lane, ...warp, ...block];
}

/** Bases of the index of a thread in its block. */
export function blockThreadBases({ lane, warp }: LinearLayout): readonly number[] {
  return [...lane, ...warp];
}

/** Mask of thread index bits that only make copies. */
export function copyBits(layout: LinearLayout): number {
  return freeMask(threadBases(layout));
}

/** The same of the index in a block: copies that the threads of one block hold. */
export function blockCopyBits(layout: LinearLayout): number {
  return freeMask(blockThreadBases(layout));
}
