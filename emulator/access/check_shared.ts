/** Checks of shared memory: bounds, reads of unwritten bytes, pending copies, races. */
import { hasPending, pendingProblem } from "../async/pending.ts";
import { noteRead, noteWrite } from "../check/cells.ts";
import { describeShared } from "../check/describe.ts";
import { attend, notePoll, strongWrite, whoIs } from "../check/order.ts";
import { checkRemote } from "../check/remote.ts";
import { noteGenericWrite } from "../check/proxies.ts";
import type { SharedShadow } from "../check/shared_shadow.ts";
import { logSite } from "../check/site_log.ts";
import { firstUnwritten, isWritten, setWritten } from "../check/written.ts";
import { LANES } from "../register_file.ts";
import type { BlockState } from "../machine.ts";
import { ownerOf } from "./reach.ts";
import type { Access } from "./state.ts";
import { type CheckedAccess, fail, failRace, noteRare, sharedName } from "./checked_access.ts";

/** Checks accesses of shared memory; the result is the lanes whose accesses are to be done. */
export function checkShared(access: Access, check: CheckedAccess, mask: number): number {
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
