/**
 * One access of a warp: its lanes' locations found, checked, counted. What is done with them is up to the instruction.
 */
import { acquire, release } from "../check/order.ts";
import { countGlobal, countShared } from "../count/counters.ts";
import { observedOf } from "../debug/observer.ts";
import { type CountingSite, countingSite } from "../count/log.ts";
import { LANES } from "../register_file.ts";
import type { AddressRef, HandlerContext } from "../machine.ts";
import { announceAccess } from "./announce.ts";
import { checkAccess } from "./check.ts";
import { type AccessKind, type CheckedAccess, checkedAccess } from "./checked_access.ts";
import { KIND, resolver, type Space } from "./reach.ts";
import type { Ordering } from "./spelling.ts";
import { type Access, accessOf } from "./state.ts";

/** What an instruction does, where, and how that is ordered. */
export interface LaneAccess extends AccessKind {
  readonly ref: AddressRef;
  readonly space: Space;
  readonly ordering: Ordering;
  /** Whether it counts as an atomic operation. */
  readonly atomic: boolean;
}

/** An access that {@linkcode prepareAccess} has made ready. */
export interface PreparedAccess {
  readonly access: Access;
  readonly check: CheckedAccess;
  /**
   * Finds the locations of the lanes, in `access.reach.locations`. Throws a Fault where they must not be accessed; the
   * result is the lanes that may go on, all unless such faults are only warned of.
   */
  readonly before: (w: number, mask: number) => number;
}

/** Makes an access ready. */
export function prepareAccess(context: HandlerContext, wanted: LaneAccess): PreparedAccess {
  const { machine, site } = context;
  const access = accessOf(machine);
  const { order, reach } = access;
  const { ordering, bytes, atomic } = wanted;
  const check = checkedAccess(access, wanted, site);
  const counting = countingSite(site);
  const resolve = resolver(reach, wanted.ref, wanted.space, site);
  const before = (w: number, mask: number): number => {
    resolve(w, mask);
    let lanes = mask;
    if (machine.checks) {
      if (ordering.releases) release(order, machine, ordering.scope);
      lanes = checkAccess(access, check, mask);
      if (ordering.acquires) acquire(order, machine, ordering.scope);
    }
    if (machine.profile) count(access, counting, lanes, bytes, atomic);
    return lanes;
  };
  // The program of an observed launch is compiled anew, so that others need not ask.
  if (observedOf(machine) === undefined) return { access, check, before };
  const verb = atomic ? "atomic" : wanted.writes ? "store" : "load";
  const observed = (w: number, mask: number): number => {
    const lanes = before(w, mask);
    announceAccess(access, { verb, writes: wanted.writes, bytes }, lanes);
    return lanes;
  };
  return { access, check, before: observed };
}

function count(
  { reach, counters }: Access,
  counting: CountingSite,
  mask: number,
  bytes: number,
  atomic: boolean,
): void {
  const { kind, kinds, locations } = reach;
  let [global, shared] = [kind === KIND.global ? mask : 0, kind === KIND.shared ? mask : 0];
  if (kind === KIND.mixed) {
    for (let lane = 0; lane < LANES; lane++) {
      const bit = mask & (1 << lane);
      if (kinds[lane] === KIND.global) global |= bit;
      else if (kinds[lane] === KIND.shared) shared |= bit;
    }
  }
  if ((global | shared) === 0) return;
  const sums = counters.of(counting);
  if (global !== 0) countGlobal(sums, counters.scratch, locations, global, bytes);
  if (shared !== 0) countShared(sums, counters.scratch, locations, shared, bytes);
  if (atomic) sums.atomics++;
}
