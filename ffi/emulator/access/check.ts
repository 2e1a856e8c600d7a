/**
 * Checks of accesses: what kernels must not do, and hardware would not always say. The lanes' places have been
 * resolved; nothing has been read or written yet.
 */
import { hasPending, pendingProblem } from "../async/pending.ts";
import { type AllocationTable, liveIndex, nearest } from "../check/allocations.ts";
import { type Conflict, noteRead, noteWrite } from "../check/cells.ts";
import {
  describeConstant,
  describeGlobal,
  describeShared,
  describeWho,
  findExtent,
} from "../check/describe.ts";
import { PAGE_BYTES } from "../check/global_shadow.ts";
import { attend, strongWrite, WHO, whoIs } from "../check/order.ts";
import { logSite, siteNumber, siteOf } from "../check/site_log.ts";
import { firstUnwritten, isWritten, setWritten } from "../check/written.ts";
import { Fault, type FaultKind, type Site } from "../fault.ts";
import { HEADER, LANES } from "../frame.ts";
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
}

/** An instruction, as checks see it. */
export interface CheckedAccess extends AccessKind {
  readonly site: Site;
  readonly number: number;
  /** Mark of what it does, in cells. */
  readonly mark: number;
  /** The allocation that it accessed last, which is likely the one that it accesses next. */
  table: AllocationTable | undefined;
  start: number;
  end: number;
  /** Lanes that wrote where another lane of the same instruction wrote too. */
  readonly twice: { lanes: number };
}

/** What checks need of an instruction. */
export function checkedAccess(access: Access, kind: AccessKind, site: Site): CheckedAccess {
  return {
    ...kind,
    site,
    number: siteNumber(access.sites, site),
    mark: kind.strong ? WHO.strong : 0,
    table: undefined,
    start: 0,
    end: 0,
    twice: { lanes: 0 },
  };
}

/** Throws what a lane did wrong. */
export function fail(
  check: CheckedAccess,
  kind: FaultKind,
  lane: number,
  where: string,
  bytes = check.bytes,
): never {
  const size = `${bytes} byte${bytes === 1 ? "" : "s"}`;
  throw new Fault(kind, `${check.verb} of ${size} ${where}`, lane, check.site);
}

/** Checks the accesses of the lanes of a mask whose places are in `access.reach`. */
export function checkAccess(access: Access, check: CheckedAccess, mask: number): void {
  const { reach } = access;
  if ((reach.bits & (check.align - 1)) !== 0) failMisaligned(access, check, mask);
  check.twice.lanes = 0;
  access.unwritten = 0;
  const { kind } = reach;
  if (kind !== KIND.mixed) {
    checkKind(access, check, mask, kind);
    return;
  }
  const { low, high } = reach;
  for (let each = 0; each < KIND.mixed; each++) {
    let lanes = 0;
    [reach.low, reach.high] = [Infinity, 0];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0 || reach.kinds[lane] !== each) continue;
      lanes |= 1 << lane;
      const place = reach.places[lane] ?? 0;
      reach.low = Math.min(reach.low, place);
      reach.high = Math.max(reach.high, place);
    }
    if (lanes !== 0) checkKind(access, check, lanes, each);
  }
  [reach.low, reach.high] = [low, high];
}

function failMisaligned(access: Access, check: CheckedAccess, mask: number): void {
  const { places, kind, kinds } = access.reach;
  for (let lane = 0; lane < LANES; lane++) {
    const place = places[lane] ?? 0;
    if (((mask >>> lane) & 1) === 0 || (place & (check.align - 1)) === 0) continue;
    const own = kind === KIND.mixed ? kinds[lane] ?? 0 : kind;
    const where = own === KIND.global
      ? describeGlobal(access.launch, place)
      : own === KIND.shared
      ? describeShared(access.launch, place - ownerOf(access.reach, lane).shared)
      : `address 0x${place.toString(16)}`;
    fail(check, "misaligned", lane, `at ${where}, which is no multiple of ${check.align}`);
  }
}

function checkKind(access: Access, check: CheckedAccess, mask: number, kind: number): void {
  switch (kind) {
    case KIND.global:
      checkGlobal(access, check, mask);
      break;
    case KIND.shared:
      checkShared(access, check, mask);
      break;
    case KIND.local:
      checkLocal(access, check, mask);
      break;
    default:
      checkConstant(access, check, mask, kind);
  }
}

function checkGlobal(access: Access, check: CheckedAccess, mask: number): void {
  const { reach, launch, global, order, machine } = access;
  const { low, high } = reach;
  if (check.table !== launch.allocations || low < check.start || high + check.bytes > check.end) {
    findBounds(access, check, mask);
  }
  const { shift } = global;
  if (shift < 0) return;
  attend(order, machine);
  if (check.strong && check.writes) strongWrite(order);
  logSite(access.sites, order.now, check.number);
  const count = check.bytes >> shift;
  const me = whoIs(order, machine) | check.mark;
  const floor = order.start;
  if (low === high && !check.writes) {
    const lane = 31 - Math.clz32(mask);
    const who = me | lane | (mask === 1 << lane ? 0 : WHO.several);
    const cells = global.page(low);
    const conflict = noteRead(order, cells, global.cell(low), count, who, floor);
    if (conflict !== undefined) failRace(access, check, lane, low, conflict, globalName);
    return;
  }
  const { places } = reach;
  let page = -1;
  let cells = EMPTY;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const place = places[lane] ?? 0;
    if (page !== place >>> PAGE_SHIFT) {
      page = place >>> PAGE_SHIFT;
      cells = global.page(place);
    }
    const cell = (place & (PAGE_BYTES - 1)) >>> shift;
    const conflict = check.writes
      ? noteWrite(order, cells, cell, count, me | lane, floor, check.twice)
      : noteRead(order, cells, cell, count, me | lane, floor);
    if (conflict !== undefined) failRace(access, check, lane, place, conflict, globalName);
  }
}

const PAGE_SHIFT = Math.log2(PAGE_BYTES);
const EMPTY: Uint32Array = new Uint32Array(0);

/** Looks each lane's allocation up. */
function findBounds(access: Access, check: CheckedAccess, mask: number): void {
  const { places } = access.reach;
  const { allocations } = access.launch;
  const { starts, ends } = allocations;
  check.table = allocations;
  check.start = check.end = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const place = places[lane] ?? 0;
    if (place >= check.start && place + check.bytes <= check.end) continue;
    const index = liveIndex(allocations, place);
    const end = ends[index] ?? 0;
    if (index < 0 || place + check.bytes > end) failGlobal(access, check, lane, place, end);
    check.start = starts[index] ?? 0;
    check.end = end;
  }
}

function failGlobal(
  access: Access,
  check: CheckedAccess,
  lane: number,
  place: number,
  end: number,
): never {
  const found = nearest(access.launch.allocations, place);
  const where = describeGlobal(access.launch, place);
  if (place < end) {
    const over = place + check.bytes - end;
    fail(check, "out of bounds", lane, `at ${where}: its last ${over} are past the end`);
  }
  const freed = found?.allocation.freed === true && found.offset >= 0 &&
    found.offset < found.allocation.bytes;
  return fail(check, freed ? "use after free" : "out of bounds", lane, `at ${where}`);
}

type Name = (access: Access, check: CheckedAccess, lane: number, place: number) => string;

const globalName: Name = (access, _check, _lane, place) => describeGlobal(access.launch, place);

const sharedName: Name = (access, _check, lane, place) =>
  describeShared(access.launch, place - ownerOf(access.reach, lane).shared);

function failRace(
  access: Access,
  check: CheckedAccess,
  lane: number,
  place: number,
  conflict: Conflict,
  name: Name,
): never {
  const { order, machine, sites } = access;
  const { who, tick, wrote } = conflict;
  const several = (who & WHO.several) !== 0 ? " and other threads of its warp" : "";
  const other = siteOf(sites, tick, order.now);
  const line = other?.line === undefined ? "" : ` (${other.file ?? ""}:${other.line})`;
  const by = other === undefined ? "" : `, by \`${other.text}\`${line}`;
  const thread = machine.warp.index * LANES + lane;
  return fail(
    check,
    "race",
    lane,
    `at ${name(access, check, lane, place)} by thread ${thread} is not ordered with ` +
      `${wrote ? "a write" : "a read"} by ${describeWho(who, order.block)}${several}${by}`,
  );
}

function checkShared(access: Access, check: CheckedAccess, mask: number): void {
  const { reach, machine, order } = access;
  attend(order, machine);
  if (check.strong && check.writes) strongWrite(order);
  logSite(access.sites, order.now, check.number);
  if ((reach.remote & mask) === 0) {
    checkSharedOf(access, check, mask, machine.block, reach.high);
    return;
  }
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    checkSharedOf(access, check, 1 << lane, ownerOf(access.reach, lane), reach.places[lane] ?? 0);
  }
}

function checkSharedOf(
  access: Access,
  check: CheckedAccess,
  mask: number,
  block: BlockState,
  high: number,
): void {
  const { reach: { places }, machine, order, shared } = access;
  const { bytes, reads, writes } = check;
  const base = block.shared;
  if (high + bytes - base > block.sharedBytes) failShared(access, check, mask, block);
  if (hasPending(block)) checkPending(access, check, mask, block);
  const shadow = shared.of(block, order.now);
  if (reads) {
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const offset = (places[lane] ?? 0) - base;
      if (isWritten(shadow, offset, bytes)) continue;
      if (check.carries) access.unwritten |= 1 << lane;
      else {failUnwritten(
          access,
          check,
          lane,
          offset,
          firstUnwritten(shadow.written, offset, bytes),
        );}
    }
  }
  const { shift } = shared;
  const { cells } = shadow;
  const count = bytes >> shift;
  const me = whoIs(order, machine) | check.mark;
  const floor = block.cluster.length > 1 ? shadow.start : order.block.barrier;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const offset = (places[lane] ?? 0) - base;
    if (writes) setWritten(shadow, offset, bytes);
    if (shift < 0) continue;
    const conflict = writes
      ? noteWrite(order, cells, offset >> shift, count, me | lane, floor, check.twice)
      : noteRead(order, cells, offset >> shift, count, me | lane, floor);
    if (conflict !== undefined) failRace(access, check, lane, base + offset, conflict, sharedName);
  }
}

function failShared(access: Access, check: CheckedAccess, mask: number, block: BlockState): void {
  const { places } = access.reach;
  for (let lane = 0; lane < LANES; lane++) {
    const offset = (places[lane] ?? 0) - block.shared;
    if (((mask >>> lane) & 1) === 0 || offset + check.bytes <= block.sharedBytes) continue;
    const where = `at offset ${offset} of shared memory, which has ${block.sharedBytes} bytes`;
    fail(check, "out of bounds", lane, where);
  }
}

function checkPending(access: Access, check: CheckedAccess, mask: number, block: BlockState): void {
  const { reach: { places }, machine } = access;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const place = places[lane] ?? 0;
    const { bytes, writes } = check;
    const problem = pendingProblem(block, place, bytes, writes, machine.warp, lane);
    if (problem === undefined) continue;
    const where = describeShared(access.launch, place - block.shared);
    fail(check, "pending copy", lane, `at ${where}: ${problem}`);
  }
}

function failUnwritten(
  access: Access,
  check: CheckedAccess,
  lane: number,
  offset: number,
  first: number,
): never {
  const where = describeShared(access.launch, offset);
  const which = first === offset
    ? "which nobody has written"
    : `whose byte ${first - offset} nobody has written`;
  return fail(check, "uninitialised memory", lane, `at ${where}, ${which}`);
}

/** That addresses begin inside has been checked when they were resolved. */
function checkLocal(access: Access, check: CheckedAccess, mask: number): void {
  const { machine, reach: { places } } = access;
  const { u32 } = machine.views;
  const frame = machine.warp.frame;
  const start = u32[(frame + HEADER.local) >>> 2] ?? 0;
  const bytes = u32[(frame + HEADER.localBytes) >>> 2] ?? 0;
  const shadow = access.local.of(machine);
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const offset = (places[lane] ?? 0) - start - lane * bytes;
    if (offset + check.bytes <= bytes) {
      const at = lane * bytes + offset;
      if (check.reads && check.carries && !isWritten(shadow, at, check.bytes)) {
        access.unwritten |= 1 << lane;
      }
      if (check.writes) setWritten(shadow, at, check.bytes);
      continue;
    }
    fail(
      check,
      "out of bounds",
      lane,
      `at offset ${offset} of local memory, which has ${bytes} bytes`,
    );
  }
}

function checkConstant(access: Access, check: CheckedAccess, mask: number, kind: number): void {
  const { launch: { constants, parameters }, reach: { places, low, high } } = access;
  const extents = kind === KIND.const ? constants : [parameters];
  if (findExtent(extents, low, high + check.bytes - low) !== undefined) return;
  for (let lane = 0; lane < LANES; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    const place = places[lane] ?? 0;
    if (findExtent(extents, place, check.bytes) !== undefined) continue;
    fail(
      check,
      "out of bounds",
      lane,
      kind === KIND.const
        ? `at ${describeConstant(constants, place)}`
        : `at address 0x${place.toString(16)}, which is not in the kernel's parameters`,
    );
  }
}

/** Throws that lanes of one instruction stored different values to one place; `lane` is one whose value was lost. */
export function failTwice(access: Access, check: CheckedAccess, lane: number): never {
  const { reach, machine } = access;
  const place = reach.places[lane] ?? 0;
  const kind = reach.kind === KIND.mixed ? reach.kinds[lane] : reach.kind;
  const where = (kind === KIND.shared ? sharedName : globalName)(access, check, lane, place);
  const thread = machine.warp.index * LANES + lane;
  return fail(
    check,
    "race",
    lane,
    `at ${where} by thread ${thread}: another lane of the warp stores another value there`,
  );
}
