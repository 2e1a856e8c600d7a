/**
 * Tiles whose rows are rotated by an amount known at run time only (layout/rows/rotate.ts says what for): position i along
 * the axis is element (i - shift) mod extent.
 */
import type { Operand } from "../../ptx/func.ts";
import { bytesOf } from "../../ir/types.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { axisShifts, freeMask, type LinearLayout, log2, ofAxis } from "../../linear/linear.ts";
import { rotatedPitch } from "../../layout/rows/rotate.ts";
import type { LowerContext } from "../context.ts";
import { atRegister, ownerPredicate } from "../addresses.ts";
import { lowered, memo, ofRegister, setElements } from "../values.ts";
import { blockCopyBits, threadBases } from "../../linear/threads.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { accessShape, packAccess, type Ref, unpackAccess, vectorOf, whole } from "../element.ts";
import { int } from "../emitter.ts";
import { beginExchange, programBarrier } from "../memory/shared.ts";
import { times } from "../../support/times.ts";

/** A coordinate of a layout's elements, as images of register and thread bits. */
export interface Coordinate {
  readonly register: readonly number[];
  readonly thread: readonly number[];
}

/** Index along an axis, and row-major index over all other axes. */
export function splitIndex(
  layout: LinearLayout,
  axis: number,
): { along: Coordinate; outer: Coordinate } {
  const shift = axisShifts(layout.shape)[axis] ?? 0;
  const bits = log2(layout.shape[axis] ?? 1);
  const map = (f: (basis: number) => number): Coordinate => ({
    register: layout.register.map(f),
    thread: threadBases(layout).map(f),
  });
  return {
    along: map((basis) => (basis >> shift) & ((1 << bits) - 1)),
    outer: map((basis) => ((basis >> (shift + bits)) << shift) | (basis & ((1 << shift) - 1))),
  };
}

/** Index along the axis of the element that a register of the rotated tile holds. */
function rotatedIndex(
  cx: LowerContext,
  op: OpOf<"rotate" | "rotated_range">,
  layout: LinearLayout,
  shift: Value,
  register: number,
): Operand {
  const e = cx.emitter;
  const { axis, bound } = op.attrs;
  const { base, constant } = atRegister(cx, splitIndex(layout, axis).along, register);
  const by = whole(e, lowered(cx, shift)(register), shift.type.element);
  const start = e.pure("sub.s32", "b32", [e.inRegister(base, "b32"), by]);
  const index = e.add("b32", start, int(constant));
  // Positions from the bound on stay where they are in the row.
  return constant >= bound
    ? index
    : e.pure("and.b32", "b32", [index, int(ofAxis(layout.shape, axis) - 1)]);
}

export function lowerRotatedRange(cx: LowerContext, op: OpOf<"rotated_range">): void {
  const layout = layoutOf(resultOf(op));
  const { amount } = operandsOf(op);
  const lo = int(BigInt(op.attrs.lo));
  cx.values.set(
    resultOf(op),
    memo(
      cx,
      (register) => cx.emitter.add("b32", rotatedIndex(cx, op, layout, amount, register), lo),
    ),
  );
}

export function lowerRotate(cx: LowerContext, op: OpOf<"rotate">): void {
  const e = cx.emitter;
  const { value: source, amount } = operandsOf(op);
  const [src, dst] = [layoutOf(source), layoutOf(resultOf(op))];
  const { element } = source.type;
  const { axis } = op.attrs;
  const bytes = bytesOf(element);
  const pitch = rotatedPitch(ofAxis(src.shape, axis), bytes);
  const start = beginExchange(cx, op);
  const access = accessShape(bytes, 1);
  /** base * scale + constant * scale, so that registers share what they can. */
  const scaled = (value: Operand, scale: number): Operand => {
    const { base, constant } = value.kind === "integer"
      ? { base: int(0), constant: value.value }
      : e.sumOf(value);
    return e.add("b32", e.mul("b32", base, int(scale)), int(constant * BigInt(scale)));
  };
  const at = ({ base, constant }: ReturnType<typeof atRegister>): Operand =>
    e.add("b32", base, int(constant));
  const address = (row: Operand, index: Operand): Operand =>
    e.address(e.add("b32", e.add("b32", start, scaled(row, pitch)), scaled(index, bytes)));

  const from = splitIndex(src, axis);
  const owner = ownerPredicate(cx, blockCopyBits(src));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  for (const register of distinct(src)) {
    const packed = vectorOf(packAccess(e, [lowered(cx, source)(register)], element));
    const row = at(atRegister(cx, from.outer, register));
    const index = at(atRegister(cx, from.along, register));
    e.emit(`st.shared.${access.type}`, [address(row, index), packed], guard);
  }
  programBarrier(cx);
  const to = splitIndex(dst, axis);
  const refs: Ref[] = [];
  for (const register of distinct(dst)) {
    const result = e.register(access.bank);
    const row = at(atRegister(cx, to.outer, register));
    const index = rotatedIndex(cx, op, dst, amount, register);
    e.emit(`ld.shared.${access.type}`, [result, address(row, index)]);
    refs[register] = ofRegister(unpackAccess(e, [result], element, 1), 0);
  }
  const free = freeMask(dst.register);
  setElements(cx, resultOf(op), refs, free);
}

/** Registers that are no copies of others. */
function distinct(layout: LinearLayout): number[] {
  const free = freeMask(layout.register);
  return times(1 << layout.register.length, (register) => register)
    .filter((register) => (register & free) === 0);
}
