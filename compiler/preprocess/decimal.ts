/** Floating literals to values: rounded once, from the digits as written to the type that is wanted. */
import { floatFormat } from "../support/float.ts";
import type { ScalarName } from "../support/scalar.ts";

/** The scalar types with a fraction. */
export type FloatName = Extract<
  ScalarName,
  "float8e4" | "float8e5" | "float16" | "bfloat16" | "float32" | "float64"
>;

/** All values of all formats lie between 10 to these powers (double: 4.9e-324 to 1.8e308). */
const SMALLEST_EXPONENT = -330;
const LARGEST_EXPONENT = 310;

/** The nearest value of a type to the digits of a floating literal, ties to even. */
export function roundDecimal(text: string, type: FloatName): number {
  const hex = /^0[xX]/.test(text);
  const [mantissa = "", exponent = "0"] = (hex ? text.slice(2) : text).split(hex ? /[pP]/ : /[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return 0;
  const bitsPerDigit = hex ? 4 : 1;
  const scale = Number(exponent) - fraction.length * bitsPerDigit;
  // Far outside the range the magnitude decides; exact arithmetic would need gigabytes for `1e999999999`.
  const magnitude = (scale + digits.length * bitsPerDigit) * (hex ? Math.log10(2) : 1);
  if (magnitude > LARGEST_EXPONENT) return limit(Infinity, type);
  if (magnitude < SMALLEST_EXPONENT) return 0;
  const integer = BigInt(hex ? `0x${digits}` : digits);
  const power = (hex ? 2n : 10n) ** BigInt(Math.abs(scale));
  return scale >= 0 ? roundRatio(integer * power, 1n, type) : roundRatio(integer, power, type);
}

/** The nearest value of a type to a positive ratio of integers. */
function roundRatio(numerator: bigint, denominator: bigint, type: FloatName): number {
  const { precision, minExponent } = floatFormat(type);
  // The value lies in [2^e, 2^(e+1)): the difference of lengths is e or e + 1.
  let exponent = bitLength(numerator) - bitLength(denominator);
  const [high, low] = shifted(numerator, denominator, -exponent);
  if (high < low) exponent--;
  const step = Math.max(exponent, minExponent) - precision + 1;
  const [dividend, divisor] = shifted(numerator, denominator, -step);
  let quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  if (twice > divisor || (twice === divisor && (quotient & 1n) === 1n)) quotient++;
  return limit(Number(quotient) * 2 ** step, type);
}

/** The ratio times 2 to a power. */
function shifted(numerator: bigint, denominator: bigint, power: number): [bigint, bigint] {
  return power >= 0
    ? [numerator << BigInt(power), denominator]
    : [numerator, denominator << BigInt(-power)];
}

function limit(value: number, type: FloatName): number {
  const { max, overflows } = floatFormat(type);
  if (value <= max) return value;
  return overflows ? Infinity : max;
}

function bitLength(value: bigint): number {
  const hex = value.toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(parseInt(hex.charAt(0), 16)));
}
