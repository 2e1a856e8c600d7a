/** Numbers and lists of numbers that callers pass: checked, and copied where they are lists. */
import { ArgumentError } from "../errors.ts";
import { describeValue } from "./values.ts";

/** The integer; throws `ArgumentError` for what is none or out of range. -0 becomes 0. */
export function expectInteger(
  argument: string,
  value: unknown,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) {
    return value + 0;
  }
  throw new ArgumentError({
    argument,
    expected: `an integer from ${least} to ${most === Number.MAX_SAFE_INTEGER ? "2^53 - 1" : most}`,
    actual: describeValue(value),
  });
}

/**
 * A copy of a list of integers from 0 to 2^53 - 1, of at most `most` entries. Entries are read once, by
 * index, so that neither holes nor overridden methods of arrays let others pass.
 */
export function expectIntegers(argument: string, values: unknown, most: number): number[] {
  if (!isList(values)) {
    const expected = "a list of integers, such as [2, 3]";
    throw new ArgumentError({ argument, expected, actual: describeValue(values) });
  }
  const { length } = values;
  if (!(length <= most)) {
    throw new ArgumentError({
      argument,
      expected: `at most ${most} entries`,
      actual: describeValue(length),
    });
  }
  const copy: number[] = [];
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
      const expected = "integers from 0 to 2^53 - 1";
      throw new ArgumentError({ argument, expected, actual: describeValue(values) });
    }
    copy.push(value + 0);
  }
  return copy;
}

/** `Array.isArray`, which throws for a Proxy that was revoked. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
