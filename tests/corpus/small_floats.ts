/**
 * Arithmetic of floats with exact fractions: a finite value is a bigint in units of a tiny power of two. Rounding
 * happens once, at the end. Slow, and with nothing in common with the emulator.
 */

export interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

export const HALF: FloatFormat = { exponentBits: 5, mantissaBits: 10 };
export const BFLOAT: FloatFormat = { exponentBits: 8, mantissaBits: 7 };
const SINGLE: FloatFormat = { exponentBits: 8, mantissaBits: 23 };
const DOUBLE: FloatFormat = { exponentBits: 11, mantissaBits: 52 };

/** A number: NaN, infinite, or a fraction. Zeros have a sign as well. */
export interface Exact {
  readonly kind: "nan" | "infinite" | "finite";
  readonly negative: boolean;
  /** Magnitude in units of 2^-SCALE. */
  readonly size: bigint;
}

/** Fine enough for products of any two doubles. */
const SCALE = 2200;

export type Direction = "nearest" | "zero" | "up" | "down";

const biasOf = ({ exponentBits }: FloatFormat): number => 2 ** (exponentBits - 1) - 1;
const infinityOf = ({ exponentBits, mantissaBits }: FloatFormat): number =>
  (2 ** exponentBits - 1) * 2 ** mantissaBits;
const signOf = ({ exponentBits, mantissaBits }: FloatFormat): number =>
  2 ** (exponentBits + mantissaBits);

const NAN: Exact = { kind: "nan", negative: false, size: 0n };
const infinite = (negative: boolean): Exact => ({ kind: "infinite", negative, size: 0n });
const finite = (size: bigint, negativeZero = false): Exact =>
  size === 0n
    ? { kind: "finite", negative: negativeZero, size }
    : { kind: "finite", negative: size < 0n, size: size < 0n ? -size : size };
const signed = ({ negative, size }: Exact): bigint => negative ? -size : size;

export function fromBits(format: FloatFormat, bits: number): Exact {
  const negative = bits >= signOf(format);
  const magnitude = negative ? bits - signOf(format) : bits;
  if (magnitude > infinityOf(format)) return NAN;
  if (magnitude === infinityOf(format)) return infinite(negative);
  const field = Math.floor(magnitude / 2 ** format.mantissaBits);
  const fraction = magnitude % 2 ** format.mantissaBits;
  const mantissa = field === 0 ? fraction : fraction + 2 ** format.mantissaBits;
  const exponent = Math.max(field, 1) - biasOf(format) - format.mantissaBits;
  return { kind: "finite", negative, size: BigInt(mantissa) << BigInt(SCALE + exponent) };
}

/** The same of a double whose magnitude is not too small. */
export function fromNumber(value: number): Exact {
  if (Number.isNaN(value)) return NAN;
  if (!Number.isFinite(value)) return infinite(value < 0);
  let [size, exponent] = [Math.abs(value), SCALE];
  while (!Number.isInteger(size)) [size, exponent] = [size * 2, exponent - 1];
  return {
    kind: "finite",
    negative: value < 0 || Object.is(value, -0),
    size: BigInt(size) << BigInt(exponent),
  };
}

export function fromInteger(value: bigint): Exact {
  return finite(value << BigInt(SCALE));
}

/** The double next to a number. */
export function toNumber(value: Exact, direction: Direction = "nearest"): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, toWideBits(DOUBLE, value, direction));
  return view.getFloat64(0);
}

/** The single next to a number. */
export function toSingle(value: Exact, direction: Direction = "nearest"): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, toBits(SINGLE, value, direction));
  return view.getFloat32(0);
}

export function add(a: Exact, b: Exact): Exact {
  if (a.kind === "nan" || b.kind === "nan") return NAN;
  if (a.kind === "infinite") {
    return b.kind === "infinite" && a.negative !== b.negative ? NAN : a;
  }
  if (b.kind === "infinite") return b;
  return finite(signed(a) + signed(b), a.negative && b.negative);
}

export function negate(a: Exact): Exact {
  return { ...a, negative: !a.negative };
}

export function multiply(a: Exact, b: Exact): Exact {
  const negative = a.negative !== b.negative;
  if (a.kind === "nan" || b.kind === "nan") return NAN;
  if (a.kind === "infinite" || b.kind === "infinite") {
    const zero = (v: Exact): boolean => v.kind === "finite" && v.size === 0n;
    return zero(a) || zero(b) ? NAN : infinite(negative);
  }
  return { kind: "finite", negative, size: (a.size * b.size) >> BigInt(SCALE) };
}

/** The lesser of two; NaN only if both are. */
export function minimum(a: Exact, b: Exact): Exact {
  if (a.kind === "nan") return b;
  if (b.kind === "nan") return a;
  const [p, q] = [toNumber(a), toNumber(b)];
  return p < q || (p === q && a.negative) ? a : b;
}

export function maximum(a: Exact, b: Exact): Exact {
  if (a.kind === "nan") return b;
  if (b.kind === "nan") return a;
  return minimum(a, b) === a ? b : a;
}

/** The bits of a number in a format. */
export function toBits(
  format: FloatFormat,
  value: Exact,
  direction: Direction = "nearest",
): number {
  return Number(toWideBits(format, value, direction));
}

function toWideBits(format: FloatFormat, value: Exact, direction: Direction): bigint {
  const infinity = BigInt(infinityOf(format));
  const sign = value.negative ? BigInt(signOf(format)) : 0n;
  if (value.kind === "nan") return BigInt(signOf(format)) - 1n;
  if (value.kind === "infinite") return sign + infinity;
  if (value.size === 0n) return sign;
  const digits = value.size.toString(16);
  const top = digits.length * 4 - 1 - (Math.clz32(Number.parseInt(digits.charAt(0), 16)) - 28);
  const exponent = Math.max(top - SCALE, 1 - biasOf(format));
  const shift = BigInt(exponent - format.mantissaBits + SCALE);
  const mantissa = value.size >> shift;
  const rest = value.size - (mantissa << shift);
  const half = 1n << (shift - 1n);
  const away = direction === "nearest"
    ? rest > half || (rest === half && (mantissa & 1n) === 1n)
    : rest > 0n && direction === (value.negative ? "down" : "up");
  const bits = (BigInt(exponent + biasOf(format) - 1) << BigInt(format.mantissaBits)) + mantissa +
    (away ? 1n : 0n);
  if (bits < infinity) return sign + bits;
  const toInfinity = direction === "nearest" || direction === (value.negative ? "down" : "up");
  return sign + (toInfinity ? infinity : infinity - 1n);
}
