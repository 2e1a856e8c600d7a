/**
 * Checks of asynchronous accesses. A copy counts as an access of the thread that issued it, at the time it did: of the
 * right bounds, of memory that was written, and ordered with the accesses of others. What threads must not do until
 * it is over is a matter of `pending.ts`.
 */
import { announceCopy } from "../access/announce.ts";
import { accessOf } from "../access/state.ts";
import { type Conflict, noteRead, noteStrongWrite, noteWrite } from "../check/cells.ts";
import { conflictClause, kindOf, type Present } from "../check/conflict.ts";
import { checkEarly } from "../check/early.ts";
import { describeGlobal, describeShared } from "../check/describe.ts";
import { PAGE_BYTES } from "../check/global_shadow.ts";
import { type acquire, attend, type release, WHO, whoIs } from "../check/order.ts";
import { report } from "../check/report.ts";
import { logSite, siteNumber } from "../check/site_log.ts";
import { observedOf } from "../debug/observer.ts";
import { firstUnwritten, setWritten } from "../check/written.ts";
import { Fault, type FaultKind } from "../fault.ts";
import type { HandlerContext, Machine } from "../machine.ts";
import { type Effect, pendingProblem } from "./pending.ts";
import type { SharedRange } from "./reach.ts";

/** What one instruction accesses, in pieces. */
export interface Watch {
  global(location: number, bytes: number, effect: Effect, lane: number): void;
  shared(range: SharedRange, bytes: number, effect: Effect, lane: number): void;
}

const VERBS: Readonly<Record<Effect, string>> = {
  reads: "copy from",
  writes: "copy to",
  combines: "reduction in",
};

/** Checks pieces, and reports each to the observer. */
export function watchFor(context: HandlerContext): Watch {
  const { machine } = context;
  const watch = checksFor(context);
  if (observedOf(machine) === undefined) return watch;
  return {
    global(location, bytes, effect, lane): void {
      watch.global(location, bytes, effect, lane);
      const writes = effect !== "reads";
      announceCopy(machine, { space: "global", place: location, bytes, writes, lane });
    },
    shared(range, bytes, effect, lane): void {
      watch.shared(range, bytes, effect, lane);
      const writes = effect !== "reads";
      announceCopy(machine, { space: "shared", place: range.offset, bytes, writes, lane });
    },
  };
}

/** The checks alone; they do nothing in runs that are not checked. */
export function checksFor({ machine, site }: HandlerContext): Watch {
  const access = accessOf(machine);
  const { order, sites } = access;
  const number = siteNumber(sites, site);
  const twice = { lanes: 0 };
  const fail = (
    kind: FaultKind,
    effect: Effect,
    bytes: number,
    where: string,
    lane: number,
  ): void => {
    const fault = new Fault(kind, `${VERBS[effect]} ${bytes} bytes at ${where}`, lane, site);
    // What is out of bounds cannot be left out of a copy.
    if (kind === "out of bounds") throw fault;
    report(machine, fault);
  };
  const failRace = (
    conflict: Conflict,
    effect: Effect,
    bytes: number,
    where: string,
    lane: number,
  ): void => {
    const present: Present = { site, writes: effect !== "reads", lane, isUpdate: () => false };
    const clause = conflictClause(access, conflict, present);
    fail(kindOf(access, conflict, present), effect, bytes, `${where}${clause}`, lane);
  };
  const note = (
    cells: Uint32Array,
    first: number,
    count: number,
    effect: Effect,
    lane: number,
    floor: number,
  ): Conflict | undefined => {
    const who = whoIs(order, machine) | lane | (effect === "combines" ? WHO.strong : 0);
    return effect === "reads"
      ? noteRead(order, cells, first, count, who, floor)
      : effect === "writes"
      ? noteWrite(order, cells, first, count, who, floor, twice)
      : noteStrongWrite(order, cells, first, count, who, floor, twice);
  };
  const tick = (): void => {
    attend(order, machine);
    logSite(sites, order.now, number);
  };
  return {
    global(location, bytes, effect, lane): void {
      if (!machine.checks) return;
      const { allocations, levels } = access.launch;
      const found = allocations.liveAt(location);
      const where = (): string => describeGlobal(access.launch, location);
      if (found === undefined && levels.bounds !== "off") {
        fail("out of bounds", effect, bytes, where(), lane);
      }
      const over = location + bytes - (found === undefined ? 0 : found.location + found.bytes);
      if (over > 0 && levels.bounds !== "off") {
        fail("out of bounds", effect, bytes, `${where()}: its last ${over} are past the end`, lane);
      }
      checkEarly(access, 1 << lane, site, () => `${VERBS[effect]} ${bytes} bytes at ${where()}`);
      const { shift } = access.global;
      if (shift < 0) return;
      tick();
      const step = 1 << shift;
      // Granules that are only partly copied are left out: their other bytes may be someone else's.
      const end = location + bytes;
      for (let at = Math.ceil(location / step) * step; at + step <= end;) {
        const next = Math.min(at - (at % PAGE_BYTES) + PAGE_BYTES, end - (end % step));
        const cell = access.global.cell(at);
        const count = (next - at) >> shift;
        const page = access.global.page(at);
        const copies = effect === "reads" && levels.copies !== "off" ? WHO.copy : 0;
        const conflict = note(page, cell, count, effect, lane | copies, order.start);
        if (conflict !== undefined) {
          const found = describeGlobal(access.launch, at + ((conflict.cell - cell) << shift));
          failRace(conflict, effect, bytes, found, lane);
        }
        at = next;
      }
    },
    shared({ block, location, offset }, bytes, effect, lane): void {
      if (!machine.checks || bytes === 0) return;
      tick();
      const shadow = access.shared.of(block, order.now);
      const where = (at: number): string => describeShared(access.launch, at);
      const writes = effect !== "reads";
      const combines = effect === "combines";
      const { warp } = machine;
      const pending = pendingProblem(block, location, bytes, writes, warp, lane, combines);
      if (pending !== undefined) {
        fail("pending copy", effect, bytes, `${where(offset)}: ${pending}`, lane);
      }
      if (effect !== "writes") {
        const first = firstUnwritten(shadow.written, offset, bytes);
        if (first >= 0) {
          fail("uninitialised memory", effect, bytes, `${where(first)}, not written before`, lane);
        }
      }
      if (writes) setWritten(shadow, offset, bytes);
      const { shift } = access.shared;
      if (shift < 0) return;
      const floor = block.cluster.length > 1 ? shadow.start : order.block.barrier;
      const first = Math.ceil(offset / (1 << shift));
      const count = ((offset + bytes) >> shift) - first;
      const conflict = note(shadow.cells, first, count, effect, lane, floor);
      if (conflict !== undefined) {
        const found = where(conflict.cell << shift);
        failRace(conflict, effect, bytes, found, lane);
      }
    },
  };
}

/** An arrival at a barrier releases what the warp did before, a successful wait acquires what others released. */
export function orderBy(machine: Machine, action: typeof release | typeof acquire): void {
  if (!machine.checks) return;
  const scope = machine.block.cluster.length > 1 ? "beyond" : "block";
  action(accessOf(machine).order, machine, scope);
}

/** Notes that a barrier object is written, for those that load it. */
export function noteObject(machine: Machine, { block, offset }: SharedRange, bytes: number): void {
  if (!machine.checks) return;
  const access = accessOf(machine);
  attend(access.order, machine);
  setWritten(access.shared.of(block, access.order.now), offset, bytes);
}
