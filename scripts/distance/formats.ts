/** Formats of floats: random bits of a format, what bits are worth, and how far two results are apart. */
import type { Random } from "../../tests/support/random.ts";

/** Bits of exponent and fraction, and of padding below them. */
interface Format {
  readonly exponent: number;
  readonly fraction: number;
  readonly padding: number;
}

const FORMATS = {
  f16: { exponent: 5, fraction: 10, padding: 0 },
  bf16: { exponent: 8, fraction: 7, padding: 0 },
  tf32: { exponent: 8, fraction: 10, padding: 13 },
  f32: { exponent: 8, fraction: 23, padding: 0 },
  f64: { exponent: 11, fraction: 52, padding: 0 },
  e4m3: { exponent: 4, fraction: 3, padding: 0 },
  e5m2: { exponent: 5, fraction: 2, padding: 0 },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name);
}

export function bitsOf(name: FormatName): number {
  const { exponent, fraction, padding } = FORMATS[name];
  return 1 + exponent + fraction + padding;
}

/** Random fraction and sign, the exponent at most `spread` below that of 1; a sixteenth of the values are zeros. */
export function randomFloat(random: Random, name: FormatName, spread: number): bigint {
  const { exponent, fraction, padding } = FORMATS[name];
  const bias = 2 ** (exponent - 1) - 1;
  if (random.below(16) === 0) return 0n;
  const sign = BigInt(random.below(2)) << BigInt(exponent + fraction);
  const power = BigInt(bias - random.below(Math.min(spread, bias - 1) + 1)) << BigInt(fraction);
  const high = BigInt(random.below(2 ** Math.min(fraction, 26)));
  const low = fraction > 26 ? BigInt(random.below(2 ** (fraction - 26))) << 26n : 0n;
  return (sign | power | high | low) << BigInt(padding);
}

/** The bits of a number, cut off where the format has fewer. */
export function bitsOfNumber(value: number, name: FormatName): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  if (name === "f64") return view.getBigUint64(0);
  view.setFloat32(0, value);
  const single = view.getUint32(0);
  if (name === "bf16") return BigInt(single >>> 16);
  if (name !== "f16") return BigInt(single);
  view.setFloat16(0, value);
  return BigInt(view.getUint16(0));
}

/** The value of bits of a format. */
export function numberOf(bits: bigint, name: FormatName): number {
  const { exponent, fraction, padding } = FORMATS[name];
  const word = bits >> BigInt(padding);
  const mantissa = Number(BigInt.asUintN(fraction, word)) / 2 ** fraction;
  const power = Number(BigInt.asUintN(exponent, word >> BigInt(fraction)));
  const sign = (word >> BigInt(exponent + fraction)) & 1n ? -1 : 1;
  const bias = 2 ** (exponent - 1) - 1;
  if (power === 2 * bias + 1) return mantissa === 0 ? sign * Infinity : NaN;
  return power === 0
    ? sign * mantissa * 2 ** (1 - bias)
    : sign * (1 + mantissa) * 2 ** (power - bias);
}

/** Values of the format from one to the other; all NaNs are one value, and no number is near it. */
export function ulpsApart(x: bigint, y: bigint, name: FormatName): number {
  const [isNan, isOther] = [Number.isNaN(numberOf(x, name)), Number.isNaN(numberOf(y, name))];
  if (isNan || isOther) return isNan && isOther ? 0 : Infinity;
  const sign = 1n << BigInt(bitsOf(name) - 1);
  const rank = (bits: bigint): bigint => (bits & sign) === 0n ? bits : -(bits & (sign - 1n));
  const apart = rank(x) - rank(y);
  return Number(apart < 0n ? -apart : apart);
}
