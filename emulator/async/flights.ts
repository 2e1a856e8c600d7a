/**
 * Copies that may still read global memory: what they read must not be overwritten before a thread has waited for them.
 * The shadow of global memory keeps that a copy read, and when; here is which copies of a warp those can be.
 */
import { accessOf } from "../access/state.ts";
import { siteOf } from "../check/site_log.ts";
import type { BlockState, Machine, WarpState } from "../machine.ts";
import { finishCopy, isOver, type PendingCopy } from "./pending.ts";

/** Bulk copies that are remembered of a warp. */
const MOST_BULK = 256;

interface Flights {
  /** Copies in groups that a lane has not waited for. */
  grouped: ((lane: number) => readonly PendingCopy[]) | undefined;
  /** Bulk copies, each with the tick at which it had been issued; oldest first. */
  readonly bulk: { readonly copy: PendingCopy; readonly lane: number; readonly last: number }[];
}

const flights = new WeakMap<WarpState, Flights>();

/** The flights of the warp that runs; makes the checks ask for them. */
function flightsOf(machine: Machine): Flights {
  let known = flights.get(machine.warp);
  if (known !== undefined) return known;
  flights.set(machine.warp, known = { grouped: undefined, bulk: [] });
  const { order, sites } = accessOf(machine);
  const own = known;
  order.warp.isCopying = (lane, tick, now) => {
    const { seenWarp } = order;
    const isUnderWay = (copy: PendingCopy | undefined): boolean =>
      copy !== undefined && seenWarp !== undefined && !isOver(copy, seenWarp, now);
    // A group that copies of other instructions belong to spans what was issued between them.
    const found = own.bulk.find(({ last }) => tick <= last);
    if (found?.lane === lane && siteOf(sites, tick, order.now)?.site === found.copy.site) {
      return isUnderWay(found.copy);
    }
    const group = own.grouped?.(lane).find(({ first, last }) => first < tick && tick <= last);
    return isUnderWay(group);
  };
  return known;
}

/** Makes known what finds the copies of the running warp's groups. */
export function watchGroups(
  machine: Machine,
  grouped: (lane: number) => readonly PendingCopy[],
): void {
  flightsOf(machine).grouped ??= grouped;
}

/** Notes that a lane of the running warp has issued a bulk copy, which the order's ticks so far belong to. */
export function noteBulk(machine: Machine, copy: PendingCopy, lane: number): void {
  const { bulk } = flightsOf(machine);
  bulk.push({ copy, lane, last: accessOf(machine).order.now });
  if (bulk.length > MOST_BULK) bulk.shift();
}

/** Copies out of the shared memory of a block that may not have been carried out. */
const outgoing = new WeakMap<BlockState, Set<PendingCopy>>();

/** Notes a copy out of the shared memory of a block. */
export function noteOutgoing(block: BlockState, copy: PendingCopy): void {
  const known = outgoing.get(block);
  if (known === undefined) outgoing.set(block, new Set([copy]));
  else known.add(copy);
}

/** Carries out the copies out of a block's shared memory that no thread waited for; to be called when it ends. */
export function finishOutgoing(block: BlockState): void {
  for (const copy of outgoing.get(block) ?? []) finishCopy(copy);
}
