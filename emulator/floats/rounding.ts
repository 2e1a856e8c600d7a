/**
 * Rounding to narrow formats. What is computed in double precision is rounded a second time here, which is
 * right only if the double was exact or kept on the right side of everything that a narrow format can hold or lies
 * half-way between. {@linkcode toOdd} sees to that: of the two doubles around an exact result it takes the one whose
 * last bit is set, and no narrow number or middle of two has that bit set.
 */
import { must } from "../../compiler/support/bug.ts";
import { F32, lowWord, neighbour, U32 } from "./pun.ts";

/** Nearest with ties to even, towards zero, down, up, nearest with ties away from zero. */
export type Rounding = "rn" | "rz" | "rm" | "rp" | "rna";

/** The double that represents `value + error` exactly enough to be rounded again; `value` is the nearest double. */
function toOdd(value: number, error: number): number {
  // NaN: value is infinite or NaN.
  if (error === 0 || error !== error || (lowWord(value) & 1) === 1) return value;
  return neighbour(value, (error > 0) === (value > 0));
}

/** a + b of doubles, rounded to odd. Needs their sum not to overflow. */
export function sumToOdd(a: number, b: number): number {
  const sum = a + b;
  const part = sum - a;
  return toOdd(sum, (a - (sum - part)) + (b - part));
}

/** An integer of 64 bits, rounded to odd. */
export function integerToOdd(value: bigint): number {
  const nearest = Number(value);
  return toOdd(nearest, Number(value - BigInt(nearest)));
}

/** Whether a rounding that discards something goes away from zero, whatever it is that is discarded. */
export function goesAway(rounding: Rounding, negative: boolean): boolean {
  return rounding === "rp" ? !negative : rounding === "rm" && negative;
}

/** The single next to a double, as a double. */
export function roundToSingle(value: number, rounding: Rounding): number {
  const nearest = Math.fround(value);
  if (rounding === "rn" || nearest === value || value !== value) return nearest;
  const beyond = Math.abs(nearest) > Math.abs(value);
  if (goesAway(rounding, value < 0) === beyond) return nearest;
  F32[0] = nearest;
  U32[0] = must(U32[0], "word") + (beyond ? -1 : 1);
  return must(F32[0], "single");
}

/** The sum of two terms that is exactly zero: +0 unless rounding down, or both are -0. */
export function zeroSum(a: number, b: number, rounding: Rounding): number {
  if (rounding !== "rm") return a === 0 ? a + b : 0;
  return Object.is(a, 0) && Object.is(b, 0) ? 0 : -0;
}
