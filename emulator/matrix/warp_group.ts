/**
 * What the emulator remembers of the four warps that run `wgmma` together. A product takes effect late: a warp computes
 * its 16 rows when it waits for the group of products, not when it issues the product. So a kernel that relies on a
 * product before it has waited gets wrong results here, as it may on hardware.
 *
 * On hardware a product starts when all four warps have issued it, and programs rely on that: one warp waits for its
 * groups and then lets others overwrite operands in shared memory. So a warp must not pass `wgmma.wait_group` before
 * the other three have issued what it waits for, and the reads of a group are over for all four warps at once. Source:
 * PTX ISA 9.0, 9.7.15 "Asynchronous warpgroup level matrix instructions".
 */
import { type PendingCopy, pendingCopy, resolvePending } from "../async/pending.ts";
import { accessOf } from "../access/state.ts";
import { announceSync } from "../debug/observer.ts";
import type { Site } from "../fault.ts";
import type { Machine, WarpState } from "../machine.ts";

const WARPS = 4;

/** A product that has been issued and not computed. */
interface IssuedProduct {
  /** Number of its group. */
  readonly group: number;
  readonly compute: () => void;
}

interface GroupProgress {
  /** Whether the warp has run wgmma.fence. */
  fenced: boolean;
  /** Groups that it has committed, which is the number of the group that is open. */
  committed: number;
  /** Oldest first. */
  readonly issued: IssuedProduct[];
}

const progress = new WeakMap<WarpState, GroupProgress>();

export function progressOf(warp: WarpState): GroupProgress {
  const known = progress.get(warp);
  if (known !== undefined) return known;
  const made = { fenced: false, committed: 0, issued: [] };
  progress.set(warp, made);
  return made;
}

/** Number of a warp in its warp group. */
export function rankInGroup(warp: WarpState): number {
  return warp.index % WARPS;
}

/** The first warp of a warp's group, which represents the group; the warp itself where tests run one alone. */
function leaderOf(warp: WarpState): WarpState {
  return warp.block.warps[warp.index - rankInGroup(warp)] ?? warp;
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

/** Adds a product to the open group of the warp that runs. */
export function issueProduct({ warp }: Machine, compute: () => void): void {
  const { issued, committed } = progressOf(warp);
  issued.push({ group: committed, compute });
}

/** Computes the products of all groups of the running warp but the last `pending` ones. */
export function finishProducts({ warp }: Machine, pending: number): void {
  const { issued, committed } = progressOf(warp);
  const last = committed - pending;
  const count = issued.findIndex(({ group }) => group >= last);
  for (const { compute } of issued.splice(0, count < 0 ? issued.length : count)) compute();
}

/** Reads of shared memory by the products of a warp group, by the number of their group of products. */
const reads = new WeakMap<WarpState, Map<number, PendingCopy>>();

/** The reads of the open group of products. */
export function openReads(machine: Machine, site: Site): PendingCopy {
  const leader = leaderOf(machine.warp);
  const { committed } = progressOf(machine.warp);
  const known = reads.get(leader) ?? new Map<number, PendingCopy>();
  reads.set(leader, known);
  const { order } = accessOf(machine);
  const open = known.get(committed);
  const copy = open ?? pendingCopy("reads", site, order, "wgmma.wait_group");
  copy.last = order.now;
  if (open === undefined) {
    known.set(committed, copy);
    announceSync(machine, { kind: "copy begins", copy, lanes: -1 });
  }
  return copy;
}

/** The running warp has waited: reads of all groups but the last `pending` ones are over. */
export function resolveReads(machine: Machine, pending: number): void {
  const leader = leaderOf(machine.warp);
  const known = reads.get(leader);
  if (known === undefined) return;
  const last = progressOf(machine.warp).committed - pending;
  const first = machine.warp.index - rankInGroup(machine.warp);
  const warps = machine.block.warps.slice(first, first + WARPS);
  for (const [group, copy] of known) {
    if (group >= last) continue;
    resolvePending(copy, machine, -1);
    if (warps.every((warp) => copy.seen.some((seen) => seen.warp === warp))) known.delete(group);
  }
}
