/**
 * What the emulator remembers of the four warps that run `wgmma` together. Products are computed when a warp issues
 * them, each warp its 16 rows, so nothing is ever in flight; but on hardware a product starts when all four warps
 * have issued it, and programs rely on that: one warp waits for its groups and then tells others that operands in
 * shared memory may be overwritten. So a warp must not pass `wgmma.wait_group` before the other three have issued
 * what it waits for.
 * Source: PTX ISA 9.0, 9.7.15 "Asynchronous warpgroup level matrix instructions".
 */
import type { WarpState } from "../machine.ts";

const WARPS = 4;

interface GroupProgress {
  /** Whether the warp has run wgmma.fence. */
  fenced: boolean;
  /** Groups that it has committed. */
  committed: number;
}

const progress = new WeakMap<WarpState, GroupProgress>();

export function progressOf(warp: WarpState): GroupProgress {
  const known = progress.get(warp);
  if (known !== undefined) return known;
  const made = { fenced: false, committed: 0 };
  progress.set(warp, made);
  return made;
}

/** Number of a warp in its warp group. */
export function rankInGroup(warp: WarpState): number {
  return warp.index % WARPS;
}

/**
 * Whether a warp may pass `wgmma.wait_group` with at most `pending` groups open: the other warps of its group have
 * issued all groups that must be over.
 */
export function mayPassWait(warp: WarpState, pending: number): boolean {
  const first = warp.index - rankInGroup(warp);
  const needed = progressOf(warp).committed - pending;
  return warp.block.warps.slice(first, first + WARPS)
    .every((other) => progressOf(other).committed >= needed);
}
