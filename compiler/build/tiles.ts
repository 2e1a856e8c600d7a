/** Built-in functions that move elements: halves joined and split, permuted axes, sorted lines. */
import { must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import type { Value } from "../ir/func.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { type Context, emit, emitConstant } from "./context.ts";
import { buildBroadcast, buildReshape } from "./shape.ts";

/** The index along an axis, in every element of a shape. */
function indexAlong(cx: Context, shape: readonly number[], axis: number, span: Span): Value {
  const extent = must(shape[axis], "axis of a shape");
  const range = emit(cx, "range", [], { element: "int32", shape: [extent] }, span, { lo: 0n });
  const row = buildReshape(cx, range, shape.map((_, d) => d === axis ? extent : 1), span);
  return buildBroadcast(cx, row, shape, span);
}

/** Whether a bit of the index along an axis is set. */
function indexBit(
  cx: Context,
  shape: readonly number[],
  axis: number,
  bit: number,
  span: Span,
): Value {
  const index = indexAlong(cx, shape, axis, span);
  const bits = emit(
    cx,
    "and",
    [index, emitConstant(cx, BigInt(bit), index.type, span)],
    index.type,
    span,
  );
  const zero = emitConstant(cx, 0n, index.type, span);
  return emit(cx, "ne", [bits, zero], { element: "bool", shape }, span);
}

/** Both tiles along a new axis of 2. */
export function buildPair(cx: Context, a: Value, b: Value, axis: number, span: Span): Value {
  const single = a.type.shape.toSpliced(axis, 0, 1);
  const shape = a.type.shape.toSpliced(axis, 0, 2);
  const [first, second] = [a, b].map((value) =>
    buildBroadcast(cx, buildReshape(cx, value, single, span), shape, span)
  );
  const type = { element: a.type.element, shape };
  const isSecond = indexBit(cx, shape, axis, 1, span);
  return emit(cx, "select", [isSecond, must(second, "tile"), must(first, "tile")], type, span);
}

/** One half of a last axis of 2. */
export function buildHalf(cx: Context, value: Value, half: 0 | 1, span: Span): Value {
  const { element, shape } = value.type;
  const axis = shape.length - 1;
  const rest = shape.slice(0, -1);
  const type = { element, shape: [...rest, 1] };
  const taken = emit(cx, "slice", [value], type, span, { axis, first: half });
  return buildReshape(cx, taken, rest, span);
}

/** Element i of each line is the one at i ^ mask. */
export function buildExchange(
  cx: Context,
  value: Value,
  axis: number,
  mask: number,
  span: Span,
): Value {
  return emit(cx, "exchange", [value], value.type, span, { axis, mask });
}

/** Along which axis lines are sorted, and which way. */
export interface Order {
  readonly axis: number;
  readonly descending: boolean;
}

/**
 * Sorts lines by a bitonic network (Batcher, 1968). Elements are compared as integers in the order of their values:
 * then equal ones are indistinguishable, so the sort is stable, and NaN can be made the last.
 */
export function buildSort(cx: Context, value: Value, order: Order, span: Span): Value {
  return buildNetwork(cx, value, order, 2, span);
}

/** The last part of that network, which sorts lines that rise and then fall. */
export function buildMerge(cx: Context, value: Value, order: Order, span: Span): Value {
  return buildNetwork(cx, value, order, extentOf(value, order), span);
}

const extentOf = ({ type }: Value, { axis }: Order): number =>
  must(type.shape[axis], "axis of a shape");

/** The network from where it makes sorted runs of `first` elements on. */
function buildNetwork(cx: Context, value: Value, order: Order, first: number, span: Span): Value {
  const { axis, descending } = order;
  let keys = toKeys(cx, value, descending, span);
  for (let run = first; run <= extentOf(value, order); run *= 2) {
    for (let stride = run / 2; stride >= 1; stride /= 2) {
      keys = compareAndSwap(cx, keys, axis, { run, stride }, span);
    }
  }
  return fromKeys(cx, keys, value.type.element, descending, span);
}

/** Each pair at a distance keeps the smaller one in front; in every second run of elements, the larger one. */
function compareAndSwap(
  cx: Context,
  keys: Value,
  axis: number,
  { run, stride }: { readonly run: number; readonly stride: number },
  span: Span,
): Value {
  const { type } = keys;
  const other = buildExchange(cx, keys, axis, stride, span);
  const isUpper = indexBit(cx, type.shape, axis, stride, span);
  const isTurned = indexBit(cx, type.shape, axis, run, span);
  const keepsLarger = emit(cx, "ne", [isUpper, isTurned], isUpper.type, span);
  // One comparison: maximum and minimum of 64 bits are a comparison and a selection each. Equal keys may change places.
  const isLess = emit(cx, "lt", [other, keys], isUpper.type, span);
  const changes = emit(cx, "ne", [isLess, keepsLarger], isUpper.type, span);
  return emit(cx, "select", [changes, other, keys], type, span);
}

/** The signed integer of a float's width. */
const SIGNED: Readonly<Record<number, ScalarName>> = {
  8: "int8",
  16: "int16",
  32: "int32",
  64: "int64",
};

const isFloat = (element: Element): element is ScalarName =>
  !isPointer(element) && SCALARS[element].class === "float";

/** Integers whose order is that of the values. */
function toKeys(cx: Context, value: Value, descending: boolean, span: Span): Value {
  const { element, shape } = value.type;
  const inverted = (keys: Value): Value =>
    descending ? emit(cx, "not", [keys], keys.type, span) : keys;
  if (element === "bool") {
    return inverted(emit(cx, "convert", [value], { element: "int32", shape }, span));
  }
  if (!isFloat(element)) return inverted(value);
  const { bits } = SCALARS[element];
  const type = { element: must(SIGNED[bits], "integer of a width"), shape };
  const signed = emit(cx, "bitcast", [value], type, span);
  const keys = inverted(foldNegative(cx, signed, bits, span));
  const largest = emitConstant(cx, (1n << BigInt(bits - 1)) - 1n, type, span);
  const wide = { element: element === "float64" ? element : "float32" as const, shape };
  const number = emit(cx, "convert", [value], wide, span);
  const isNan = emit(cx, "ne", [number, number], { element: "bool", shape }, span);
  return emit(cx, "select", [isNan, largest, keys], type, span);
}

/** Bits of negative floats grow downwards: all but the sign are inverted. Done twice, this is the identity. */
function foldNegative(cx: Context, keys: Value, bits: number, span: Span): Value {
  const { type } = keys;
  const count = emitConstant(cx, BigInt(bits - 1), type, span);
  const sign = emit(cx, "shr", [keys, count], type, span);
  const low = emitConstant(cx, (1n << BigInt(bits - 1)) - 1n, type, span);
  return emit(
    cx,
    "xor",
    [keys, emit(cx, "and", [sign, low], type, span)],
    type,
    span,
  );
}

function fromKeys(
  cx: Context,
  sorted: Value,
  element: Element,
  descending: boolean,
  span: Span,
): Value {
  const { shape } = sorted.type;
  const uninverted = (keys: Value): Value =>
    descending ? emit(cx, "not", [keys], keys.type, span) : keys;
  if (element === "bool") {
    return emit(cx, "convert", [uninverted(sorted)], { element: "bool", shape }, span);
  }
  if (!isFloat(element)) return uninverted(sorted);
  const { bits } = SCALARS[element];
  const folded = foldNegative(cx, uninverted(sorted), bits, span);
  // The largest key is all ones but the sign: a NaN of every format, unless it was inverted.
  const largest = emitConstant(cx, (1n << BigInt(bits - 1)) - 1n, sorted.type, span);
  const isNan = emit(cx, "eq", [sorted, largest], { element: "bool", shape }, span);
  const pattern = emit(cx, "select", [isNan, largest, folded], sorted.type, span);
  return emit(cx, "bitcast", [pattern], { element, shape }, span);
}
