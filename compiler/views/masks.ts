/**
 * What the mask of a load says of its lanes, as a view needs it: comparisons that all hold where the mask is set, and nothing
 * else. A part that holds if one thing or another does, such as `rk < K` in the first iteration of a loop alone, is demanded
 * of the launch: if K is at least a tile, it holds in all iterations.
 */
import type { AffineAnalysis } from "../contract/affine.ts";
import { type Constraint, varies } from "../contract/affine_rules.ts";
import { addPoly, type Poly, polyExpr, polyOf } from "../contract/poly.ts";
import type { Value } from "../ir/func.ts";
import { madeBy } from "../ir/op.ts";
import type { Demands } from "./demands.ts";
import { noView } from "./no_view.ts";

export interface MaskParts {
  /** What lanes must fulfil. */
  readonly constraints: readonly Constraint[];
  /** What all lanes of all launches that the view serves fulfil. */
  readonly always: readonly Constraint[];
}

/** The parts of a mask. */
export function partsOfMask(mask: Value | undefined, analysis: AffineAnalysis): MaskParts {
  if (mask === undefined) return { constraints: [], always: [] };
  if (analysis.isWhole(mask)) return { constraints: analysis.mask(mask), always: [] };
  const both = madeBy(mask, "and");
  if (both !== undefined) {
    const parts = both.operands.map((part) => partsOfMask(part, analysis));
    return {
      constraints: parts.flatMap(({ constraints }) => constraints),
      always: parts.flatMap(({ always }) => always),
    };
  }
  const always = madeBy(mask, "or")?.operands.find((part) =>
    analysis.isWhole(part) &&
    analysis.mask(part).every(({ poly }) => lastOf(poly, []) !== undefined)
  );
  if (always === undefined) return noView("its mask does more than bound coordinates");
  return { constraints: [], always: analysis.mask(always) };
}

/** Demands that a comparison holds on all lanes of a tile of this shape. */
export function demandAlways(
  { poly }: Constraint,
  shape: readonly number[],
  demands: Demands,
): void {
  const last = lastOf(poly, shape);
  if (last === undefined) noView("its mask does more than bound coordinates");
  demands.atMost(polyExpr(last), 0n);
}

/** The largest value on lanes of a tile of a number that is the same for all programs else. */
function lastOf(poly: Poly, shape: readonly number[]): Poly | undefined {
  let last = polyOf(0);
  for (const [key, term] of poly) {
    const { coefficient, atoms: [atom, ...others] } = term;
    if (atom?.kind !== "lane" || others.length > 0) {
      last = addPoly(last, new Map([[key, term]]));
    } else if (coefficient > 0n) {
      last = addPoly(last, polyOf(coefficient * BigInt((shape[atom.axis] ?? 1) - 1)));
    }
  }
  return varies(last) ? undefined : last;
}
