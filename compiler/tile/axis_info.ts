/**
 * What is known of the elements of a value along each axis, for vector accesses.
 *
 * Along an axis, a tile falls into aligned runs:
 *   contiguity C    within each aligned run of C elements, values increase by 1 (pointers: by one element)
 *   divisibility D  the first value of each such run is a multiple of D (pointers: bytes); powers of two only
 *   constancy K     within each aligned run of K elements, all values are equal
 * All numbers are powers of two. Facts hold modulo 2^32, so wrapping arithmetic loses none of them.
 *
 * D is about run starts: when an operation makes runs shorter, the starts inside the old runs count too, so D
 * shrinks to gcd(D, C). Forgetting that is the classic mistake.
 */
import type { Value } from "../ir/func.ts";
import { bytesOf, isPointer } from "../ir/types.ts";

export interface AxisInfo {
  /** One entry per axis; a scalar has one. */
  readonly contiguity: readonly number[];
  readonly divisibility: readonly number[];
  readonly constancy: readonly number[];
}

/** Means "any power of two": the divisibility of 0. */
export const MOST = 2 ** 30;

/** gcd of powers of two. */
export const meet = Math.min;

/** The largest power of two that divides an integer. */
export function powerOfTwoIn(value: number | bigint): number {
  const low = BigInt.asUintN(31, BigInt(value));
  return low === 0n ? MOST : Math.min(MOST, Number(low & -low));
}

/** Of a scalar with this divisibility. */
export const scalarInfo = (divisibility: number): AxisInfo => ({
  contiguity: [1],
  divisibility: [divisibility],
  constancy: [1],
});

export function rank(value: Value): number {
  return Math.max(1, value.type.shape.length);
}

/** Nothing is known. */
export function unknown(value: Value): AxisInfo {
  const ones = new Array<number>(rank(value)).fill(1);
  return { contiguity: ones, divisibility: ones, constancy: ones };
}

/** Divisibility of every element along the axis, not only of run starts. */
export function everywhere(info: AxisInfo, axis: number): number {
  return shortened(info, axis, 1);
}

/** Divisibility of the starts of runs of `contiguity`, at most as long as the old runs. */
export function shortened(info: AxisInfo, axis: number, contiguity: number): number {
  const c = info.contiguity[axis] ?? 1;
  const d = info.divisibility[axis] ?? 1;
  return contiguity < c ? meet(d, contiguity) : d;
}

/** What holds of a value that is one or the other. */
export function either({ type }: Value, a: AxisInfo, b: AxisInfo): AxisInfo {
  const scale = isPointer(type.element) ? bytesOf(type.element.pointee) : 1;
  const contiguity = a.contiguity.map((c, d) => meet(c, b.contiguity[d] ?? 1));
  // Starts inside the old runs are whole elements away from theirs.
  const starts = (info: AxisInfo, d: number): number => {
    const c = contiguity[d] ?? 1;
    const divisibility = info.divisibility[d] ?? 1;
    return c < (info.contiguity[d] ?? 1) ? meet(divisibility, c * scale) : divisibility;
  };
  return {
    contiguity,
    divisibility: contiguity.map((_, d) => meet(starts(a, d), starts(b, d))),
    constancy: a.constancy.map((k, d) => meet(k, b.constancy[d] ?? 1)),
  };
}
