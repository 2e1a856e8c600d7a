/** An instruction that accesses memory, as checks see it, and how they report what a lane of it did. */
import type { Allocations } from "../check/allocations.ts";
import {
  type Conflict,
  findWritten,
  lostUpdate,
  noteRead,
  noteStrongWrite,
} from "../check/cells.ts";
import { conflictClause, kindOf } from "../check/conflict.ts";
import { describeGlobal, describeShared } from "../check/describe.ts";
import { checkOf } from "../check/levels.ts";
import { type Order, WHO } from "../check/order.ts";
import { report } from "../check/report.ts";
import { siteNumber } from "../check/site_log.ts";
import { Fault, type FaultKind, type Site } from "../fault.ts";
import { ownerOf } from "./reach.ts";
import type { Access } from "./state.ts";

/** What an instruction does to memory. */
export interface AccessKind {
  /** For messages: "load", "store", "atomic operation". */
  readonly verb: string;
  /** Bytes per lane. */
  readonly bytes: number;
  /** What its addresses must be multiples of, a power of two. */
  readonly align: number;
  readonly reads: boolean;
  readonly writes: boolean;
  /** Whether it does not race with others of its kind: volatile, relaxed and stronger, atomic. */
  readonly strong: boolean;
  /** Whether it may read bytes that hold nothing: its registers are undefined then (`shadow/memory.ts`). */
  readonly carries: boolean;
  /** Whether it is volatile and no load that a loop polls: programs took such accesses for barriers of a warp. */
  readonly isVolatile?: boolean;
  /** Whether it may wait for what other threads do. */
  readonly polls?: boolean;
  /** Whether it must not see what the launch writes: `.nc`. */
  readonly readOnly?: boolean;
  /** Whether lanes that are not allowed to may be left out; else their faults are errors. */
  readonly leavesOut?: boolean;
  /** Whether it loads or stores what an update of one location does: `x = x + 1`. */
  readonly isUpdate?: () => boolean;
}

/** An instruction, as checks see it. */
export interface CheckedAccess extends Required<AccessKind> {
  readonly site: Site;
  readonly number: number;
  /** Mark of what it does, in cells. */
  readonly mark: number;
  /** The allocation that it accessed last, which is likely the one that it accesses next. */
  known: Allocations | undefined;
  start: number;
  end: number;
  /** Lanes that wrote where another lane of the same instruction wrote too. */
  readonly twice: { lanes: number };
}

/** What checks need of an instruction. */
export function checkedAccess(access: Access, kind: AccessKind, site: Site): CheckedAccess {
  const { verb, bytes, align, reads, writes, strong, carries } = kind;
  const { isVolatile = false, polls = false, readOnly = false, leavesOut = false } = kind;
  const { isUpdate = (): boolean => false } = kind;
  // All have the same shape, which engines are grateful for.
  return {
    verb,
    bytes,
    align,
    reads,
    writes,
    strong,
    carries,
    isVolatile,
    polls,
    readOnly,
    leavesOut,
    isUpdate,
    site,
    number: siteNumber(access.sites, site, isUpdate),
    mark: (strong ? WHO.strong : 0) | (isVolatile ? WHO.volatile : 0),
    known: undefined,
    start: 0,
    end: 0,
    twice: { lanes: 0 },
  };
}

/** Reports what a lane did wrong. */
export function fail(
  { machine }: Access,
  check: CheckedAccess,
  kind: FaultKind,
  lane: number,
  where: string,
): void {
  const size = `${check.bytes} byte${check.bytes === 1 ? "" : "s"}`;
  const fault = new Fault(kind, `${check.verb} of ${size} ${where}`, lane, check.site);
  if (!check.leavesOut && ADDRESS_FAULTS.has(kind)) throw fault;
  report(machine, fault);
}

/** Faults after which there is nothing to access. */
const ADDRESS_FAULTS: ReadonlySet<FaultKind> = new Set<FaultKind>(
  ["out of bounds", "misaligned", "use after free"],
);

/** What messages call a location that a lane accesses. */
type Name = (access: Access, lane: number, location: number) => string;

/** A location in global memory. */
export function globalName(access: Access, _lane: number, location: number): string {
  return describeGlobal(access.launch, location);
}

/** A location in the shared memory of a block. */
export function sharedName(access: Access, lane: number, location: number): string {
  return describeShared(access.launch, location - ownerOf(access.reach, lane).shared);
}

/** Reports a race of a lane with an earlier access, unless its check is off. */
export function failRace(
  access: Access,
  check: CheckedAccess,
  lane: number,
  location: number,
  conflict: Conflict,
  name: Name,
): void {
  const { isUpdate, site, writes } = check;
  const present = { isUpdate, site, writes, lane };
  const kind = kindOf(access, conflict, present);
  const found = checkOf(kind);
  if (found !== undefined && access.launch.levels[found] === "off") return;
  const where = name(access, lane, location);
  fail(access, check, kind, lane, `at ${where}${conflictClause(access, conflict, present)}`);
}

/** Notes strong writes, and loads that do not see stores. */
export function noteRare(
  order: Order,
  check: CheckedAccess,
  cells: Uint32Array,
  cell: number,
  count: number,
  who: number,
  floor: number,
): Conflict | undefined {
  if (!check.writes) {
    return findWritten(cells, cell, count, floor) ??
      noteRead(order, cells, cell, count, who, floor);
  }
  const lost = check.isVolatile && check.isUpdate()
    ? lostUpdate(order, cells, cell, who, floor)
    : undefined;
  return lost ?? noteStrongWrite(order, cells, cell, count, who, floor, check.twice);
}
