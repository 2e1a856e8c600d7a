/**
 * Rotated stores: rows of unknown alignment, stored so that each access of a warp covers whole sectors.
 *
 * A warp that stores 32 neighbouring elements of an unaligned row writes parts of the first and the last sector it
 * touches, and so does the next one: L2 gets each such sector twice, in parts. So each row is rotated at run time:
 * with s = how many elements after a boundary of one access the row starts, position i of the layout stores element
 * (i - s) mod n. Then only the first access of a row, which also stores the row's last s elements, has partly
 * written sectors. Every s gives each element to exactly one position, so what is stored does not depend on s.
 *
 * Of narrow elements, positions are those of words, and s is less than a line: position i begins with element
 * (i - s) mod n of its row, and one word of a row, which has elements of both its ends, is stored element by element.
 *
 * Masks come from indices alone and are computed again for the rotated positions; data is exchanged through shared memory in
 * any case where this is done, and is read there at the rotated position (`rotate`).
 * On an H200 an 8191 x 8193 transposition gained 5 % (float) to 6 % (half); see tests/gpu/results/transposition.md.
 */
import type { AxisInfo } from "../../tile/axis.ts";
import { type Func, newOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { type Element, pointeeBytes } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import { vectorAlong, WORD_BYTES } from "../anchors.ts";
import { axisShifts, type LinearLayout, product } from "../../linear/linear.ts";
import { times } from "../../support/times.ts";
import { Expansion, maker, rowPointers, rowStarts, shiftOf } from "./expansion.ts";

/**
 * Bytes that one access of a warp covers, where rotation pays: at 32 (bytes) and 256 (doubles), an H200 was no faster
 * or slower.
 */
const ACCESS_BYTES: readonly number[] = [64, 128];
/** Rows shorter than this many accesses have too little between their ends. */
export const LEAST_ACCESSES = 2;
/** From here on nothing is gained: sectors of L2 (and of memory) are written whole. */
const SECTOR_BYTES = 32;
/** Of a line of L2. Accesses of words that begin at sectors only were slower by 1 %, at words by 7 % (H200). */
const LINE_BYTES = 128;

/** How the rows of a store are rotated: along which axis, and by less than how many elements. */
export interface Rotation {
  readonly axis: number;
  readonly bound: number;
  /** By words of narrow elements (word_rows.ts). */
  readonly words: boolean;
}

/** Whether each thread holds whole words of elements along an axis. */
export function holdsWords(layout: LinearLayout, axis: number, elementBytes: number): boolean {
  return wordRegisters(layout, axis, elementBytes).every((bit) => bit >= 0);
}

/** The register bits that count the elements of a word along an axis; -1 where there is none. */
export const wordRegisters = (
  layout: LinearLayout,
  axis: number,
  elementBytes: number,
): readonly number[] => runRegisters(layout, axis, WORD_BYTES / elementBytes);

/** The same of so many elements. */
export function runRegisters(
  layout: LinearLayout,
  axis: number,
  elements: number,
): readonly number[] {
  const shift = axisShifts(layout.shape)[axis] ?? 0;
  return times(Math.log2(elements), (bit) => layout.register.indexOf(1 << (shift + bit)));
}

/** Bytes of shared memory between the starts of rows: the banks of neighbouring rows differ by one. */
export function rotatedPitch(extent: number, elementBytes: number): number {
  return extent * elementBytes + Math.max(4, elementBytes);
}

/** Bytes of shared memory that the rotation of a tile needs. */
export function rotatedBytes(shape: readonly number[], axis: number, elementBytes: number): number {
  const extent = must(shape[axis], "extent of a rotated axis");
  return (product(shape) / extent) * rotatedPitch(extent, elementBytes);
}

/** How the rows of a store in `layout` should be rotated, if they should. */
export function rotationOf(
  store: OpOf<"store">,
  layout: LinearLayout,
  axisInfo: (value: Value) => AxisInfo,
): Rotation | undefined {
  const { pointer } = operandsOf(store);
  const bytes = pointeeBytes(pointer);
  const { contiguity, divisibility } = axisInfo(pointer);
  const { words } = store.attrs;
  /** Elements that a thread stores at once. */
  const run = words === undefined ? 1 : WORD_BYTES / bytes;
  const access = 32 * run * bytes;
  if (!ACCESS_BYTES.includes(access)) return undefined;
  for (const [axis, extent] of layout.shape.entries()) {
    if (words !== undefined && axis !== words) continue;
    const isUnalignedRow = (contiguity[axis] ?? 1) >= extent &&
      (divisibility[axis] ?? 1) < SECTOR_BYTES && vectorAlong(store, axis, axisInfo) === 1;
    const shift = axisShifts(layout.shape)[axis] ?? 0;
    const isAlongLanes = layout.lane.every((basis, bit) => basis === run << (shift + bit));
    if (isUnalignedRow && isAlongLanes && extent * bytes >= LEAST_ACCESSES * access) {
      const bound = words === undefined ? 32 : LINE_BYTES / bytes;
      return { axis, bound, words: words !== undefined };
    }
  }
  return undefined;
}

/** The rotated store, the operations made for it, and its rotated data. */
export interface RotatedStore {
  readonly store: OpOf<"store">;
  readonly ops: readonly Op[];
  readonly data: Value;
}

/** Rotates a store; undefined if its pointers or its mask depend on more than indices. */
export function rotateStore(
  func: Func,
  store: OpOf<"store">,
  rotation: Rotation,
): RotatedStore | undefined {
  const { axis, bound } = rotation;
  const { pointer, value, mask, inside, rows } = operandsOf(store);
  const { shape } = pointer.type;
  const ops: Op[] = [];
  const make = maker(func, store.span, ops);

  const first = rowStarts(make, pointer, axis);
  if (first === undefined) return undefined;
  const shift = shiftOf(make, first, bound);

  const index = (element: Element, lo: number | bigint): Value =>
    make("rotated_range", [shift], element, shape, { lo, axis, bound });
  const pointers = rowPointers(make, first, index("int32", 0n));
  const masks = mask && new Expansion(make, shape, index, axis).of(mask);
  if (mask !== undefined && masks === undefined) return undefined;
  const words = rotation.words ? { words: true } : {};
  const data = make("rotate", [value, shift], value.type.element, shape, { axis, bound, ...words });
  const operands = [pointers, data, masks, inside, rows].filter((one) => one !== undefined);
  const attrs = rotation.words ? { ...store.attrs, aligned: true } : store.attrs;
  return { store: newOp(func, "store", operands, [], store.span, attrs), ops, data };
}
