/** Slices of a tile along an axis: their layouts, and which registers of the whole they are. */
import { axisShifts, type LinearLayout, ofAxis, unbroadcastLayout } from "../linear/linear.ts";
import type { OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { must } from "../support/bug.ts";

/**
 * The layout of each slice of a tile, where every thread has its part of each of them: the bits that number slices
 * count registers. Undefined where they do not.
 */
export function sliceLayout(
  layout: LinearLayout,
  shape: readonly number[],
): LinearLayout | undefined {
  const slices = sliceBits(layout, shape);
  if (slices === undefined) return undefined;
  const part = unbroadcastLayout(layout, shape);
  return { ...part, register: part.register.filter((_, bit) => !slices.includes(bit)) };
}

/** A layout of a whole tile whose slices have this layout: each thread has its part of all of them. */
export function unsliceLayout(layout: LinearLayout, shape: readonly number[]): LinearLayout {
  const [from, to] = [axisShifts(layout.shape), axisShifts(shape)];
  const moved = (basis: number): number =>
    layout.shape.reduce((sum, extent, axis) => {
      const along = (basis >> ofAxis(from, axis)) & (extent - 1);
      return sum | (along << ofAxis(to, axis));
    }, 0);
  const { register, lane, warp, block } = layout;
  return {
    shape,
    register: [...numberingBits(shape, layout.shape), ...register.map(moved)],
    lane: lane.map(moved),
    warp: warp.map(moved),
    block: block.map(moved),
  };
}

/** Bits of the whole's index that number slices of a shape, the lowest first. */
function numberingBits(whole: readonly number[], shape: readonly number[]): number[] {
  const shifts = axisShifts(whole);
  return whole.flatMap((extent, axis) => {
    const bits: number[] = [];
    for (let step = must(shape[axis], "extent"); step < extent; step *= 2) {
      bits.push(step << ofAxis(shifts, axis));
    }
    return bits;
  });
}

/** The register bits that number slices, the lowest first. */
function sliceBits(
  { shape: whole, register, lane, warp, block }: LinearLayout,
  shape: readonly number[],
): number[] | undefined {
  const numbering = numberingBits(whole, shape);
  const mask = numbering.reduce((sum, bit) => sum | bit, 0);
  const isElsewhere = (basis: number): boolean =>
    (basis & mask) !== 0 && !numbering.includes(basis);
  if ([...lane, ...warp, ...block].some((basis) => (basis & mask) !== 0)) return undefined;
  if (register.some(isElsewhere)) return undefined;
  const bits = numbering.map((bit) => register.indexOf(bit));
  return bits.includes(-1) ? undefined : bits;
}

/** The register of the whole tile that a register of a slice is, which begins at element `first` of the axis. */
export function sliceRegister(
  layout: LinearLayout,
  shape: readonly number[],
  first: number,
): (register: number) => number {
  const axis = layout.shape.findIndex((extent, i) => extent !== shape[i]);
  const slices = must(sliceBits(layout, shape), "slices in registers");
  const number = axis < 0 ? 0 : first / must(shape[axis], "extent");
  const start = slices.reduce((at, bit, i) => at | (((number >> i) & 1) << bit), 0);
  const kept = layout.register.flatMap((_, bit) => slices.includes(bit) ? [] : [bit]);
  return (register) => kept.reduce((at, bit, i) => at | (((register >> i) & 1) << bit), start);
}

/** Whether elements are repeated along a last axis of two, as those of tiles that are joined. */
export function isPaired(op: OpOf<"broadcast">): boolean {
  const { shape } = operandsOf(op).value.type;
  const to = resultOf(op).type.shape;
  return shape.at(-1) === 1 && to.at(-1) === 2 && shape.slice(0, -1).every((n, i) => n === to[i]);
}
