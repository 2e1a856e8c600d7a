/** Checks of global memory: bounds of allocations, use after free, races. */
import { nearest } from "../check/allocations.ts";
import { noteRead, noteWrite } from "../check/cells.ts";
import { checkEarly } from "../check/early.ts";
import { describeGlobal } from "../check/describe.ts";
import { PAGE_BYTES } from "../check/global_shadow.ts";
import { attend, notePoll, strongWrite, WHO, whoIs } from "../check/order.ts";
import { logSite } from "../check/site_log.ts";
import { LANES } from "../register_file.ts";
import type { Access } from "./state.ts";
import { type CheckedAccess, fail, failRace, globalName, noteRare } from "./checked_access.ts";

/** Checks accesses of global memory; the result is the lanes whose accesses are to be done. */
export function checkGlobal(access: Access, check: CheckedAccess, all: number): number {
  const { reach, launch, global, order, machine } = access;
  const { low, high } = reach;
  let mask = all;
  if (check.known !== launch.allocations || low < check.start || high + check.bytes > check.end) {
    mask = findBounds(access, check, all);
    if (mask === 0) return 0;
  }
  if (launch.startsEarly) {
    checkEarly(access, mask, check.site, (lane) => earlyAccess(access, check, lane));
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

function earlyAccess(access: Access, check: CheckedAccess, lane: number): string {
  const where = globalName(access, lane, access.reach.locations[lane] ?? 0);
  return `${check.verb} of ${check.bytes} byte${check.bytes === 1 ? "" : "s"} at ${where}`;
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
