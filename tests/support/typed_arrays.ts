/** Memory of tests by the compiler's element types: numbers and bigints in, numbers and bigints out. */
import { floatBits, floatFormat, floatFromBits, roundFloat } from "../../compiler/support/float.ts";
import { wrapInt } from "../../compiler/support/arith.ts";
import { type ScalarName, SCALARS } from "../../compiler/support/scalar.ts";

export type Scalar = number | bigint;

export const bytesOfType = (type: ScalarName): number => Math.max(8, SCALARS[type].bits) / 8;

/** Floats that the host has arrays of, which round as the types do. Tests on a GPU have millions of them. */
const HOST_FLOATS: Readonly<
  Partial<
    Record<ScalarName, { new (length: number): FloatArray; new (buffer: ArrayBuffer): FloatArray }>
  >
> = { float64: Float64Array, float32: Float32Array, float16: Float16Array };

type FloatArray = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float16Array<ArrayBuffer>;

/** Elements as they lie in memory. Floats are rounded to the type. */
export function encode(type: ScalarName, values: readonly Scalar[]): Uint8Array {
  const Floats = HOST_FLOATS[type];
  if (Floats !== undefined) {
    const host = new Floats(values.length);
    values.forEach((value, i) => host[i] = Number(value));
    return withOwnNaN(type, new Uint8Array(host.buffer), values);
  }
  return type === "bfloat16"
    ? withOwnNaN(type, encodeHigh(values), values)
    : encodeEach(type, values);
}

/** The host has a NaN that is not the type's: outputs are poisoned with the latter. */
function withOwnNaN(type: ScalarName, bytes: Uint8Array, values: readonly Scalar[]): Uint8Array {
  if (!values.some((value) => Number.isNaN(value))) return bytes;
  const nan = encodeEach(type, [NaN]);
  values.forEach((value, i) => {
    if (Number.isNaN(value)) bytes.set(nan, i * nan.length);
  });
  return bytes;
}

function encodeEach(type: ScalarName, values: readonly Scalar[]): Uint8Array {
  const size = bytesOfType(type);
  const bytes = new Uint8Array(size * values.length);
  values.forEach((value, i) => {
    let bits = SCALARS[type].class === "float"
      ? floatBits(roundedTo(Number(value), type), type)
      : BigInt.asUintN(64, BigInt(value));
    for (let b = 0; b < size; b++, bits >>= 8n) bytes[i * size + b] = Number(bits & 255n);
  });
  return bytes;
}

/** A bfloat16 is the upper half of a float. */
function encodeHigh(values: readonly Scalar[]): Uint8Array {
  const floats = Float32Array.from(values, Number);
  const words = new Uint32Array(floats.buffer);
  values.forEach((value, i) => {
    const isExact = floats[i] === Number(value) && ((words[i] ?? 0) & 0xffff) === 0;
    if (!isExact) floats[i] = roundedTo(Number(value), "bfloat16");
  });
  return new Uint8Array(Uint16Array.from(words, (word) => word >>> 16).buffer);
}

function decodeHigh(bytes: Uint8Array): number[] {
  const halves = new Uint16Array(bytes.slice().buffer);
  return [...new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer)];
}

/** Infinities stay where the type has them; conversions to float8 saturate. */
function roundedTo(value: number, type: ScalarName): number {
  return Math.abs(value) === Infinity && floatFormat(type).ieee ? value : roundFloat(value, type);
}

/** The first element that differs, with what it was computed from. */
export function firstDifference(
  actual: readonly Scalar[],
  expected: readonly Scalar[],
  sources: readonly (Scalar | string)[] = [],
): string | undefined {
  const at = expected.findIndex((value, i) => !Object.is(actual[i], value));
  return at < 0 && actual.length === expected.length
    ? undefined
    : `[${at}] of ${sources[at]}: ${actual[at]} instead of ${expected[at]}`;
}

/** The elements in memory. */
export function decode(type: ScalarName, bytes: Uint8Array): Scalar[] {
  const Floats = HOST_FLOATS[type];
  if (Floats !== undefined) return [...new Floats(bytes.slice().buffer)];
  if (type === "bfloat16") return decodeHigh(bytes);
  const size = bytesOfType(type);
  return Array.from({ length: bytes.length / size }, (_, i) => {
    let bits = 0n;
    for (let b = size - 1; b >= 0; b--) bits = (bits << 8n) | BigInt(bytes[i * size + b] ?? 0);
    if (SCALARS[type].class === "float") return floatFromBits(bits, type);
    return type === "bool" ? bits : wrapInt(bits, type);
  });
}
