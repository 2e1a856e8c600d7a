/**
 * Arithmetic without rounding, on integers times powers of two: slow, and right where doubles are not wide enough.
 * Quotients and roots are cut off far below the last bit of any format, with a mark that something follows.
 */
import type { Bits } from "../machine.ts";
import type { Format } from "./formats.ts";
import { goesAway, type Rounding } from "./rounding.ts";
import { bitsOfDouble } from "./pun.ts";

/** `mantissa * 2 ** exponent`, its magnitude a little more if `sticky`. */
export interface Exact {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly sticky?: boolean;
}

/** A finite double. */
export function exactOf(value: number): Exact {
  const bits = bitsOfDouble(value);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: bits >> 63n ? -mantissa : mantissa, exponent: Math.max(field, 1) - 1075 };
}

export function addExact(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const mantissa = (a.mantissa << BigInt(a.exponent - exponent)) +
    (b.mantissa << BigInt(b.exponent - exponent));
  return { mantissa, exponent };
}

export function multiplyExact(a: Exact, b: Exact): Exact {
  return { mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent };
}

/** More bits than the significand of any format has, twice over. */
const SPARE = 130;

/** a / b, b not zero. */
export function divideExact(a: Exact, b: Exact): Exact {
  const dividend = a.mantissa << BigInt(SPARE);
  return {
    mantissa: dividend / b.mantissa,
    exponent: a.exponent - SPARE - b.exponent,
    sticky: dividend % b.mantissa !== 0n,
  };
}

/** The largest integer whose square is not above `value`. */
function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The square root of what is not negative. */
export function rootExact(a: Exact): Exact {
  const shift = 2 * SPARE + (a.exponent & 1);
  const square = a.mantissa << BigInt(shift);
  const mantissa = integerRoot(square);
  return { mantissa, exponent: (a.exponent - shift) / 2, sticky: mantissa * mantissa !== square };
}

function magnitudeOf(format: Format, size: bigint, exact: Exact, rounding: Rounding): bigint {
  const { mantissaBits, bias } = format;
  const negative = exact.mantissa < 0n;
  const top = exact.exponent + size.toString(2).length - 1;
  const field = Math.max(top + bias, 1);
  const last = field - bias - mantissaBits;
  const shift = BigInt(last - exact.exponent);
  const base = BigInt(field - 1) << BigInt(mantissaBits);
  if (shift <= 0n) return base + (size << -shift);
  const kept = size >> shift;
  const lost = (size << 1n) - (kept << (shift + 1n)) + (exact.sticky ? 1n : 0n);
  const half = 1n << shift;
  const up = rounding === "rn"
    ? lost > half || (lost === half && (kept & 1n) === 1n)
    : rounding === "rna"
    ? lost >= half
    : lost !== 0n && goesAway(rounding, negative);
  return base + kept + (up ? 1n : 0n);
}

/** Rounds to a format; zero comes out as +0. Values that are too large become infinite, or the largest if `saturate`. */
export function encodeExact(
  format: Format,
  exact: Exact,
  rounding: Rounding,
  saturate = false,
): Bits {
  const negative = exact.mantissa < 0n;
  const size = negative ? -exact.mantissa : exact.mantissa;
  let magnitude = size === 0n ? 0n : magnitudeOf(format, size, exact, rounding);
  if (magnitude > format.max) {
    const infinite = rounding === "rn" || rounding === "rna" || goesAway(rounding, negative);
    magnitude = infinite && !saturate ? format.infinity ?? format.nan ?? format.max : format.max;
  }
  const sign = negative ? 1n << BigInt(format.bits - 1) : 0n;
  const bits = (sign | magnitude) << BigInt(format.padding);
  return format.bits > 32 ? bits : Number(bits);
}
