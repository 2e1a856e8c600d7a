/**
 * Elements as numbers: for data that programs give as numbers rather than as typed arrays, for conversions of tensors
 * on the host, and for printing. Conversions are those of the language (docs/language.md, 9): floats are rounded once
 * to the nearest value, floats become integers by truncation and saturate, integers wrap.
 */
import { floatFormat, roundFloat } from "../../compiler/support/float.ts";
import { type DType, DTYPES, type HostBytes } from "../dtype.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../arguments/values.ts";

/** A number of any element type; 64-bit integers are bigint. */
export type Element = number | bigint;

/** How elements are stored: typed arrays that every runtime has. */
const STORAGE = {
  bool: Uint8Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  float8e4: Uint8Array,
  float8e5: Uint8Array,
} as const satisfies Record<DType, unknown>;

type Format = "float8e4" | "float8e5" | "float16" | "bfloat16";

const isPattern = (dtype: DType): dtype is Format =>
  dtype === "float16" || dtype === "bfloat16" || dtype.startsWith("float8");
const isFloat = (dtype: DType): boolean => dtype.includes("float");
const isWide = (dtype: DType): dtype is "int64" | "uint64" =>
  dtype === "int64" || dtype === "uint64";

const tables = new Map<Format, Float64Array>();

/** The value of every bit pattern of a type of 8 or 16 bits. */
function tableOf(dtype: Format): Float64Array {
  let table = tables.get(dtype);
  if (table === undefined) {
    const { bits } = floatFormat(dtype);
    table = Float64Array.from({ length: 2 ** bits }, (_, pattern) => valueOf(pattern, dtype));
    tables.set(dtype, table);
  }
  return table;
}

function valueOf(pattern: number, dtype: Format): number {
  const { bits, precision, minExponent, ieee, nan } = floatFormat(dtype);
  const sign = 2 ** (bits - 1);
  const hidden = 2 ** (precision - 1);
  const magnitude = pattern % sign;
  const field = Math.floor(magnitude / hidden);
  const low = magnitude % hidden;
  const factor = pattern >= sign ? -1 : 1;
  if (ieee && field === 2 ** (bits - precision) - 1) return low === 0 ? factor * Infinity : NaN;
  if (!ieee && magnitude === Number(nan)) return NaN;
  const significand = field === 0 ? low : low + hidden;
  return factor * significand * 2 ** (Math.max(field - 1, 0) + minExponent - precision + 1);
}

/** The bit pattern of the nearest value of a type of 8 or 16 bits. */
function patternOf(value: number, dtype: Format): number {
  const { bits, precision, minExponent, nan } = floatFormat(dtype);
  if (Number.isNaN(value)) return Number(nan);
  const rounded = Math.abs(roundFloat(value, dtype));
  const sign = value < 0 || Object.is(value, -0) ? 2 ** (bits - 1) : 0;
  const hidden = 2 ** (precision - 1);
  if (rounded === Infinity) return sign + (2 ** (bits - precision) - 1) * hidden;
  // The number of steps of the subnormals' size; each further exponent has `hidden` steps of twice that size.
  let [exponent, steps] = [0, rounded * 2 ** (precision - 1 - minExponent)];
  for (; steps >= 2 * hidden; steps /= 2) exponent++;
  return sign + exponent * hidden + steps;
}

/** Reads elements of a type; the bytes are aligned to it. */
export function elementReader(dtype: DType, bytes: HostBytes): (index: number) => Element {
  const { buffer, byteOffset, byteLength } = bytes;
  const array = STORAGE[dtype];
  const values = new array(buffer, byteOffset, byteLength / DTYPES[dtype].bytes);
  if (!isPattern(dtype)) return (index) => values[index] ?? 0;
  const table = tableOf(dtype);
  return (index) => table[Number(values[index])] ?? 0;
}

/** Bits of an integer below its highest that a float of 53 bits keeps; the rest decides how it is rounded. */
const STICKY_BITS = 11n;

/** A number as near as `dtype` distinguishes: 64-bit integers are rounded to it once, not first to float64. */
function toNumber(value: Element, dtype: DType): number {
  if (typeof value === "number") return value;
  if (dtype === "float64" || BigInt.asIntN(53, value) === value) return Number(value);
  const upper = value >> STICKY_BITS;
  const isExact = upper << STICKY_BITS === value;
  return Number(isExact ? upper : upper | 1n) * 2 ** Number(STICKY_BITS);
}

/** An integer element by the rules of conversions. */
function toInteger(value: Element, dtype: DType): bigint {
  const bits = 8 * DTYPES[dtype].bytes;
  const signed = dtype.startsWith("int");
  if (typeof value === "bigint") {
    return signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  }
  if (Number.isNaN(value)) return 0n;
  const least = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const most = signed ? 2n ** BigInt(bits - 1) - 1n : 2n ** BigInt(bits) - 1n;
  if (value >= Number(most)) return most;
  return value <= Number(least) ? least : BigInt(Math.trunc(value));
}

/** Elements of one type as elements of another, row by row. */
export function convertElements(from: DType, bytes: HostBytes, to: DType): HostBytes {
  const read = elementReader(from, bytes);
  const count = bytes.length / DTYPES[from].bytes;
  const fromFloat = isFloat(from);
  return fillElements(to, count, (index) => {
    const value = read(index);
    if (to === "bool" || isFloat(to)) return value;
    if (fromFloat) return toInteger(value, to);
    return toInteger(BigInt(value), to);
  });
}

/** Bytes of `count` elements, each rounded to the type. */
export function fillElements(
  dtype: DType,
  count: number,
  valueAt: (index: number) => Element,
): HostBytes {
  if (isWide(dtype)) {
    const wide = new STORAGE[dtype](count);
    for (let i = 0; i < count; i++) wide[i] = BigInt(valueAt(i));
    return new Uint8Array(wide.buffer);
  }
  const values = new STORAGE[dtype](count);
  if (dtype === "bool") {
    for (let i = 0; i < count; i++) values[i] = Number(valueAt(i)) === 0 ? 0 : 1;
  } else if (isPattern(dtype)) {
    for (let i = 0; i < count; i++) values[i] = patternOf(toNumber(valueAt(i), dtype), dtype);
  } else {
    for (let i = 0; i < count; i++) values[i] = toNumber(valueAt(i), dtype);
  }
  return new Uint8Array(values.buffer);
}

/** Throws `ArgumentError` for what is no number of the type: integers are integers in its range, bool is true or false. */
export function expectElement(argument: string, value: unknown, dtype: DType): Element {
  if (dtype === "bool") {
    if (value === true || value === 1) return 1;
    if (value === false || value === 0) return 0;
  } else if (isFloat(dtype)) {
    if (typeof value === "number") return value;
  } else if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) {
    const integer = BigInt(value);
    if (toInteger(integer, dtype) === integer) return isWide(dtype) ? integer : Number(integer);
  }
  const expected = dtype === "bool"
    ? "true or false, for bool"
    : isFloat(dtype)
    ? `a number, for ${dtype}`
    : `an integer that ${dtype} has`;
  throw new ArgumentError({ argument, expected, actual: describeValue(value) });
}

/** The element type of numbers that are given without one: of bigints, of booleans, of numbers. */
const DTYPE_OF_VALUES: Readonly<Record<string, DType>> = {
  bigint: "int64",
  boolean: "bool",
  number: "float32",
};

/** Numbers as elements. Throws `ArgumentError` for what is no number of the type. */
export function encodeElements(
  values: Iterable<unknown>,
  dtype: DType | undefined,
): { readonly dtype: DType; readonly bytes: HostBytes; readonly length: number } {
  const elements: Element[] = [];
  let type = dtype;
  // Each is checked as it comes: what iterates for ever is mostly no list of numbers.
  for (const value of values) {
    type ??= DTYPE_OF_VALUES[typeof value] ?? "float32";
    elements.push(expectElement(`data[${elements.length}]`, value, type));
  }
  type ??= "float32";
  const { length } = elements;
  return { dtype: type, bytes: fillElements(type, length, (i) => elements[i] ?? 0), length };
}
