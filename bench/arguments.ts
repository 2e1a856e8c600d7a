/** What programs pass to the functions of this folder: checked before anything is measured or read. */
import { nameValue } from "../ffi/arguments/brands.ts";
import { ArgumentError } from "../ffi/errors.ts";
import { isList } from "../ffi/arguments/numbers.ts";

/** Throws `ArgumentError` unless the value is what it must be. */
export function expectThat(
  holds: boolean,
  argument: string,
  expected: string,
  value: unknown,
): void {
  if (!holds) throw new ArgumentError({ argument, expected, actual: nameValue(value) });
}

/** Whether the value is a list of numbers. */
export function areNumbers(values: unknown): values is readonly number[] {
  return isList(values) && values.every((value) => typeof value === "number");
}

/** Throws `ArgumentError` for what is no list of numbers. */
export function expectNumbers(argument: string, values: unknown): void {
  expectThat(areNumbers(values), argument, "a list of numbers", values);
}

/** Whether the value is an object whose properties can be looked at. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isList(value);
}

/** Whether the value is one of some words. */
export function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === "string" && words.includes(value);
}

/** The units of benchmarks. */
const UNITS = ["GB/s", "TFLOP/s", "ms"] as const;

/** Throws `ArgumentError` for what is no unit. */
export function expectUnit(argument: string, value: unknown): void {
  expectThat(isOneOf(value, UNITS), argument, `one of ${UNITS.join(", ")}`, value);
}
