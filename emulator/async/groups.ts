/**
 * Groups of copies. A thread collects what it issues in an open group, ends the group by a commit, and later waits
 * until only the last few groups may still be under way. There are two kinds, which do not mix: cp.async and bulk.
 * Groups matter only while accesses are checked: otherwise everything is copied at once.
 */
import { LANES } from "../register_file.ts";
import { accessOf } from "../access/state.ts";
import { announceSync } from "../debug/observer.ts";
import type { HandlerContext, Machine, WarpState } from "../machine.ts";
import {
  type Effect,
  finishCopy,
  type PendingCopy,
  pendingCopy,
  resolvePending,
  type Wait,
} from "./pending.ts";

/** The groups of one thread. */
interface ThreadGroups {
  open: PendingCopy[];
  /** Ended by commits, oldest first. */
  ended: (readonly PendingCopy[])[];
  /** Tick at which the open group began. */
  since: number;
}

/** The groups of one kind of a warp, by lane. */
export type WarpGroups = readonly ThreadGroups[];

/** Where the groups of one kind are kept. */
export type GroupStore = WeakMap<WarpState, WarpGroups>;

export function groupsOf(store: GroupStore, warp: WarpState): WarpGroups {
  let groups = store.get(warp);
  if (groups === undefined) {
    groups = Array.from({ length: LANES }, (): ThreadGroups => ({ open: [], ended: [], since: 0 }));
    store.set(warp, groups);
  }
  return groups;
}

/** The copy of a lane's open group that represents all of one instruction. */
export function openCopy(
  store: GroupStore,
  { machine, site }: HandlerContext,
  lane: number,
  effect: Effect,
  wait: Wait,
): PendingCopy {
  const thread = groupsOf(store, machine.warp)[lane];
  const { order } = accessOf(machine);
  const known = thread?.open.find((copy) => copy.site === site && copy.effect === effect);
  if (known !== undefined) {
    known.last = order.now;
    return known;
  }
  const copy = pendingCopy(effect, site, order, wait, thread?.since);
  thread?.open.push(copy);
  announceSync(machine, { kind: "copy begins", copy, lanes: 1 << lane });
  return copy;
}

export function commitGroup(groups: WarpGroups, lane: number, now: number): void {
  const thread = groups[lane];
  if (thread === undefined) return;
  thread.since = now;
  thread.ended.push(thread.open);
  thread.open = [];
}

/** Waits until at most `most` of the ended groups are under way. */
export function waitGroups(
  machine: Machine,
  groups: WarpGroups,
  lane: number,
  most: number,
): void {
  const thread = groups[lane];
  if (thread === undefined || thread.ended.length <= most) return;
  const over = thread.ended.splice(0, thread.ended.length - most);
  for (const copy of over.flat()) {
    finishCopy(copy);
    resolvePending(copy, machine, 1 << lane);
  }
}

/** All copies that a lane has not waited for, whether their group has ended or not. */
export function unfinished(groups: WarpGroups, lane: number): readonly PendingCopy[] {
  const thread = groups[lane];
  return thread === undefined ? [] : [...thread.ended.flat(), ...thread.open];
}
