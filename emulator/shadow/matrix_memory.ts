/** Undefined values that instructions on matrices move between registers and shared memory. */
import type { Operand } from "../../compiler/ptx/func.ts";
import { accessOf } from "../access/state.ts";
import { unsetWritten } from "../check/written.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext } from "../machine.ts";
import { bytesOf, reachedClause, undefinedAt } from "./memory.ts";
import { settleRow, SHADOW, type Shadow, undefinedLanes } from "./shadow_row.ts";
import { failUndefined } from "./report.ts";
import { addAssignment, addOrigin, noteStored } from "./state.ts";

/** Where a byte of a register's row is in memory; undefined where it has none. */
export interface RowByte {
  /** Offset in the row of the register. */
  readonly offset: number;
  /** The lane whose location it belongs to, as the check had them, and the location itself. */
  readonly lane: number;
  readonly location: number;
}

/** Visits the bytes of a register after the locations have been found. */
export type ForEachByte = (register: number, visit: (byte: RowByte) => void) => void;

const elementsOf = (operand: Operand): readonly Operand[] =>
  operand.kind === "vector" ? operand.elements : [operand];

/** Makes what was loaded from bytes that hold nothing undefined, in all lanes. */
export function carryMatrixLoad(
  context: HandlerContext,
  operand: Operand,
  verb: string,
  forEachByte: ForEachByte,
): (w: number) => void {
  const { machine, site } = context;
  const access = accessOf(machine);
  const { shadows: state } = access;
  const number = addAssignment(state, site, true);
  let clause = "";
  const own = addOrigin(state, { kind: "memory", site, loaded: () => clause });
  const shadows = elementsOf(operand).map((element) => context.shadow(element));
  return (w) => {
    state.flag.value = 1;
    clause = "";
    const { views } = machine;
    for (const [register, shadow] of shadows.entries()) {
      if (shadow === undefined) continue;
      const row = (w >>> 0) + shadow.row;
      views.u8.fill(0, row, row + LANES * Math.max(4, shadow.bits / 8));
      let origin = own;
      forEachByte(register, ({ offset, lane, location }) => {
        const found = bytesOf(access, lane);
        if (found === undefined) return;
        const byte = undefinedAt(access, found, location);
        if (byte.bits === 0) return;
        views.u8[row + offset] = byte.bits;
        origin = byte.origin ?? origin;
        if (clause !== "") return;
        clause = `${verb} ${reachedClause(access, lane, location)}, which nothing has written`;
      });
      settleRow(views, w, shadow, -1);
      views.i32[(w + shadow.word + SHADOW.origin) >>> 2] = origin;
      views.i32[(w + shadow.word + SHADOW.line) >>> 2] = number;
    }
  };
}

/** Deals with undefined values that all lanes store; undefined if no register has a shadow. */
export function carryMatrixStore(
  context: HandlerContext,
  operand: Operand,
  forEachByte: ForEachByte,
): ((w: number) => void) | undefined {
  const shadows = elementsOf(operand).map((element) => context.shadow(element));
  if (shadows.every((shadow) => shadow === undefined)) return undefined;
  const { machine, site } = context;
  const access = accessOf(machine);
  const { shadows: state } = access;
  const store = (w: number, register: number, shadow: Shadow): void => {
    const { views } = machine;
    const lanes = undefinedLanes(views, w, shadow, -1);
    if (lanes === 0) return;
    const stride = Math.max(4, shadow.bits / 8);
    const origin = views.i32[(w + shadow.word + SHADOW.origin) >>> 2] ?? 0;
    forEachByte(register, ({ offset, lane, location }) => {
      const holder = Math.floor(offset / stride);
      if (((lanes >>> holder) & 1) === 0) return;
      const bits = views.u8[(w >>> 0) + shadow.row + offset] ?? 0;
      if (bits === 0) return;
      const found = bytesOf(access, lane);
      if (found === undefined) {
        const use = "it is stored to global memory";
        failUndefined(machine, state, w, shadow, holder, use, site);
        return;
      }
      unsetWritten(found.bytes, location - found.base);
      noteStored(state, location, { bits, origin, owner: found.owner });
    });
  };
  return (w) => {
    for (const [register, shadow] of shadows.entries()) {
      if (shadow !== undefined) store(w, register, shadow);
    }
  };
}
