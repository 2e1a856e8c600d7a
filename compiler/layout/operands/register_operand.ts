/**
 * Dots of warp groups whose left operand comes from registers. Descriptors of `wgmma` name operands whose elements lie
 * along k, or across it if they have two bytes; others lie across k in their slots, and threads read them from there as
 * fragments. The instruction takes only its left operand so. A dot whose right operand lies across k is turned first
 * (turn_dots.ts): its result transposed is the product of the operands transposed.
 *
 * Which rows of the result belong to which lanes is free, since the layout of the result says it. They are dealt out so
 * that a thread reads neighbours at once, and that the lanes of an access are in different banks.
 */
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import { axisShifts, type LinearLayout, log2 } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import type { Target } from "../../targets.ts";
import { dividesGroups, GROUP_ROWS, groupType, WARP_BITS } from "../warp_group.ts";
import { times } from "../../support/times.ts";

/** Whether an operand must lie along k for descriptors to name it. */
const wantsDepth = (value: Value): boolean => groupType(value)?.isEitherOrder === false;

/** Whether warp groups can do a dot with a from registers, whose elements lie across k; `alongK` as of `suitsWarpGroups`. */
export function suitsRegisters(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  [aAlongK, bAlongK]: readonly [boolean, boolean],
): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  return !aAlongK && bAlongK && wantsDepth(a) &&
    dividesGroups(dot, [m, b.type.shape[1] ?? 0], numWarps, target);
}

/** The same for the dot turned. */
export function suitsTurned(
  dot: OpOf<"dot">,
  numWarps: number,
  target: Target,
  [aAlongK, bAlongK]: readonly [boolean, boolean],
): boolean {
  const { a, b } = operandsOf(dot);
  const [m = 0] = a.type.shape;
  return aAlongK && !bAlongK && wantsDepth(b) &&
    dividesGroups(dot, [b.type.shape[1] ?? 0, m], numWarps, target);
}

/** Bits of a row's number: of lanes, registers and warps in a fragment of m64, and of a second one of the thread. */
const ROW_BITS = log2(GROUP_ROWS);

/**
 * The bits of the rows that stand in the places of bits 0, 1, 2 … of a fragment: three of lanes, one of registers, two of
 * warps, and one of a second fragment of the thread, if it has any.
 *
 * Rows are neighbours in a line of 128 bytes, whose chunks of 16 bytes are exchanged by the line's number, k. Elements of
 * four bytes are read as vectors: neighbours are in registers, the lanes of k exchange the two low bits of chunks, and
 * the other lanes of a phase are rows that fill the other banks. Those of one byte are read by `ldmatrix`: 16 neighbours
 * are a row of a matrix, one of four lanes and two registers.
 */
function rowOrder(bytes: number, isDeep: boolean): readonly number[] {
  if (bytes === 1) return [1, 2, 3, 0, 4, 5];
  return isDeep ? [4, 2, 3, 0, 5, 6, 1] : [1, 4, 2, 0, 3, 5];
}

/** A layout of rows by columns with its rows dealt out; their bits are those of an index from `rowShift` on. */
export function dealRows(
  layout: LinearLayout,
  bytes: number,
  rowShift: number,
): LinearLayout {
  const isDeep = layout.register.includes(1 << (rowShift + ROW_BITS));
  const order = rowOrder(bytes, isDeep);
  const low = order.reduce((mask, _, bit) => mask | (1 << (rowShift + bit)), 0);
  const dealt = (basis: number): number => {
    let image = basis & ~low;
    order.forEach((to, bit) => {
      if (((basis >> (rowShift + bit)) & 1) === 1) image |= 1 << (rowShift + to);
    });
    return image;
  };
  const { shape, register, lane, warp, block } = layout;
  return {
    shape,
    register: register.map(dealt),
    lane: lane.map(dealt),
    warp: warp.map(dealt),
    block,
  };
}

/** Whether the warps of a dot's result are those of {@linkcode dealRows}, of rows of so many bytes. */
export function areRowsDealt(
  dot: OpOf<"dot">,
  bytes: number = bytesOf(operandsOf(dot).a.type.element),
): boolean {
  const { sum } = operandsOf(dot);
  const { layout, shape } = sum.type;
  const n = must(shape[1], "columns");
  return [false, true].some((isDeep) => {
    const order = rowOrder(bytes, isDeep);
    return WARP_BITS.every((bit, i) => layout?.warp[i] === n << must(order[bit], "bit of a row"));
  });
}

/**
 * The layout in which threads read the left operand from a slot: words of elements along k, as the fragments of
 * `wgmma` (PTX ISA 9.0, 9.7.15.5.1.1), one for each step along k and, above those, for each 64 rows of a thread's result.
 */
export function leftFragments(
  { shape, element }: IrType,
  depthAxis: number,
  result: LinearLayout,
): LinearLayout {
  const shifts = axisShifts(shape);
  const at = (axis: number, bit: number): number => 1 << (must(shifts[axis], "shift") + bit);
  const columns = log2(must(result.shape[1], "columns"));
  const row = (basis: number): number =>
    basis >> columns === 0 ? 0 : at(1 - depthAxis, log2(basis >> columns));
  const k = (bit: number): number => at(depthAxis, bit);
  const word = log2(4 / bytesOf(element));
  const depth = log2(must(shape[depthAxis], "extent along k"));
  const [, eighth = 0, ...others] = result.register;
  const [, , ...lanes] = result.lane;
  const bits = (from: number, to: number): number[] => times(to - from, (i) => k(from + i));
  return {
    shape,
    register: [
      ...bits(0, word),
      row(eighth),
      ...bits(word + 2, depth),
      ...others.map(row).filter((basis) => basis !== 0),
    ],
    lane: [k(word), k(word + 1), ...lanes.map(row)],
    warp: result.warp.map(row),
    block: [],
  };
}
