/**
 * Floating-point arithmetic by its definition, as a reference: values are fractions of two big integers, and rounding
 * looks for the neighbours of a value among the bit patterns of a format. Slow and simple.
 */
import type { Layout } from "./float_operands.ts";

export type Real =
  | { readonly kind: "nan" }
  | { readonly kind: "infinite"; readonly negative: boolean }
  /** `numerator / denominator`, or its square root; both are not negative. */
  | {
    readonly kind: "finite";
    readonly negative: boolean;
    readonly numerator: bigint;
    readonly denominator: bigint;
    readonly root?: boolean;
  };

export type Mode = "rn" | "rz" | "rm" | "rp" | "rna";

export const NAN: Real = { kind: "nan" };

export function finite(negative: boolean, numerator: bigint, denominator = 1n): Real {
  return { kind: "finite", negative, numerator, denominator };
}

/** The fraction that a magnitude encodes. */
function magnitudeOf(layout: Layout, magnitude: bigint): { over: bigint; under: bigint } {
  const m = BigInt(layout.mantissaBits);
  const field = magnitude >> m;
  const fraction = magnitude & ((1n << m) - 1n);
  const bias = (1n << BigInt(layout.exponentBits - 1)) - 1n;
  const significand = field === 0n ? fraction : fraction + (1n << m);
  const exponent = (field === 0n ? 1n : field) - bias - m;
  return exponent >= 0n
    ? { over: significand << exponent, under: 1n }
    : { over: significand, under: 1n << -exponent };
}

/** The value of bits. */
export function decodeReal(layout: Layout, bits: bigint): Real {
  const { exponentBits, mantissaBits } = layout;
  const size = BigInt(exponentBits + mantissaBits);
  const negative = ((bits >> size) & 1n) === 1n;
  const magnitude = bits & ((1n << size) - 1n);
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(mantissaBits);
  if (magnitude > infinity) return NAN;
  if (magnitude === infinity) return { kind: "infinite", negative };
  const { over, under } = magnitudeOf(layout, magnitude);
  return finite(negative, over, under);
}

const isZero = (a: Real): boolean => a.kind === "finite" && a.numerator === 0n;

/** Signs of a value that are not there are those of NaN. */
const signOf = (a: Real): boolean => a.kind !== "nan" && a.negative;

export function negate(a: Real): Real {
  return a.kind === "nan" ? a : { ...a, negative: !a.negative };
}

export function add(a: Real, b: Real, mode: Mode): Real {
  if (a.kind === "nan" || b.kind === "nan") return NAN;
  if (a.kind === "infinite") {
    return b.kind === "infinite" && a.negative !== b.negative ? NAN : a;
  }
  if (b.kind === "infinite") return b;
  const [left, right] = [a, b].map((each) => each.negative ? -each.numerator : each.numerator);
  const sum = (left ?? 0n) * b.denominator + (right ?? 0n) * a.denominator;
  const down = a.negative === b.negative ? a.negative : mode === "rm";
  return finite(sum === 0n ? down : sum < 0n, sum < 0n ? -sum : sum, a.denominator * b.denominator);
}

export function multiply(a: Real, b: Real): Real {
  if (a.kind === "nan" || b.kind === "nan") return NAN;
  const negative = a.negative !== b.negative;
  if (a.kind === "infinite" || b.kind === "infinite") {
    return isZero(a) || isZero(b) ? NAN : { kind: "infinite", negative };
  }
  return finite(negative, a.numerator * b.numerator, a.denominator * b.denominator);
}

export function divide(a: Real, b: Real): Real {
  if (a.kind === "nan" || b.kind === "nan") return NAN;
  const negative = a.negative !== b.negative;
  if (a.kind === "infinite") return b.kind === "infinite" ? NAN : { kind: "infinite", negative };
  if (b.kind === "infinite") return finite(negative, 0n);
  if (b.numerator === 0n) return a.numerator === 0n ? NAN : { kind: "infinite", negative };
  return finite(negative, a.numerator * b.denominator, a.denominator * b.numerator);
}

export function squareRoot(a: Real): Real {
  if (a.kind === "nan" || isZero(a)) return a;
  if (a.negative) return NAN;
  return a.kind === "infinite" ? a : { ...a, root: true };
}

/** Below 0, 0, above 0 as a is below, equal to, above b; of numbers. */
export function compare(a: Real, b: Real): number {
  const key = (each: Real): [infinite: number, numerator: bigint, denominator: bigint] =>
    each.kind === "finite"
      ? [0, each.negative ? -each.numerator : each.numerator, each.denominator]
      : [signOf(each) ? -1 : 1, 0n, 1n];
  const [[i, n, d], [j, m, e]] = [key(a), key(b)];
  if (i !== j) return i - j;
  const difference = n * e - m * d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether the magnitude of a value is below (< 0), at or above (> 0) a fraction. */
function against(a: Real & { kind: "finite" }, over: bigint, under: bigint): number {
  const [o, u] = a.root ? [over * over, under * under] : [over, under];
  const difference = a.numerator * u - o * a.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether of two neighbours the one further from zero is taken. */
function takesFar(mode: Mode, negative: boolean, toMiddle: number, nearIsOdd: boolean): boolean {
  switch (mode) {
    case "rn":
      return toMiddle > 0 || (toMiddle === 0 && nearIsOdd);
    case "rna":
      return toMiddle >= 0;
    case "rz":
      return false;
    case "rm":
      return negative;
    case "rp":
      return !negative;
  }
}

export interface EncodeOptions {
  readonly mode: Mode;
  /** Magnitude of the largest finite number; what is larger becomes the one after, or it itself if saturate. */
  readonly max: bigint;
  readonly saturate?: boolean;
  readonly flush?: boolean;
}

/** Whether a value is below the least normal number, even rounded as precisely as normal ones are. */
function isTiny(layout: Layout, a: Real & { kind: "finite" }, mode: Mode): boolean {
  const least = magnitudeOf(layout, 1n << BigInt(layout.mantissaBits));
  const scale = 1n << BigInt(layout.mantissaBits + 2);
  if (against(a, least.over, least.under) >= 0) return false;
  // The last number below the least normal one is two quarters of a unit of 1 / scale below; the middle one quarter.
  if (against(a, least.over * (scale - 2n), least.under * scale) <= 0) return true;
  const toMiddle = against(a, least.over * (scale - 1n), least.under * scale);
  return !takesFar(mode, a.negative, toMiddle, true);
}

/** The bits of a number: those of its neighbours in the format which the mode picks. */
export function encodeReal(layout: Layout, a: Real, options: EncodeOptions): bigint {
  const { mode, max, saturate = false, flush = false } = options;
  if (a.kind === "nan") throw new Error("NaN has no bits of its own");
  const sign = a.negative ? 1n << BigInt(layout.exponentBits + layout.mantissaBits) : 0n;
  const beyond = saturate ? max : max + 1n;
  if (a.kind === "infinite") return sign | beyond;
  if (flush && isTiny(layout, a, mode)) return sign;
  let [low, high] = [0n, max + 1n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    const { over, under } = magnitudeOf(layout, middle);
    if (against(a, over, under) >= 0) low = middle;
    else high = middle;
  }
  const near = magnitudeOf(layout, low);
  if (against(a, near.over, near.under) === 0) return sign | low;
  const far = magnitudeOf(layout, high);
  const toMiddle = against(
    a,
    near.over * far.under + far.over * near.under,
    2n * near.under * far.under,
  );
  const picked = takesFar(mode, a.negative, toMiddle, (low & 1n) === 1n) ? high : low;
  return sign | (picked > max ? beyond : picked);
}

/** The integer that a value is rounded to. */
export function toInteger(a: Real & { kind: "finite" }, mode: Mode): bigint {
  const low = a.numerator / a.denominator;
  const rest = a.numerator - low * a.denominator;
  if (rest === 0n) return a.negative ? -low : low;
  const double = 2n * rest - a.denominator;
  const toMiddle = double < 0n ? -1 : double > 0n ? 1 : 0;
  const size = takesFar(mode, a.negative, toMiddle, (low & 1n) === 1n) ? low + 1n : low;
  return a.negative ? -size : size;
}
