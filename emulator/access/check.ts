/**
 * Checks of accesses: what kernels must not do, and hardware would not always say. The lanes' locations have been
 * resolved; nothing has been read or written yet.
 */
import { describeConstant, describeGlobal, describeShared, findExtent } from "../check/describe.ts";
import { isWritten, setWritten } from "../check/written.ts";
import { HEADER, LANES } from "../register_file.ts";
import { KIND, ownerOf } from "./reach.ts";
import type { Access } from "./state.ts";
import { type CheckedAccess, fail, globalName, sharedName } from "./checked_access.ts";
import { checkGlobal } from "./check_global.ts";
import { checkShared } from "./check_shared.ts";

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
  const where = (kind === KIND.shared ? sharedName : globalName)(access, lane, location);
  const thread = machine.warp.index * LANES + lane;
  const what = check.isUpdate()
    ? "another lane of the warp updates it at the same time, and one of the updates is lost"
    : "another lane of the warp stores another value there";
  fail(access, check, "race", lane, `at ${where} by thread ${thread}: ${what}`);
}
