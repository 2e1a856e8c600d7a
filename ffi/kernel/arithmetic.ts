/**
 * Integer arithmetic for the expressions in generated wrappers. Contracts count in 64-bit integers; wrappers
 * count in doubles, which are exact up to 2^53, and stop where a value could no longer be exact.
 */
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../arguments/values.ts";

/** What errors of expressions call their arguments. */
export const SIZES = "sizes";

/** Largest magnitude of an intermediate result: a few of them still add up exactly. */
export const EXACT_LIMIT = 2 ** 52;

/** The value, if it is an integer within ±2^52. */
export function exact(value: number): number {
  if (typeof value === "number" && value >= -EXACT_LIMIT && value <= EXACT_LIMIT) return value;
  throw new ArgumentError({
    argument: SIZES,
    expected: "sizes and addresses that compute to at most 2^52",
    actual: typeof value === "number" ? `about ${value.toExponential(3)}` : describeValue(value),
  });
}

/** An expression divides by an argument that is 0. */
export class ZeroDivisorError extends ArgumentError {
  /** For this module. */
  constructor(dividend: number) {
    super({
      argument: SIZES,
      expected: "a divisor other than 0 in the kernel's contract",
      actual: `${dividend} divided by 0`,
    });
  }
}

/** Division that rounds towards zero, as C's. */
export function quotient(dividend: number, divisor: number): number {
  return (dividend - remainder(dividend, divisor)) / divisor;
}

/** Remainder with the dividend's sign, as C's. */
export function remainder(dividend: number, divisor: number): number {
  if (typeof dividend !== "number" || typeof divisor !== "number") {
    throw new ArgumentError({
      argument: SIZES,
      expected: "numbers",
      actual: `${describeValue(dividend)} and ${describeValue(divisor)}`,
    });
  }
  if (divisor === 0) throw new ZeroDivisorError(dividend);
  return dividend % divisor;
}

/** How many pieces of size `divisor` cover `dividend`: division that rounds up. */
export function cdiv(dividend: number, divisor: number): number {
  const rest = remainder(dividend, divisor);
  const whole = (dividend - rest) / divisor;
  return rest !== 0 && (rest > 0) === (divisor > 0) ? whole + 1 : whole;
}

/** The least power of two that is not below the value; 1 for what is below 1. */
export function nextPow2(value: number): number {
  if (typeof value !== "number") {
    const actual = describeValue(value);
    throw new ArgumentError({ argument: SIZES, expected: "a number", actual });
  }
  let power = 1;
  while (power < value) power *= 2;
  return power;
}
