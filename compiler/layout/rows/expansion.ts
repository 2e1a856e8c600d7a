/** Index expressions of rows, computed again at other positions (rotate.ts, shifted_rows.ts). */
import {
  type Attrs,
  type Func,
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
import { type OnHeap, runOnHeap } from "../../support/on_heap.ts";
import type { Span } from "../../support/source.ts";

/** Makes operations with one result. */
export interface Make {
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

export function maker(func: Func, span: Span, ops: Op[]): Make {
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
export class Expansion {
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

/** The address of the first element of each row along an axis; undefined if it depends on more than indices. */
export function rowStarts(make: Make, pointer: Value, axis: number): Value | undefined {
  const starts = pointer.type.shape.with(axis, 1);
  const first = (element: Element, lo: number | bigint): Value =>
    make("constant", [], element, starts, { value: lo });
  return new Expansion(make, starts, first, axis).of(pointer);
}

/** How many elements after a multiple of `bound` elements rows start at addresses. */
export function shiftOf(make: Make, start: Value, bound: number): Value {
  const { shape } = start.type;
  const number = (count: number): Value =>
    make("constant", [], "uint32", shape, { value: BigInt(count) });
  const address = make("convert", [make("convert", [start], "uint64", shape)], "uint32", shape);
  const bytesLog2 = Math.log2(pointeeBytes(start));
  const elements = bytesLog2 === 0
    ? address
    : make("shr", [address, number(bytesLog2)], "uint32", shape);
  return make("and", [elements, number(bound - 1)], "uint32", shape);
}

/** Pointers to the elements of rows at indices along an axis: a row is contiguous, so its elements follow its first one. */
export function rowPointers(make: Make, start: Value, indices: Value): Value {
  const { element } = start.type;
  const { shape } = indices.type;
  return make("offset", [make("broadcast", [start], element, shape), indices], element, shape);
}
