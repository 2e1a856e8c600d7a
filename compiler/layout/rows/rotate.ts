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
 * On an H200 an 8191 x 8193 transposition gained 5 % (float) to 6 % (half); see tests/gpu/RESULTS.md.
 */
import type { AxisInfo } from "../../tile/axis.ts";
import {
  type Attrs,
  type Func,
  newOp,
  newUncheckedOp,
  type Op,
  type OpOf,
  type Value,
} from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import type { AttrsOf, BareOp, TileOp } from "../../ir/ops.ts";
import { hasTrait } from "../../ir/table.ts";
import { type Element, isPointer, pointeeBytes } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import type { Span } from "../../support/source.ts";
import { type OnHeap, runOnHeap } from "../../support/on_heap.ts";
import { vectorAlong, WORD_BYTES } from "../anchors.ts";
import { axisShifts, type LinearLayout, product } from "../../linear/linear.ts";
import { times } from "../../support/times.ts";

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

  const starts = shape.with(axis, 1);
  const first = new Expansion(
    make,
    starts,
    (element, lo) => make("constant", [], element, starts, { value: lo }),
    axis,
  ).of(pointer);
  if (first === undefined) return undefined;
  const address = make("convert", [make("convert", [first], "uint64", starts)], "uint32", starts);
  const number = (count: number): Value =>
    make("constant", [], "uint32", starts, { value: BigInt(count) });
  const bytesLog2 = Math.log2(pointeeBytes(pointer));
  const elements = bytesLog2 === 0
    ? address
    : make("shr", [address, number(bytesLog2)], "uint32", starts);
  const shift = make("and", [elements, number(bound - 1)], "uint32", starts);

  const index = (element: Element, lo: number | bigint): Value =>
    make("rotated_range", [shift], element, shape, { lo, axis, bound });
  // A row is contiguous, so its elements follow its first one.
  const firsts = make("broadcast", [first], first.type.element, shape);
  const pointers = make("offset", [firsts, index("int32", 0n)], first.type.element, shape);
  const masks = mask && new Expansion(make, shape, index, axis).of(mask);
  if (mask !== undefined && masks === undefined) return undefined;
  const words = rotation.words ? { words: true } : {};
  const data = make("rotate", [value, shift], value.type.element, shape, { axis, bound, ...words });
  const operands = [pointers, data, masks, inside, rows].filter((one) => one !== undefined);
  const attrs = rotation.words ? { ...store.attrs, aligned: true } : store.attrs;
  return { store: newOp(func, "store", operands, [], store.span, attrs), ops, data };
}

/** Makes operations with one result. */
interface Make {
  (
    name: BareOp,
    operands: readonly Value[],
    element: Element,
    shape: readonly number[],
  ): Value;
  <N extends TileOp>(
    name: N,
    operands: readonly Value[],
    element: Element,
    shape: readonly number[],
    attrs: AttrsOf<N>,
  ): Value;
}

function maker(func: Func, span: Span, ops: Op[]): Make {
  return (
    name: TileOp,
    operands: readonly Value[],
    element: Element,
    shape: readonly number[],
    attrs: Attrs = {},
  ): Value => {
    const op = newUncheckedOp(func, name, operands, [{ element, shape }], span, attrs);
    ops.push(op);
    return resultOf(op);
  };
}

/** Computes index expressions again at a full shape, with something else in place of the indices along one axis. */
class Expansion {
  readonly #known = new Map<Value, Map<string, Value | undefined>>();

  /** `replaced` makes the index along `axis` that starts at `lo`. */
  constructor(
    readonly make: Make,
    readonly shape: readonly number[],
    readonly replaced: (element: Element, lo: number | bigint) => Value,
    readonly axis: number,
  ) {}

  /** The value at the full shape; undefined where it depends on something that has to stay where it is. */
  of(value: Value): Value | undefined {
    return runOnHeap(this.#at(value, [...value.type.shape.keys()]));
  }

  /** `axes`: for each axis of the value, the one of the full shape it lies along. */
  *#at(value: Value, axes: readonly number[]): OnHeap<Value | undefined> {
    const key = axes.join();
    const known = this.#known.get(value) ?? new Map<string, Value | undefined>();
    this.#known.set(value, known);
    if (!known.has(key)) known.set(key, yield this.#make(value, axes));
    return known.get(key);
  }

  *#make(value: Value, axes: readonly number[]): OnHeap<Value | undefined> {
    const { element, shape } = value.type;
    const def = value.def;
    if (shape.length === 0) return this.make("splat", [value], element, this.shape);
    if (def === undefined) return undefined;
    switch (def.name) {
      case "range":
        return this.#range(def, must(axes[0], "axis of a range"));
      case "constant":
        return this.make("constant", [], element, this.shape, def.attrs);
      case "splat":
      case "broadcast": {
        const operand = operandsOf(def).value;
        return yield this.#at(operand, operand.type.shape.length === 0 ? [] : axes);
      }
      case "expand_dims":
        return yield this.#at(operandsOf(def).value, axes.toSpliced(def.attrs.axis, 1));
      case "permute": {
        const from = new Array<number>(axes.length).fill(0);
        def.attrs.order.forEach((source, target) => from[source] = axes[target] ?? 0);
        return yield this.#at(operandsOf(def).value, from);
      }
      default: {
        if (!hasTrait(def, "elementwise")) return undefined;
        const operands: Value[] = [];
        for (const one of def.operands) {
          const operand = yield this.#at(one, axes);
          if (operand !== undefined) operands.push(operand);
        }
        return operands.length < def.operands.length
          ? undefined
          : this.make(def.name, operands, element, this.shape, def.attrs);
      }
    }
  }

  #range(def: OpOf<"range">, axis: number): Value | undefined {
    const { element, shape } = resultOf(def).type;
    const { lo } = def.attrs;
    // Rotated indices are computed in 32 bits.
    if (shape[0] === 1) return this.make("constant", [], element, this.shape, { value: lo });
    if (axis === this.axis) {
      return !isPointer(element) && (element === "int32" || element === "uint32")
        ? this.replaced(element, lo)
        : undefined;
    }
    const extent = must(shape[0], "extent of a range");
    if (extent !== this.shape[axis]) return undefined;
    const along = this.shape.map((_, d) => d === axis ? extent : 1);
    const range = this.make("range", [], element, [extent], { lo });
    const row = this.make("reshape", [range], element, along);
    return this.make("broadcast", [row], element, this.shape);
  }
}
