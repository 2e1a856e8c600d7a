/**
 * Undefined values in memory. Shared and local memory have a bit per byte that says whether it is defined: bytes that
 * nothing has written are not, nor are those to which undefined bits were stored, which are remembered one by one.
 * Loads make the same bits of their registers undefined.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import { counted, describeLocal, describeShared } from "../check/describe.ts";
import { firstUnwritten, setWritten, unsetWritten, type WrittenBytes } from "../check/written.ts";
import { HEADER } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";
import type { Views } from "../memory.ts";
import { KIND, ownerOf } from "../access/reach.ts";
import { type Access, accessOf } from "../access/state.ts";
import { SHADOW, type Shadow, undefinedLanes } from "./shadow_row.ts";
import { failUndefined } from "./report.ts";
import { addAssignment, addOrigin, noteStored, storedAt } from "./state.ts";

const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** The bytes that a location is among: which hold something, and where they begin. */
export interface Bytes {
  readonly bytes: WrittenBytes;
  readonly base: number;
  /** The block or warp that they belong to. */
  readonly owner: object;
}

/** The bytes that a lane reaches; undefined for memory that counts as written. */
export function bytesOf(access: Access, lane: number): Bytes | undefined {
  const { reach, machine, shared, local, order } = access;
  const kind = reach.kind === KIND.mixed ? reach.kinds[lane] : reach.kind;
  if (kind === KIND.shared) {
    const block = ownerOf(reach, lane);
    return { bytes: shared.of(block, order.now), base: block.shared, owner: block };
  }
  if (kind !== KIND.local) return undefined;
  const base = machine.views.u32[(machine.warp.registerFile + HEADER.local) >>> 2] ?? 0;
  return { bytes: local.of(machine), base, owner: machine.warp };
}

/** The undefined bits of a byte, and where they came from if they were stored. */
export function undefinedAt(
  { shadows }: Access,
  { bytes, base, owner }: Bytes,
  location: number,
): { readonly bits: number; readonly origin: number | undefined } {
  if (firstUnwritten(bytes.written, location - base, 1) < 0) return DEFINED;
  const { bits = 0xff, origin } = storedAt(shadows, location, owner) ?? {};
  return { bits, origin };
}

const DEFINED = { bits: 0, origin: undefined } as const;

/** An element of an access: its shadow if its register has one, and its bytes. */
export interface ShadowElement {
  readonly shadow: Shadow | undefined;
  readonly at: number;
  readonly bytes: number;
  /** Whether the register's upper bits are copies of the sign. */
  readonly signed: boolean;
}

/** The shadows of the elements of a value. */
export function shadowElements(
  context: HandlerContext,
  operand: Operand,
  bytes: number,
  signed: boolean,
): ShadowElement[] {
  const elements = operand.kind === "vector" ? operand.elements : [operand];
  return elements.map((element, i) => ({
    shadow: context.shadow(element),
    at: i * bytes,
    bytes,
    signed,
  }));
}

/** Whether undefined bytes can be loaded: registers have a shadow, or the value is dropped. */
export function canCarry(operand: Operand | undefined, context: HandlerContext): boolean {
  if (operand === undefined) return true;
  const elements = operand.kind === "vector" ? operand.elements : [operand];
  return elements.every((element) =>
    element.kind === "sink" || context.shadow(element) !== undefined
  );
}

/** Makes what lanes loaded from bytes that hold nothing undefined. */
export type CarryLoad = (w: number, lanes: number) => void;

/** For a load of elements: lanes are those that `access.unwritten` names after the check. */
export function carryLoad(
  context: HandlerContext,
  verb: string,
  elements: readonly ShadowElement[],
): CarryLoad {
  const { machine, site } = context;
  const access = accessOf(machine);
  const { shadows, reach } = access;
  const number = addAssignment(shadows, site, true);
  const clauses: string[] = [];
  const own = addOrigin(shadows, {
    kind: "memory",
    site,
    loaded: (lane) => clauses[lane] ?? `${verb} of memory that holds no defined value`,
  });
  const total = elements.reduce((sum, { bytes }) => sum + bytes, 0);
  const what = `${verb} of ${counted(total, "byte")}`;
  return (w, lanes) => {
    shadows.flag.value = 1;
    const { views } = machine;
    const { u8, i32 } = views;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const found = bytesOf(access, lane);
      if (found === undefined) continue;
      const { bytes: { written }, base } = found;
      let last = 0;
      const location = reach.locations[lane] ?? 0;
      const first = firstUnwritten(written, location - base, total);
      clauses[lane] = clauseOf(access, what, lane, location, first + base);
      for (const { shadow, at, bytes, signed } of elements) {
        if (shadow === undefined) continue;
        const stride = Math.max(4, shadow.bits / 8);
        const to = (w >>> 0) + shadow.row + stride * lane;
        let [any, origin] = [0, own];
        for (let i = 0; i < stride; i++) {
          if (i < bytes) {
            const byte = undefinedAt(access, found, location + at + i);
            last = byte.bits;
            origin = byte.origin ?? origin;
          } else last = signed && (last & 0x80) !== 0 && 8 * i < shadow.bits ? 0xff : 0;
          u8[to + i] = last;
          any |= last;
        }
        if (any === 0) continue;
        const word = (w + shadow.word) >>> 2;
        i32[word] = (i32[word] ?? 0) | (1 << lane);
        i32[word + SHADOW.origin / 4] = origin;
        i32[word + SHADOW.line / 4] = number;
      }
    }
  };
}

/** Where a lane reaches memory that has a bit per byte: "at tile + 8 in shared memory". */
export function reachedClause(access: Access, lane: number, location: number): string {
  const { reach, launch, machine } = access;
  const kind = reach.kind === KIND.mixed ? reach.kinds[lane] : reach.kind;
  const base = bytesOf(access, lane)?.base ?? 0;
  const laneBytes = machine.views.u32[(machine.warp.registerFile + HEADER.localBytes) >>> 2] ?? 1;
  return kind === KIND.shared
    ? `at ${describeShared(launch, location - base)}`
    : `at ${describeLocal(launch, (location - base) % laneBytes)}`;
}

function clauseOf(
  access: Access,
  what: string,
  lane: number,
  location: number,
  first: number,
): string {
  const which = first === location
    ? "which nothing has written"
    : `whose byte ${first - location} nothing has written`;
  return `${what} ${reachedClause(access, lane, location)}, ${which}`;
}

/** Bits of a lane's element that are undefined, byte by byte. */
function undefinedBytes(
  u8: Uint8Array,
  w: number,
  { row, bits }: Shadow,
  lane: number,
  count: number,
): Uint8Array {
  const from = (w >>> 0) + row + Math.max(4, bits / 8) * lane;
  return u8.subarray(from, from + count);
}

/** Deals with undefined values that lanes store; to be called after the access has been checked. */
export type CarryStore = (w: number, mask: number) => void;

/** For a store of elements; undefined if no register has a shadow. */
export function carryStore(
  context: HandlerContext,
  elements: readonly ShadowElement[],
): CarryStore | undefined {
  const watched = elements.flatMap(({ shadow, ...rest }) =>
    shadow === undefined ? [] : [{ ...rest, shadow }]
  );
  if (watched.length === 0) return undefined;
  const { machine, site } = context;
  const access = accessOf(machine);
  const { shadows, reach } = access;
  let beside: readonly ShadowElement[] | undefined;
  const elementsBeside = (): readonly ShadowElement[] => {
    const values = context.copiedBeside?.();
    if (values === undefined) return [];
    const others = values.flatMap(({ value, bytes }) =>
      shadowElements(context, value, bytes, false)
    );
    return [...elements, ...others];
  };
  /** Whether a value that is undefined as a whole is stored, or copied, together with bytes that are defined. */
  const isBesideDefined = (w: number, lane: number): boolean => {
    beside ??= elementsBeside();
    return beside.some((element) => hasDefined(machine.views, w, element, lane));
  };
  return (w, mask) => {
    const { views } = machine;
    for (const { shadow, at, bytes } of watched) {
      const lanes = undefinedLanes(views, w, shadow, mask);
      if (lanes === 0) continue;
      const origin = views.i32[(w + shadow.word + SHADOW.origin) >>> 2] ?? 0;
      // Lanes in turn, as memory has the value of the last one.
      for (let m = mask; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        const found = bytesOf(access, lane);
        const isUndefined = ((lanes >>> lane) & 1) === 1;
        if (found === undefined) {
          if (!isUndefined) continue;
          const bits = undefinedBytes(views.u8, w, shadow, lane, bytes);
          const line = views.i32[(w + shadow.word + SHADOW.line) >>> 2] ?? 0;
          const isCopy = shadows.origins[origin]?.kind === "memory" &&
            shadows.assignments[line]?.copies === true;
          if (bits.every((byte) => byte === 0)) continue;
          // Whole bytes of a copy of memory, beside bytes that are defined, are the padding of a structure.
          const isWhole = bits.every((byte) => byte === 0 || byte === 0xff);
          if (isCopy && isWhole && (bits.includes(0) || isBesideDefined(w, lane))) continue;
          const use = "it is stored to global memory";
          failUndefined(machine, shadows, w, shadow, lane, use, site);
          continue;
        }
        const location = (reach.locations[lane] ?? 0) + at;
        const offset = location - found.base;
        setWritten(found.bytes, offset, bytes);
        if (!isUndefined) continue;
        undefinedBytes(views.u8, w, shadow, lane, bytes).forEach((bits, i) => {
          if (bits === 0) return;
          unsetWritten(found.bytes, offset + i);
          noteStored(shadows, location + i, { bits, origin, owner: found.owner });
        });
      }
    }
  };
}

/** Whether a lane's element has a byte that is defined. */
function hasDefined(
  views: Views,
  w: number,
  { shadow, bytes }: ShadowElement,
  lane: number,
): boolean {
  if (shadow === undefined || undefinedLanes(views, w, shadow, 1 << lane) === 0) return true;
  return undefinedBytes(views.u8, w, shadow, lane, bytes).includes(0);
}

/** Notes that the bytes which lanes reach hold something, or that they hold nothing. */
export function markBytes(
  { machine }: HandlerContext,
  lanes: number,
  bytes: number,
  holds: boolean,
): void {
  const access = accessOf(machine);
  for (let m = lanes; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const found = bytesOf(access, lane);
    if (found === undefined) continue;
    const offset = (access.reach.locations[lane] ?? 0) - found.base;
    if (holds) setWritten(found.bytes, offset, bytes);
    else for (let i = 0; i < bytes; i++) unsetWritten(found.bytes, offset + i);
  }
}

/** Makes a register undefined in lanes whose value comes from lanes that take no part. */
export function carryAbsent(
  context: HandlerContext,
  shadow: Shadow,
): (w: number, lanes: number) => void {
  const { machine, site } = context;
  const { shadows } = accessOf(machine);
  const number = addAssignment(shadows, site, false);
  const origin = addOrigin(shadows, { kind: "lane", site });
  return (w, lanes) => {
    shadows.flag.value = 1;
    const { i32 } = machine.views;
    const word = (w + shadow.word) >>> 2;
    i32[word] = (i32[word] ?? 0) | lanes;
    i32[word + SHADOW.origin / 4] = origin;
    i32[word + SHADOW.line / 4] = number;
    for (let m = lanes; m !== 0; m &= m - 1) i32[((w + shadow.row) >>> 2) + lowestLane(m)] = -1;
  };
}
