/**
 * Axes along which a program has one place, and of whose number nothing is known: the matrix of an expert, the page of a cache,
 * that a table names. A coordinate may be neither negative nor 2^31 - 1, as outside of the tensor copies give zeros, and so the
 * number is counted from elsewhere, as on ragged axes (ragged.ts). With N = 2^30 and the stride s, the map has two axes in
 * place of one:
 *
 *     extent      stride      coordinate
 *     2^31 - 1    s           N + number
 *     2^31 - 1    2^34 - s    N
 *
 * The address is (N + number) * s + N * (2^34 - s) = number * s + 2^64. Numbers that are not between -N and N give zeros; they
 * are those of places that no memory has, where strides are not tiny.
 */
import { apply, constant } from "../contract/expr.ts";
import { addPoly, type Poly, polyExpr, polyOf } from "../contract/poly.ts";
import { type Limits, limitsOfType } from "../contract/magnitude.ts";
import type { Run } from "./axes.ts";
import type { Demands } from "./demands.ts";
import { within } from "./limits.ts";
import type { ViewAxis } from "./view.ts";

/** From which number coordinates are counted. */
const FIRST = 2 ** 30;
/** What the strides add up to: times the first number it is 2^64 elements, or a multiple. */
const STRIDES = 2 ** 34;
/** Extents of axes that bound nothing. */
const MOST = 2 ** 31 - 1;
/** Bytes of a stride of which so many as the first number are more than a GPU has: 2^38. */
const LEAST_BYTES = 256;

/** Whether an axis, with these limits of its numbers, is one of those. */
export function mayBeAny({ tile }: Run, limits: Limits): boolean {
  return tile === undefined && within(limits, limitsOfType("int32")) &&
    (limits.min < 0n || limits.max >= BigInt(MOST));
}

/** The axes in place of one. */
export function anyNumberAxes(stride: Poly, origin: Poly): readonly ViewAxis[] {
  const first = polyOf(FIRST);
  const free = { extent: constant(MOST), tile: undefined };
  const own = polyExpr(stride);
  return [
    { stride: own, ...free, origin: addPoly(first, origin) },
    { stride: apply("-", constant(STRIDES), own), ...free, origin: first },
  ];
}

/** What launches must fulfil for that. */
export function demandFarPlaces(stride: Poly, bytes: number, demands: Demands): void {
  demands.atLeast(polyExpr(stride), BigInt(LEAST_BYTES / bytes));
}
