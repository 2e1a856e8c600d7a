/**
 * From where to where values of a program lie, as numbers of the launch: of digits, which stay below what the digits below
 * them are divided by, of scalars that the program clamps, and of what loops count.
 */
import { varies } from "../../contract/affine_rules.ts";
import type { AffineAnalysis } from "../../contract/affine.ts";
import {
  addPoly,
  type Atom,
  constantOf,
  mulPoly,
  type Poly,
  polyExpr,
  polyOf,
  polyOfAtom,
  subPoly,
} from "../../contract/poly.ts";
import { loopOf } from "../../ir/flow.ts";
import type { Value } from "../../ir/func.ts";
import { madeBy, operandsOf } from "../../ir/op.ts";
import type { Demands } from "../demands.ts";
import { termsOf } from "../terms.ts";
import { type Along, changesAlong, type Parts, partsOf } from "./along.ts";

/** Both ends count. */
export interface Span {
  readonly least: Poly;
  readonly most: Poly;
}

/** How many values each digit along an axis has; undefined: not known. */
export type Counts = Readonly<Record<Exclude<keyof Parts, "rest">, Poly | undefined>>;

/** An axis of a tile with its counts. */
export interface CountedAxis {
  readonly along: Along;
  readonly counts: Counts;
}

const DIGITS = ["inner", "middle", "outer"] as const;

/** The span of a polynomial; undefined: not known. That factors are not negative is demanded. */
export function spanOf(
  poly: Poly,
  axes: readonly CountedAxis[],
  analysis: AffineAnalysis,
  demands: Demands,
): Span | undefined {
  let [least, most, rest] = [polyOf(0), polyOf(0), poly];
  const add = (factor: Poly, span: Span | undefined): boolean => {
    if (factor.size === 0) return true;
    if (span === undefined) return false;
    const value = constantOf(factor);
    const isNegative = value !== undefined && value < 0n;
    if (value === undefined) demands.atLeast(polyExpr(factor), 0n);
    least = addPoly(least, mulPoly(factor, isNegative ? span.most : span.least));
    most = addPoly(most, mulPoly(factor, isNegative ? span.least : span.most));
    return true;
  };
  for (const { along, counts } of axes) {
    const parts = partsOf(rest, along);
    for (const digit of DIGITS) {
      const count = counts[digit];
      const span = count && { least: polyOf(0), most: subPoly(count, polyOf(1)) };
      if (!add(parts[digit], span)) return undefined;
    }
    rest = parts.rest;
    if (changesAlong(rest, along.axis)) return undefined;
  }
  for (const { atoms, coefficient } of termsOf(rest).values()) {
    const [atom, ...others] = atoms;
    if (atom === undefined) {
      least = addPoly(least, coefficient);
      most = addPoly(most, coefficient);
    } else if (others.length > 0) return undefined;
    else if (!add(coefficient, spanOfAtom(atom, analysis, demands))) return undefined;
  }
  return { least, most };
}

function spanOfAtom(atom: Atom, analysis: AffineAnalysis, demands: Demands): Span | undefined {
  if (atom.kind === "scalar") return clampOf(atom.value, analysis, demands);
  return atom.kind === "iteration" ? roundsOf(atom, analysis) : undefined;
}

/** Completed iterations of a loop, while its test `iteration <= most` holds. */
function roundsOf(
  atom: Extract<Atom, { kind: "iteration" }>,
  analysis: AffineAnalysis,
): Span | undefined {
  for (const { poly, observed } of analysis.mask(loopOf(atom.loop).continues)) {
    const most = subPoly(polyOfAtom(atom), poly);
    // Names are what they are; what is computed of them may wrap.
    const isExact = observed.every((one) => one.poly.size === 1 && one.where === undefined);
    if (!varies(most) && isExact) return { least: polyOf(0), most };
  }
  return undefined;
}

/** The span of a scalar that is clamped to numbers of the launch. */
function clampOf(value: Value, analysis: AffineAnalysis, demands: Demands): Span | undefined {
  const upper = madeBy(value, "min");
  for (const [inner, bound] of pairsOf(upper)) {
    const most = fixed(bound, analysis);
    for (const [, lower] of pairsOf(madeBy(inner, "max"))) {
      const least = fixed(lower, analysis);
      if (most === undefined || least === undefined) continue;
      demands.atMost(polyExpr(least), polyExpr(most));
      return { least, most };
    }
  }
  return undefined;
}

function pairsOf(
  op: ReturnType<typeof madeBy<"min" | "max">>,
): readonly (readonly [Value, Value])[] {
  if (op === undefined) return [];
  const { left, right } = operandsOf(op);
  return [[left, right], [right, left]];
}

function fixed(value: Value, analysis: AffineAnalysis): Poly | undefined {
  const poly = analysis.int(value)?.poly;
  return poly === undefined || varies(poly) ? undefined : poly;
}
