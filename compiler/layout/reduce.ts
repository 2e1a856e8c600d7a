/**
 * Layouts along one axis, for reductions and scans: which hardware bits walk along it, and what is left of a layout
 * when it is gone.
 *
 * Both need each hardware bit to belong to the axis alone or to the other axes alone. Blocked layouts and those of
 * tensor cores are so; a layout that is not is changed first.
 */
import { bug, must } from "../support/bug.ts";
import {
  axisShifts,
  type Input,
  INPUTS,
  type LinearLayout,
  log2,
  product,
} from "../linear/linear.ts";

/** A hardware bit that moves along an axis, by a power of two. */
export interface AxisBit {
  readonly input: Input;
  /** Number of the register, lane, warp or block bit. */
  readonly bit: number;
  /** Base-2 logarithm of the step along the axis. */
  readonly step: number;
}

/** The bits of the flat index that count along an axis. */
function axisMask(shape: readonly number[], axis: number): { shift: number; mask: number } {
  const shift = must(axisShifts(shape)[axis], "axis of a shape");
  return { shift, mask: ((shape[axis] ?? 1) - 1) << shift };
}

/** Every hardware bit moves one bit of the axis, or the other axes, or nothing. */
export function isSeparable(layout: LinearLayout, axis: number): boolean {
  const { mask } = axisMask(layout.shape, axis);
  const isSingle = (value: number): boolean => (value & (value - 1)) === 0;
  const bases = INPUTS.flatMap((input) => layout[input]);
  const along = bases.filter((basis) => (basis & mask) !== 0);
  return along.every((basis) => (basis & ~mask) === 0 && isSingle(basis)) &&
    along.length === log2(layout.shape[axis] ?? 1);
}

/** The hardware bits that move along the axis, smallest step first. */
export function axisBits(layout: LinearLayout, axis: number): readonly AxisBit[] {
  if (!isSeparable(layout, axis)) bug("hardware bits that move along several axes");
  const { shift, mask } = axisMask(layout.shape, axis);
  return INPUTS.flatMap((input) =>
    layout[input].flatMap((basis, bit): AxisBit[] =>
      (basis & mask) === 0 ? [] : [{ input, bit, step: log2(basis >> shift) }]
    )
  ).sort((a, b) => a.step - b.step);
}

/** Register bits that distinguish elements after the reduction. */
export function keptRegisterBits(layout: LinearLayout, axis: number): readonly number[] {
  const { mask } = axisMask(layout.shape, axis);
  return [...layout.register.keys()].filter((bit) => {
    const basis = layout.register[bit] ?? 0;
    return basis !== 0 && (basis & mask) === 0;
  });
}

/** Bases of a layout as steps along an axis: what is left is the index along it. */
export function alongAxis(layout: LinearLayout, axis: number): LinearLayout {
  const { shift, mask } = axisMask(layout.shape, axis);
  const along = (basis: number): number => (basis & mask) >> shift;
  return {
    shape: [layout.shape[axis] ?? 1],
    register: layout.register.map(along),
    lane: layout.lane.map(along),
    warp: layout.warp.map(along),
    block: layout.block.map(along),
  };
}

/**
 * Layout of a reduction along an axis: lanes, warps and blocks that moved along it hold copies, registers that did are
 * gone. For the last axis the shape is empty, and every thread holds the scalar.
 */
export function reducedLayout(layout: LinearLayout, axis: number): LinearLayout {
  const { shift } = axisMask(layout.shape, axis);
  const width = log2(layout.shape[axis] ?? 1);
  const without = (basis: number): number =>
    (basis & ((1 << shift) - 1)) | ((basis >> (shift + width)) << shift);
  return {
    shape: layout.shape.toSpliced(axis, 1),
    register: keptRegisterBits(layout, axis).map((bit) => without(layout.register[bit] ?? 0)),
    lane: layout.lane.map(without),
    warp: layout.warp.map(without),
    block: layout.block.map(without),
  };
}

/** Elements of a tile without an axis. */
export function countWithout(shape: readonly number[], axis: number): number {
  return product(shape.toSpliced(axis, 1));
}
