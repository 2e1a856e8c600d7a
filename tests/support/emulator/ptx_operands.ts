/** Operands to try instructions on: values that matter for a type, and random ones. */
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import type { Random } from "../random.ts";

const ones = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

/** Ends of ranges, powers of two and their neighbours, small numbers: as counts those around the widths. */
function integers(bits: number): bigint[] {
  const powers = Array.from({ length: bits }, (_, i) => 1n << BigInt(i));
  const small = Array.from({ length: Math.min(72, 2 ** bits) }, (_, i) => BigInt(i));
  const near = powers.flatMap((power) => [power - 1n, power, power + 1n, -power]);
  return [...small, ...near, ones(bits), ones(bits) - 1n, 255n, 256n]
    .map((value) => BigInt.asUintN(bits, value));
}

/** Bits of exponent and fraction. */
const FORMATS: Readonly<Record<string, readonly [exponent: number, fraction: number]>> = {
  f16: [5, 10],
  bf16: [8, 7],
  tf32: [8, 23],
  f32: [8, 23],
  f64: [11, 52],
  e4m3: [4, 3],
  e5m2: [5, 2],
};

/** Zeros, subnormals and their ends, ends of the range, ones and halves, infinities, NaN quiet and signalling. */
function floats(name: string): bigint[] {
  const [exponentBits, fractionBits] = FORMATS[name] ?? [8, 23];
  const shift = BigInt(fractionBits);
  const fraction = ones(fractionBits);
  const top = ones(exponentBits);
  const bias = top >> 1n;
  const at = (exponent: bigint, bits = 0n): bigint => (exponent << shift) | (bits & fraction);
  const half = 1n << (shift - 1n);
  const values = [
    0n,
    1n,
    fraction,
    half,
    at(1n),
    at(1n, 1n),
    at(bias),
    at(bias, 1n),
    at(bias - 1n),
    at(bias - 1n, fraction),
    at(bias - 2n),
    at(bias, half),
    at(bias + 1n),
    at(bias + 1n, half),
    at(bias + 2n, half >> 1n),
    at(top - 1n, fraction),
    at(top - 1n),
    at(top),
    at(top, half),
    at(top, 1n),
    at(top, fraction),
    // Where integers stop having fractions, and where they leave the range of integer types.
    ...[7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64]
      .map((n) => bias + BigInt(n))
      .filter((exponent) => exponent < top)
      .flatMap((exponent) => [at(exponent), at(exponent, fraction), at(exponent, 1n)]),
  ];
  const sign = 1n << BigInt(exponentBits + fractionBits);
  return values.flatMap((value) => [value, value | sign]);
}

/** Values of a type that are likely to be treated wrongly. */
export function specialValues(type: TypeName): readonly bigint[] {
  const { bits, class: kind } = TYPES[type];
  if (kind === "pred") return [0n, 1n];
  const scalar = type.replace(/x[24]$/, "");
  if (kind === "float") return floats(scalar);
  return integers(scalar === type ? bits : 16);
}

/** So many random bits. */
export function randomBits(random: Random, bits: number): bigint {
  let value = 0n;
  for (let have = 0; have < bits; have += 16) {
    value = (value << 16n) | BigInt(random.below(0x10000));
  }
  return BigInt.asUintN(bits, value);
}

/** A random exponent as well as fraction: evenly over the magnitudes of a type. */
function magnitude(random: Random, bits: number): bigint {
  const length = 1 + random.below(bits);
  const value = randomBits(random, length);
  return random.below(2) === 0 ? value : BigInt.asUintN(bits, -value);
}

/** One element: special, small (as counts are), random in its bits, or random in its magnitude. */
function element(random: Random, special: readonly bigint[], bits: number): bigint {
  const kind = random.below(8);
  if (kind < 3) return special[random.below(special.length)] ?? 0n;
  if (kind === 3) return BigInt.asUintN(bits, BigInt(random.below(80)));
  return kind < 6 ? randomBits(random, bits) : magnitude(random, bits);
}

/**
 * Makes values for sources of a type, in registers of `width` bits, of which what is above the type is random. Now and
 * then a value is that of another source, or a neighbour of it, given as `near`.
 */
export function operandSource(
  type: TypeName,
  width: number,
): (random: Random, near: bigint | undefined) => bigint {
  const { bits } = TYPES[type];
  const special = specialValues(type);
  const packed = /x([24])$/.exec(type);
  const count = packed === null ? 1 : Number(packed[1]);
  const part = bits / count;
  const one = (random: Random): bigint => element(random, special, part);
  const value = (random: Random, near: bigint | undefined): bigint => {
    if (near !== undefined && random.below(4) === 0) {
      return BigInt.asUintN(bits, near + BigInt(random.below(3) - 1));
    }
    let whole = 0n;
    for (let i = 0; i < count; i++) whole = (whole << BigInt(part)) | one(random);
    return whole;
  };
  if (width <= bits) return value;
  return (random, near) =>
    (randomBits(random, width - bits) << BigInt(bits)) |
    value(random, near === undefined ? undefined : BigInt.asUintN(bits, near));
}
