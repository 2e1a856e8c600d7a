/**
 * Where an address is computed in narrow integers, it is that of the view only if nothing wraps on the lanes that access
 * memory. These have coordinates within the extents, which bounds `rm * lda` by `(M - 1) * lda`: what fits for all
 * launches is known, the rest is demanded.
 */
import { varies } from "../contract/affine_rules.ts";
import type { Observation } from "../contract/affine_rules.ts";
import { apply, constant } from "../contract/expr.ts";
import { limitsOfType } from "../contract/magnitude.ts";
import { normalKey } from "../contract/normal.ts";
import {
  constantOf,
  mulPoly,
  type Poly,
  polyExpr,
  polyOfAtom,
  quotientOf,
  subPoly,
} from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import { SCALARS } from "../support/scalar.ts";
import { coordinateOf, type Run, spell } from "./axes.ts";
import type { Bounds } from "./bounds.ts";
import type { Demands } from "./demands.ts";
import { lastOfLaunch } from "./launch_ends.ts";
import { limitExpr } from "./limits.ts";
import { noView } from "./no_view.ts";
import { termsOf } from "./terms.ts";

/** An axis with the extent that its coordinates are within; undefined: a coordinate of the program, bounded by itself. */
export interface BoundedRun extends Run {
  readonly extent: ContractExpr | undefined;
  /** Where it ends for one program (ragged.ts). */
  readonly end?: Poly;
  /** Nothing is known of its coordinate (any_number.ts). */
  readonly isAny?: boolean;
}

/** Demands that what was observed of an address fits its type. */
export function demandFit(
  { poly, type, below }: Observation,
  runs: readonly BoundedRun[],
  shape: readonly number[],
  bounds: Bounds,
  demands: Demands,
): void {
  if (below !== undefined) return demandWithin(poly, below, runs, demands);
  if (SCALARS[type].bits >= 64) return;
  const { min, max } = limitsOfType(type);
  if (!varies(poly)) {
    const isName = poly.size <= 1 &&
      [...poly.values()].every(({ atoms, coefficient }) =>
        coefficient === 1n && atoms.length === 1
      );
    if (isName || constantOf(poly) !== undefined) return;
    demands.atMost(polyExpr(poly), max);
    if (!isOfStride(poly, runs)) demands.atLeast(polyExpr(poly), min);
    return;
  }
  const parts: ContractExpr[] = [];
  let rest = poly;
  for (const run of runs) {
    const factor = factorOf(rest, run);
    if (factor === undefined) continue;
    if (run.isAny === true) {
      if (bounds.fits(poly, { min, max }, shape)) return;
      noView(`an index may be too large for its type: \`${spell(poly)}\``);
    }
    const whole = subPoly(rest, mulPoly(factor, coordinateOf(run)));
    const lane = run.tile === undefined ? undefined : laneOf(run.tile);
    const own = lane === undefined ? undefined : subPoly(rest, mulPoly(factor, lane));
    // What only the coordinate has would be left over as a negative number.
    const isWhole = own === undefined || whole.size < own.size || subPoly(whole, own).size === 0;
    const span = run.tile === undefined ? 1 : shape[run.tile] ?? 1;
    const last = !isWhole
      ? constant(span - 1)
      : run.extent === undefined
      ? lastOfLaunch(run.origin, bounds) ?? limitExpr(bounds.poly(run.origin).max)
      : apply("-", run.extent, constant(1));
    rest = isWhole ? whole : own;
    if (constantOf(factor) === undefined) {
      if (!isOfStride(factor, runs)) demands.atLeast(polyExpr(factor), 0n);
    } else if ((constantOf(factor) ?? 0n) < 0n) {
      noView(`an index has a negative step: \`${spell(poly)}\``);
    }
    parts.push(apply("*", last, polyExpr(factor)));
  }
  const constantPart = constantOf(rest);
  if (varies(rest)) {
    if (parts.length === 0 && bounds.fits(rest, { min, max }, shape)) return;
    const limits = bounds.poly(rest, shape);
    if (limits.min < 0n) noView(`an index may be negative: \`${spell(rest)}\``);
    const isFew = limits.max <= max;
    parts.push(isFew ? limitExpr(limits.max) : lastOfLaunch(rest, bounds) ?? limitExpr(limits.max));
  } else {
    if (constantPart === undefined) demands.atLeast(polyExpr(rest), 0n);
    else if (constantPart < 0n) noView(`an index may be negative: \`${spell(poly)}\``);
    parts.push(polyExpr(rest));
  }
  const last = parts.reduce((sum, part) => apply("+", sum, part));
  if (bounds.isAtMost(last, max)) return;
  if (last.op === "const") noView(`an index may be too large for its type: \`${spell(poly)}\``);
  demands.atMost(last, max);
}

/** An index wraps around where an axis ends: elements after that are outside of the tensor. */
function demandWithin(
  poly: Poly,
  below: Poly,
  runs: readonly BoundedRun[],
  demands: Demands,
): void {
  const run = runs.find((one) => subPoly(coordinateOf(one), poly).size === 0);
  const end = polyExpr(below);
  if (run?.extent === undefined || normalKey(run.extent) !== normalKey(end)) {
    noView(
      `\`${spell(poly)}\` wraps around at \`${
        spell(below)
      }\`, and rows from there on may be stored`,
    );
  }
  demands.atLeast(end, 1n);
}

/** Whether it is a multiple of a stride. Tensor maps have none below zero. */
function isOfStride(poly: Poly, runs: readonly BoundedRun[]): boolean {
  return runs.some(({ stride }) => {
    const times = quotientOf(poly, stride);
    const factor = times && constantOf(times);
    return constantOf(stride) === undefined && factor !== undefined && factor > 0n;
  });
}

const laneOf = (axis: number): Poly => polyOfAtom({ kind: "lane", key: `lane.${axis}`, axis });

/** What an index multiplies a coordinate with: the factor of its lane, or of the first term of its origin. */
function factorOf(poly: Poly, { tile, origin }: Run): Poly | undefined {
  const terms = termsOf(poly);
  if (tile !== undefined) return terms.get(`lane.${tile}`)?.coefficient;
  const [first] = [...termsOf(origin).values()].filter(({ atoms }) => atoms.length > 0);
  if (first === undefined) return undefined;
  return constantOf(first.coefficient) === 1n ? terms.get(first.key)?.coefficient : undefined;
}
