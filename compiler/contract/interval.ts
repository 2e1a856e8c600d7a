/**
 * Bounds of an affine value over a whole launch, as contract expressions:
 *
 *     ldx * (64*pid.0 + lane.0), masked by `< M`   first min(0, (M - 1) * ldx), last max(0, (M - 1) * ldx)
 *
 * Strides may be negative, so a product with a parameter keeps both ends. Never less than what lanes with
 * a set mask reach; exact when each index of the offset has its own mask or none.
 */
import { apply, constant } from "./expr.ts";
import { sameExpr } from "./normal.ts";
import { addPoly, constantOf, isNonNegative, type Poly, polyExpr, polyOf } from "./poly.ts";
import {
  type Bound,
  type Form,
  type Group,
  groupOffset,
  naturalInterval,
  tilingOf,
} from "./groups.ts";
import type { ContractExpr } from "./types.ts";

/** Inclusive bounds. */
export interface Interval {
  readonly first: ContractExpr;
  readonly last: ContractExpr;
}

/** Bounds of what masks let through. */
export interface MaskedInterval extends Interval {
  /** Where one does not hold, masks let nothing through; then the bounds mean nothing. */
  readonly unless: readonly ContractExpr[];
}

/** What is known of the launch: extents of the grid where the contract fixes them. */
export type GridExtents = (axis: number) => ContractExpr | undefined;

/** The bounds of a value over all programs and all lanes that the bounds let through. */
export function intervalOf(
  poly: Poly,
  bounds: readonly Bound[],
  shape: readonly number[],
  grid: GridExtents,
): MaskedInterval | undefined {
  const offset = groupOffset(poly, bounds);
  if (offset === undefined) return undefined;
  const intervals = offset.groups.map((group) => scaled(group, shape, grid));
  const rest = polyExpr(offset.rest);
  // The last index of a group without any is before its first one, which others hide.
  const [only, ...others] = offset.groups;
  const isAlone = only !== undefined && others.length === 0 &&
    (constantOf(only.coefficient) ?? -1n) > 0n;
  return {
    unless: isAlone ? [] : offset.groups.flatMap((group) => nonEmpty(group, shape, grid)),
    first: sum([...intervals.map((interval) => interval.first), rest]),
    last: sum([...intervals.map((interval) => interval.last), rest]),
  };
}

const sum = (exprs: readonly ContractExpr[]): ContractExpr =>
  exprs.reduce((left, right) => apply("+", left, right), constant(0));

/** The interval that covers several. */
export function unite(a: Interval, b: Interval): Interval {
  return {
    first: sameExpr(a.first, b.first) ? a.first : apply("min", a.first, b.first),
    last: sameExpr(a.last, b.last) ? a.last : apply("max", a.last, b.last),
  };
}

/** The group's index times its coefficient. */
function scaled(group: Group, shape: readonly number[], grid: GridExtents): Interval {
  const { first, last } = indexInterval(group, shape, grid);
  const { coefficient } = group;
  const by = constantOf(coefficient);
  const factor = polyExpr(coefficient);
  const times = (index: ContractExpr): ContractExpr => apply("*", index, factor);
  if (by !== undefined && by < 0n) return { first: times(last), last: times(first) };
  if (isNonNegative(coefficient)) return { first: times(first), last: times(last) };
  return {
    first: apply("min", times(first), times(last)),
    last: apply("max", times(first), times(last)),
  };
}

function indexInterval(
  { form, bounds }: Group,
  shape: readonly number[],
  grid: GridExtents,
): Interval {
  const natural = naturalInterval(form, shape);
  const uppers = bounds.filter((bound) => bound.upper).map(limitOf);
  const lowest = constantOf(natural.lo);
  const lowers = bounds.filter((bound) => !bound.upper)
    .map((bound) => lowerLimitOf(bound, lowest !== undefined && lowest >= 0n));
  const covered = coveredByGrid(form, bounds, shape, grid);
  return {
    first: lowers.reduce((a, b) => apply("max", a, b), polyExpr(natural.lo)),
    last: covered
      ? uppers.reduce((a, b) => apply("min", a, b))
      : uppers.reduceRight((a, b) => apply("min", b, a), polyExpr(natural.hi)),
  };
}

/** What must hold for masks to let an index of the group through, where the grid does not say that too. */
function nonEmpty(
  { form, bounds }: Group,
  shape: readonly number[],
  grid: GridExtents,
): readonly ContractExpr[] {
  if (coveredByGrid(form, bounds, shape, grid)) return [];
  const lowest = constantOf(naturalInterval(form, shape).lo);
  if (lowest === undefined) return [];
  return bounds.flatMap((bound) => {
    const limit = constantOf(bound.limit);
    const isKnown = limit !== undefined && limit >= lowest * bound.divisor;
    return bound.upper && !isKnown ? [apply(">", extentOf(bound), constant(lowest))] : [];
  });
}

/** The division is C's: towards zero, so never below the true floor of an upper bound. */
function limitOf(bound: Bound): ContractExpr {
  const limit = polyExpr(bound.limit);
  return bound.divisor === 1n ? limit : apply("/", limit, constant(bound.divisor));
}

/**
 * The least index that a lower bound allows. C's division rounds a negative limit up, as it must, and a positive one down, so
 * that gets the divisor minus one first; an index that is never negative is above what comes of a negative limit so.
 */
function lowerLimitOf(bound: Bound, isNeverNegative: boolean): ContractExpr {
  const { limit, divisor } = bound;
  const isPositive = (constantOf(limit) ?? (isNeverNegative ? 0n : -1n)) >= 0n;
  if (divisor === 1n || !isPositive) return limitOf(bound);
  const raised = addPoly(limit, polyOf(divisor - 1n));
  return apply("/", polyExpr(raised), constant(divisor));
}

/** Whether the grid has as many programs as the mask's extent needs, so that the mask alone decides. */
function coveredByGrid(
  form: Form,
  bounds: readonly Bound[],
  shape: readonly number[],
  grid: GridExtents,
): boolean {
  const tiling = tilingOf(form, shape);
  const extent = tiling && grid(tiling.axis);
  if (tiling === undefined || extent === undefined) return false;
  return bounds.some((bound) => bound.upper && sameExpr(extent, programsFor(bound, tiling.tile)));
}

/** Programs needed to reach every index below the bound: `cdiv(M, TM)`. */
export function programsFor(bound: Bound, tile: bigint): ContractExpr {
  return apply("cdiv", extentOf(bound), constant(tile));
}

/** One more than the largest index that the bound allows. */
export function extentOf(bound: Bound): ContractExpr {
  return apply("+", limitOf(bound), constant(1));
}
