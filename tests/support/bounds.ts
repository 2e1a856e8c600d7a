/**
 * Error bounds of results that are rounded to a type: a result is right if it is the rounding of some number within the error
 * of the exact one. That holds for subnormal results, for results that overflow and for sums that cancel.
 */
import { roundFloat } from "../../compiler/support/float.ts";
import type { DType } from "../../ffi/mod.ts";
import { assert } from "./assert.ts";

/** Float types that results have. */
export type FloatType = Extract<DType, "float16" | "bfloat16" | "float32" | "float64">;

interface Precision {
  /** Half a unit in the last place of 1: the relative error of one rounding of a normal number. */
  readonly unit: number;
  /** The smallest subnormal number: twice the absolute error of one rounding below the normal numbers. */
  readonly least: number;
}

const PRECISIONS: Readonly<Record<FloatType, Precision>> = {
  float16: { unit: 2 ** -11, least: 2 ** -24 },
  bfloat16: { unit: 2 ** -8, least: 2 ** -133 },
  float32: { unit: 2 ** -24, least: 2 ** -149 },
  float64: { unit: 2 ** -53, least: 2 ** -1074 },
};

/** Half a unit in the last place of 1. */
export const ROUNDING: Readonly<Partial<Record<DType, number>>> = Object.fromEntries(
  Object.entries(PRECISIONS).map(([type, { unit }]) => [type, unit]),
);

/** The most that `count` roundings to the type change numbers of at most this magnitude. */
export function roundingError(type: FloatType, magnitude: number, count = 1): number {
  const { unit, least } = PRECISIONS[type];
  return count * (unit * magnitude + least);
}

/** Whether `found` is what some number within `error` of `exact` rounds to in the type. */
export function isRoundingOf(
  type: FloatType,
  found: number,
  exact: number,
  error: number,
): boolean {
  if (Math.abs(found - exact) <= error) return true;
  if (!Number.isFinite(exact)) return Object.is(found, exact);
  const [low, high] = [roundFloat(exact - error, type), roundFloat(exact + error, type)];
  return low <= found && found <= high;
}

/** Fails unless `found` is the rounding of a number within `error` of `exact`; integers are exact. */
export function assertRounded(
  type: FloatType | "integer",
  found: number,
  exact: number,
  error: number,
  what: () => string,
): void {
  const isRight = type === "integer" ? found === exact : isRoundingOf(type, found, exact, error);
  if (!isRight) assert(false, `${what()}: ${found} instead of ${exact} ± ${error}`);
}
