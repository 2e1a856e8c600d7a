/**
 * Linear layouts over F2: the only notion of layout in tri.
 *
 * A layout says which element of a tile each (register, lane, warp, block) of a program holds. Shapes are powers
 * of two, so an element is named by the bits of its row-major index, and a layout is a linear map from the bits
 * of the hardware coordinate to the bits of that index: the image of a coordinate is the exclusive or of the
 * images of its bits. One integer per input bit, its *basis*, is the whole layout.
 *
 * Example: a float tile [4, 8], two registers, eight lanes used as 4 rows of 2, one warp.
 *
 *     index bits   c0 c1 c2 | r0 r1          (column bits are the low ones)
 *     register     [1]                        register bit 0 moves one column
 *     lane         [2, 4, 8, 16, 0]           lane bits 0, 1 move 2 and 4 columns, bits 2, 3 move 1 and 2 rows
 *     warp         []                         lane bit 4 moves nothing: lanes 16–31 hold copies
 *     block        []                         a program of one block
 *
 * Register 1 of lane 5 holds element 1 ^ 2 ^ 8 = 11: row 1, column 3. A basis of 0 means replication. A tile's
 * layout must reach every element (be surjective).
 *
 * Operations on shapes are operations on bits: a row-major reshape changes nothing, a transposition permutes the
 * bits of every basis, a broadcast forgets some. See Zhou et al., "Linear Layouts: Robust Code Generation of
 * Efficient Tensor Computation Using F2", 2025.
 */
import { bug } from "../support/bug.ts";

/** Hardware coordinates, minor to major. */
export const INPUTS = ["register", "lane", "warp", "block"] as const;
export type Input = typeof INPUTS[number];

export interface LinearLayout {
  /** Shape of the tile; extents are powers of two. */
  readonly shape: readonly number[];
  readonly register: readonly number[];
  /** Always five: a warp has 32 lanes. */
  readonly lane: readonly number[];
  readonly warp: readonly number[];
  /** Of the blocks of a cluster; empty where a program is one block. */
  readonly block: readonly number[];
}

/** Base-2 logarithm of a power of two. */
export function log2(value: number): number {
  const bits = 31 - Math.clz32(value);
  if (value !== 2 ** bits) bug(`${value} is not a power of two`);
  return bits;
}

export function product(extents: readonly number[]): number {
  return extents.reduce((a, b) => a * b, 1);
}

/** What a list with an entry for each axis has for one. The axes of operations are those of their types: the verifier sees to it. */
export function ofAxis<T>(list: readonly T[], axis: number): T {
  return list[axis] ?? bug(`no axis ${axis} of ${list.length}`);
}

/** Position of the lowest index bit of each axis; the last axis is minor. */
export function axisShifts(shape: readonly number[]): number[] {
  const shifts = new Array<number>(shape.length).fill(0);
  let shift = 0;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    shifts[axis] = shift;
    shift += log2(shape[axis] ?? 1);
  }
  return shifts;
}

/** Bits of the flat index: log2 of the element count. */
export function indexBits(shape: readonly number[]): number {
  return log2(product(shape));
}

/** Exclusive or of the bases that the bits of `coordinate` select. */
export function applyBases(bases: readonly number[], coordinate: number): number {
  let image = 0;
  for (let bit = 0; bit < bases.length; bit++) {
    if ((coordinate >> bit) & 1) image ^= bases[bit] ?? 0;
  }
  return image;
}

/** Flat row-major index of the element at a hardware coordinate. */
export function elementAt(
  layout: LinearLayout,
  register: number,
  lane: number,
  warp: number,
  block = 0,
): number {
  return applyBases(layout.register, register) ^ applyBases(layout.lane, lane) ^
    applyBases(layout.warp, warp) ^ applyBases(layout.block, block);
}

/** A layout of another shape: `f` gives the index there of a basis here. */
export function mapBases(
  layout: LinearLayout,
  shape: readonly number[],
  f: (basis: number) => number,
): LinearLayout {
  return {
    shape,
    register: layout.register.map(f),
    lane: layout.lane.map(f),
    warp: layout.warp.map(f),
    block: layout.block.map(f),
  };
}

/** The same coordinates in a shape with other extents. */
export function moveShape(layout: LinearLayout, shape: readonly number[]): LinearLayout {
  const [from, to] = [axisShifts(layout.shape), axisShifts(shape)];
  return mapBases(layout, shape, (basis) =>
    layout.shape.reduce(
      (image, extent, axis) =>
        image | (((basis >> (from[axis] ?? 0)) & (extent - 1)) << (to[axis] ?? 0)),
      0,
    ));
}

/** Layout of `permute(x, order)` when x has `layout`: no data moves, axes are renamed. */
export function permuteLayout(layout: LinearLayout, order: readonly number[]): LinearLayout {
  const shape = order.map((axis) => layout.shape[axis] ?? bug("permutation beyond rank"));
  const from = axisShifts(layout.shape);
  const to = axisShifts(shape);
  return mapBases(layout, shape, (basis) => {
    let image = 0;
    order.forEach((source, target) => {
      const part = (basis >> (from[source] ?? 0)) & ((shape[target] ?? 1) - 1);
      image |= part << (to[target] ?? 0);
    });
    return image;
  });
}

/** The order that undoes a permutation. */
export function invertOrder(order: readonly number[]): number[] {
  const inverse = new Array<number>(order.length).fill(0);
  order.forEach((source, target) => inverse[source] = target);
  return inverse;
}

/** The same elements under another shape of equal count: row-major indices do not change. */
export function reshapeLayout(layout: LinearLayout, shape: readonly number[]): LinearLayout {
  if (product(shape) !== product(layout.shape)) bug("reshape to another element count");
  return { ...layout, shape };
}

/**
 * Layout that the operand of a broadcast needs so that the result has `layout`: bits of the stretched axes are
 * forgotten, and what becomes 0 is a copy.
 */
export function unbroadcastLayout(
  layout: LinearLayout,
  operandShape: readonly number[],
): LinearLayout {
  const from = axisShifts(layout.shape);
  const to = axisShifts(operandShape);
  return mapBases(layout, operandShape, (basis) => {
    let image = 0;
    operandShape.forEach((extent, axis) => {
      if (extent === 1) return;
      image |= ((basis >> (from[axis] ?? 0)) & (extent - 1)) << (to[axis] ?? 0);
    });
    return image;
  });
}

export function sameLayout(a: LinearLayout, b: LinearLayout): boolean {
  return a === b ||
    sameList(a.shape, b.shape) && INPUTS.every((input) => sameList(a[input], b[input]));
}

/** Whether two lists have the same elements. */
function sameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

/** Keys of layouts, which are shared by thousands of values of a long kernel. */
const KEYS = new WeakMap<LinearLayout, string>();

/** A string that is equal for equal layouts. */
export function layoutKey(layout: LinearLayout): string {
  const known = KEYS.get(layout);
  if (known !== undefined) return known;
  const key = `${layout.shape}|${layout.register}|${layout.lane}|${layout.warp}|${layout.block}`;
  KEYS.set(layout, key);
  return key;
}

/** Bits of a hardware coordinate whose basis is 0: copies. */
export function freeMask(bases: readonly number[]): number {
  return bases.reduce((mask, basis, bit) => basis === 0 ? mask | (1 << bit) : mask, 0);
}

/**
 * Names of index bits for people: `a0`, `a1` … along axis 0, `b0` … along axis 1; a basis with several bits is
 * a sum, a copy is `-`.
 */
export function spellBasis(basis: number, shape: readonly number[]): string {
  if (basis === 0) return "-";
  const shifts = axisShifts(shape);
  const bits: string[] = [];
  for (let axis = 0; axis < shape.length; axis++) {
    const count = log2(shape[axis] ?? 1);
    for (let bit = 0; bit < count; bit++) {
      if ((basis >> ((shifts[axis] ?? 0) + bit)) & 1) {
        bits.push(`${String.fromCharCode(97 + axis)}${bit}`);
      }
    }
  }
  return bits.join("^");
}

/** `register(b0 b1) lane(b2 b3 a0 a1 -) warp(a2)`, and `block(b4)` behind it where a program has several. */
export function spellLayout(layout: LinearLayout): string {
  return INPUTS.filter((input) => input !== "block" || layout.block.length > 0).map((input) =>
    `${input}(${layout[input].map((basis) => spellBasis(basis, layout.shape)).join(" ")})`
  ).join(" ");
}
