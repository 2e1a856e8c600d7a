/**
 * Checks of accesses: what kernels must not do, and hardware would not always say. The lanes' locations have been
 * resolved; nothing has been read or written yet.
 */
import { hasPending, pendingProblem } from "../async/pending.ts";
import { type Allocations, nearest } from "../check/allocations.ts";
import {
  type Conflict,
  findWritten,
  lostUpdate,
  noteRead,
  noteStrongWrite,
  noteWrite,
} from "../check/cells.ts";
import { conflictClause, kindOf } from "../check/conflict.ts";
import { describeConstant, describeGlobal, describeShared, findExtent } from "../check/describe.ts";
import { PAGE_BYTES } from "../check/global_shadow.ts";
import { checkOf } from "../check/levels.ts";
import { attend, notePoll, type Order, strongWrite, WHO, whoIs } from "../check/order.ts";
import { checkRemote } from "../check/remote.ts";
import { noteGenericWrite } from "../check/proxies.ts";
import { report } from "../check/report.ts";
import type { SharedShadow } from "../check/shared_shadow.ts";
import { logSite, siteNumber } from "../check/site_log.ts";
import { firstUnwritten, isWritten, setWritten } from "../check/written.ts";
import { Fault, type FaultKind, type Site } from "../fault.ts";
import { HEADER, LANES } from "../register_file.ts";
import type { BlockState } from "../machine.ts";
import { KIND, ownerOf } from "./reach.ts";
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
function fail(
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

/**
 * Checks the accesses of the lanes of a mask whose locations are in `access.reach`. The result is the lanes whose
 * accesses are to be done.
 */
export function checkAccess(access: Access, check: CheckedAccess, mask: number): number {
  const { reach, launch: { levels } } = access;
  let allowed = mask;
  if ((reach.bits & (check.align - 1)) !== 0 && levels.alignment !== "off") {
    allowed = failMisaligned(access, check, mask);
    if (allowed === 0) return 0;
  }
  check.twice.lanes = 0;
  access.unwritten = 0;
  const { kind } = reach;
  if (kind !== KIND.mixed) return checkKind(access, check, allowed, kind);
  const { low, high } = reach;
  const aligned = allowed;
  allowed = 0;
  for (let each = 0; each < KIND.mixed; each++) {
    let lanes = 0;
    [reach.low, reach.high] = [Infinity, 0];
    for (let lane = 0; lane < LANES; lane++) {
      if (((aligned >>> lane) & 1) === 0 || reach.kinds[lane] !== each) continue;
      lanes |= 1 << lane;
      const location = reach.locations[lane] ?? 0;
      reach.low = Math.min(reach.low, location);
      reach.high = Math.max(reach.high, location);
    }
    if (lanes !== 0) allowed |= checkKind(access, check, lanes, each);
  }
  [reach.low, reach.high] = [low, high];
  return allowed;
}

/** Reports lanes with misaligned addresses; the other ones are the result. */
function failMisaligned(access: Access, check: CheckedAccess, mask: number): number {
  let allowed = mask;
  const { locations, kind, kinds } = access.reach;
  for (let lane = 0; lane < LANES; lane++) {
    const location = locations[lane] ?? 0;
    if (((mask >>> lane) & 1) === 0 || (location & (check.align - 1)) === 0) continue;
    const own = kind === KIND.mixed ? kinds[lane] ?? 0 : kind;
    const where = own === KIND.global
      ? describeGlobal(access.launch, location)
      : own === KIND.shared
      ? describeShared(access.launch, location - ownerOf(access.reach, lane).shared)
      : `address 0x${location.toString(16)}`;
    fail(access, check, "misaligned", lane, `at ${where}, which is no multiple of ${check.align}`);
    allowed &= ~(1 << lane);
  }
  return allowed;
}

function checkKind(access: Access, check: CheckedAccess, mask: number, kind: number): number {
  switch (kind) {
    case KIND.global:
      return checkGlobal(access, check, mask);
    case KIND.shared:
      return checkShared(access, check, mask);
    case KIND.local:
      return checkLocal(access, check, mask);
    default:
      return checkConstant(access, check, mask, kind);
  }
}

function checkGlobal(access: Access, check: CheckedAccess, all: number): number {
  const { reach, launch, global, order, machine } = access;
  const { low, high } = reach;
  let mask = all;
  if (check.known !== launch.allocations || low < check.start || high + check.bytes > check.end) {
    mask = findBounds(access, check, all);
    if (mask === 0) return 0;
  }
  const { shift } = global;
  if (shift < 0) return mask;
  attend(order, machine);
  if (check.polls) notePoll(order);
  if (check.strong && check.writes) strongWrite(order);
  logSite(access.sites, order.now, check.number);
  const count = check.bytes >> shift;
  const me = whoIs(order, machine) | check.mark;
  const floor = order.start;
  const readOnly = check.readOnly && launch.levels.readOnly !== "off";
  if (low === high && !check.writes) {
    const lane = 31 - Math.clz32(mask);
    const who = me | lane | (mask === 1 << lane ? 0 : WHO.several);
    const cells = global.page(low);
    const cell = global.cell(low);
    const conflict = readOnly
      ? noteRare(order, check, cells, cell, count, who, floor)
      : noteRead(order, cells, cell, count, who, floor);
    if (conflict !== undefined) failRace(access, check, lane, low, conflict, globalName);
    return mask;
  }
  const rare = readOnly || (check.strong && check.writes);
  const { locations } = reach;
  let page = -1;
  let cells = EMPTY;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    if (page !== location >>> PAGE_SHIFT) {
      page = location >>> PAGE_SHIFT;
      cells = global.page(location);
    }
    const cell = (location & (PAGE_BYTES - 1)) >>> shift;
    const conflict = rare
      ? noteRare(order, check, cells, cell, count, me | lane, floor)
      : check.writes
      ? noteWrite(order, cells, cell, count, me | lane, floor, check.twice)
      : noteRead(order, cells, cell, count, me | lane, floor);
    if (conflict !== undefined) failRace(access, check, lane, location, conflict, globalName);
  }
  return mask;
}

const PAGE_SHIFT = Math.log2(PAGE_BYTES);
const EMPTY: Uint32Array = new Uint32Array(0);

/** Looks each lane's allocation up; the result is the lanes that are inside of one. */
function findBounds(access: Access, check: CheckedAccess, mask: number): number {
  if (access.launch.levels.bounds === "off") return mask;
  let allowed = mask;
  const { locations } = access.reach;
  const { allocations } = access.launch;
  check.known = allocations;
  check.start = check.end = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    if (location >= check.start && location + check.bytes <= check.end) continue;
    const found = allocations.liveAt(location);
    const end = found === undefined ? 0 : found.location + found.bytes;
    if (found === undefined || location + check.bytes > end) {
      failGlobal(access, check, lane, location, end);
      allowed &= ~(1 << lane);
      continue;
    }
    check.start = found.location;
    check.end = end;
  }
  return allowed;
}

function failGlobal(
  access: Access,
  check: CheckedAccess,
  lane: number,
  location: number,
  end: number,
): void {
  const found = nearest(access.launch.allocations.all(), location);
  const where = describeGlobal(access.launch, location);
  if (location < end) {
    const over = location + check.bytes - end;
    fail(access, check, "out of bounds", lane, `at ${where}: its last ${over} are past the end`);
    return;
  }
  const freed = found?.allocation.freed === true && found.offset >= 0 &&
    found.offset < found.allocation.bytes;
  fail(access, check, freed ? "use after free" : "out of bounds", lane, `at ${where}`);
}

type Name = (access: Access, check: CheckedAccess, lane: number, location: number) => string;

const globalName: Name = (access, _check, _lane, location) =>
  describeGlobal(access.launch, location);

const sharedName: Name = (access, _check, lane, location) =>
  describeShared(access.launch, location - ownerOf(access.reach, lane).shared);

function failRace(
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
  const where = name(access, check, lane, location);
  fail(access, check, kind, lane, `at ${where}${conflictClause(access, conflict, present)}`);
}

function checkShared(access: Access, check: CheckedAccess, mask: number): number {
  const { reach, machine, order } = access;
  attend(order, machine);
  if (check.polls) notePoll(order);
  if (check.strong && check.writes) strongWrite(order);
  logSite(access.sites, order.now, check.number);
  if ((reach.remote & mask) === 0) {
    return checkSharedOf(access, check, mask, machine.block, reach.high);
  }
  let allowed = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const owner = ownerOf(access.reach, lane);
    if (owner !== machine.block) checkRemote(access, owner, lane, check.site);
    allowed |= checkSharedOf(access, check, 1 << lane, owner, reach.locations[lane] ?? 0);
  }
  return allowed;
}

function checkSharedOf(
  access: Access,
  check: CheckedAccess,
  all: number,
  block: BlockState,
  high: number,
): number {
  const { reach: { locations }, machine, order, shared, launch: { levels, usesAsyncProxy } } =
    access;
  const { bytes, reads, writes } = check;
  const base = block.shared;
  let mask = all;
  if (high + bytes - base > block.sharedBytes && levels.bounds !== "off") {
    mask = failShared(access, check, all, block);
    if (mask === 0) return 0;
  }
  if (hasPending(block) && levels.copies !== "off") checkPending(access, check, mask, block);
  const shadow = shared.of(block, order.now);
  if (reads && levels.uninitialized !== "off") {
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const offset = (locations[lane] ?? 0) - base;
      if (isWritten(shadow, offset, bytes)) continue;
      if (check.carries) access.unwritten |= 1 << lane;
      else {
        // A write that comes later is found to race with this read: then what was missing is a barrier.
        noteUnwritten(access, check, shadow, mask, base);
        const first = firstUnwritten(shadow.written, offset, bytes);
        failUnwritten(access, check, lane, offset, first);
      }
    }
  }
  const { shift } = shared;
  const { cells } = shadow;
  const count = bytes >> shift;
  const me = whoIs(order, machine) | check.mark;
  const floor = block.cluster.length > 1 ? shadow.start : order.block.barrier;
  const rare = check.strong && writes;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const offset = (locations[lane] ?? 0) - base;
    if (writes) {
      setWritten(shadow, offset, bytes);
      if (usesAsyncProxy) noteGenericWrite(machine, block, offset, bytes, lane);
    }
    if (shift < 0) continue;
    const conflict = rare
      ? noteRare(order, check, cells, offset >> shift, count, me | lane, floor)
      : writes
      ? noteWrite(order, cells, offset >> shift, count, me | lane, floor, check.twice)
      : noteRead(order, cells, offset >> shift, count, me | lane, floor);
    if (conflict !== undefined) failRace(access, check, lane, base + offset, conflict, sharedName);
  }
  return mask;
}

/** Notes strong writes, and loads that do not see stores. */
function noteRare(
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

/** Notes the reads of lanes of which one reads what nothing has written. */
function noteUnwritten(
  { order, machine, shared: { shift }, reach: { locations } }: Access,
  check: CheckedAccess,
  { cells }: SharedShadow,
  mask: number,
  base: number,
): void {
  if (shift < 0) return;
  const me = whoIs(order, machine) | check.mark;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const cell = ((locations[lane] ?? 0) - base) >> shift;
    noteRead(order, cells, cell, check.bytes >> shift, me | lane, order.now);
  }
}

/** Reports lanes that go past the end of shared memory; the other ones are the result. */
function failShared(access: Access, check: CheckedAccess, mask: number, block: BlockState): number {
  let allowed = mask;
  const { locations } = access.reach;
  for (let lane = 0; lane < LANES; lane++) {
    const offset = (locations[lane] ?? 0) - block.shared;
    if (((mask >>> lane) & 1) === 0 || offset + check.bytes <= block.sharedBytes) continue;
    const where = `at offset ${offset} of shared memory, which has ${block.sharedBytes} bytes`;
    fail(access, check, "out of bounds", lane, where);
    allowed &= ~(1 << lane);
  }
  return allowed;
}

function checkPending(access: Access, check: CheckedAccess, mask: number, block: BlockState): void {
  const { reach: { locations }, machine } = access;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    const { bytes, writes } = check;
    const problem = pendingProblem(block, location, bytes, writes, machine.warp, lane);
    if (problem === undefined) continue;
    const where = describeShared(access.launch, location - block.shared);
    fail(access, check, "pending copy", lane, `at ${where}: ${problem}`);
  }
}

function failUnwritten(
  access: Access,
  check: CheckedAccess,
  lane: number,
  offset: number,
  first: number,
): void {
  const where = describeShared(access.launch, offset);
  const which = first === offset
    ? "which nothing has written"
    : `whose byte ${first - offset} nothing has written`;
  fail(access, check, "uninitialised memory", lane, `at ${where}, ${which}`);
}

/** That addresses begin inside has been checked when they were resolved. */
function checkLocal(access: Access, check: CheckedAccess, mask: number): number {
  let allowed = mask;
  const { machine, reach: { locations } } = access;
  const { u32 } = machine.views;
  const registerFile = machine.warp.registerFile;
  const start = u32[(registerFile + HEADER.local) >>> 2] ?? 0;
  const bytes = u32[(registerFile + HEADER.localBytes) >>> 2] ?? 0;
  const shadow = access.local.of(machine);
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const offset = (locations[lane] ?? 0) - start - lane * bytes;
    if (offset + check.bytes <= bytes) {
      const at = lane * bytes + offset;
      if (check.reads && check.carries && !isWritten(shadow, at, check.bytes)) {
        access.unwritten |= 1 << lane;
      }
      if (check.writes) setWritten(shadow, at, check.bytes);
      continue;
    }
    const where = `at offset ${offset} of local memory, which has ${bytes} bytes`;
    fail(access, check, "out of bounds", lane, where);
    allowed &= ~(1 << lane);
  }
  return allowed;
}

function checkConstant(access: Access, check: CheckedAccess, mask: number, kind: number): number {
  const { launch: { constants, parameters, levels }, reach: { locations, low, high } } = access;
  const extents = kind === KIND.const ? constants : [parameters];
  if (findExtent(extents, low, high + check.bytes - low) !== undefined) return mask;
  if (levels.bounds === "off") return mask;
  let allowed = mask;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const location = locations[lane] ?? 0;
    if (findExtent(extents, location, check.bytes) !== undefined) continue;
    const where = kind === KIND.const
      ? `at ${describeConstant(constants, location)}`
      : `at address 0x${location.toString(16)}, which is not in the kernel's parameters`;
    fail(access, check, "out of bounds", lane, where);
    allowed &= ~(1 << lane);
  }
  return allowed;
}

/** Reports that lanes of one instruction stored to one location; `lane` is one whose value was lost. */
export function failTwice(access: Access, check: CheckedAccess, lane: number): void {
  const { reach, machine } = access;
  const location = reach.locations[lane] ?? 0;
  const kind = reach.kind === KIND.mixed ? reach.kinds[lane] : reach.kind;
  const where = (kind === KIND.shared ? sharedName : globalName)(access, check, lane, location);
  const thread = machine.warp.index * LANES + lane;
  const what = check.isUpdate()
    ? "another lane of the warp updates it at the same time, and one of the updates is lost"
    : "another lane of the warp stores another value there";
  fail(access, check, "race", lane, `at ${where} by thread ${thread}: ${what}`);
}
