/** Memory of tests by the compiler's element types: numbers and bigints in, numbers and bigints out. */
import { floatBits, floatFormat, floatFromBits, roundFloat } from "../../compiler/support/float.ts";
import { wrapInt } from "../../compiler/support/arith.ts";
import { type ScalarName, SCALARS } from "../../compiler/support/scalar.ts";

export type Scalar = number | bigint;

export const bytesOfType = (type: ScalarName): number => Math.max(8, SCALARS[type].bits) / 8;

/** Elements as they lie in memory. Floats are rounded to the type. */
export function encode(type: ScalarName, values: readonly Scalar[]): Uint8Array {
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
  const size = bytesOfType(type);
  return Array.from({ length: bytes.length / size }, (_, i) => {
    let bits = 0n;
    for (let b = size - 1; b >= 0; b--) bits = (bits << 8n) | BigInt(bytes[i * size + b] ?? 0);
    if (SCALARS[type].class === "float") return floatFromBits(bits, type);
    return type === "bool" ? bits : wrapInt(bits, type);
  });
}
