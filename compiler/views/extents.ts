/**
 * How far the axes of a view reach. A mask is set where some coordinates are within their extents, and nowhere else; then
 * a box whose elements outside of the tensor are zero is what the masked load gives. Without a mask on an axis
 *
 * - a loop that reads it in whole steps ends it: `k > 0; k -= 32` reads up to K, if that is a multiple of 32;
 * - rows that no store lets through may have any value (dead_rows.ts).
 *
 * Where a mask ends at a number that the program has computed or loaded, the axis is ragged (ragged.ts).
 */
import type { AffineAnalysis } from "../contract/affine.ts";
import { type Constraint, opaque, varies } from "../contract/affine_rules.ts";
import { apply, constant } from "../contract/expr.ts";
import {
  addPoly,
  constantOf,
  laneAtom,
  type Poly,
  polyExpr,
  polyOf,
  quotientOf,
  scalePoly,
  subPoly,
} from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import { loopOf } from "../ir/flow.ts";
import { useSite } from "../support/source.ts";
import { coordinateOf, type Run } from "./axes.ts";
import type { Demands } from "./demands.ts";
import { noView } from "./no_view.ts";
import { termsOf } from "./terms.ts";

/** What a mask says of a run. */
export interface MaskedRun {
  /** Its extents, the same for all programs. */
  readonly extents: Poly[];
  /** Where it ends for one program. */
  readonly ends: Poly[];
  /** Elements before the first one are masked off. */
  isFromZero: boolean;
}

/** What a mask says of each run. */
export function extentsOf(
  runs: readonly Run[],
  constraints: readonly Constraint[],
  demands: Demands,
): readonly MaskedRun[] {
  const found = runs.map((): MaskedRun => ({ extents: [], ends: [], isFromZero: false }));
  for (const { poly, op } of constraints) {
    if (!varies(poly)) {
      // All lanes of all programs agree about it.
      demands.atMost(polyExpr(poly), 0n);
      continue;
    }
    const index = runs.findIndex((run) => !varies(subPoly(coordinateOf(run), poly)));
    const run = runs[index];
    if (run !== undefined) {
      found[index]?.extents.push(addPoly(subPoly(coordinateOf(run), poly), polyOf(1)));
      continue;
    }
    const counted = runs.findIndex((one) => extentOfParts(one, poly) !== undefined);
    const whole = runs[counted];
    const extent = whole && extentOfParts(whole, poly);
    if (extent !== undefined) {
      found[counted]?.extents.push(extent);
      continue;
    }
    const ragged = runs.findIndex((one) =>
      one.tile !== undefined && isOfProgram(subPoly(coordinateOf(one), poly))
    );
    const ending = runs[ragged];
    if (ending !== undefined) {
      found[ragged]?.ends.push(addPoly(subPoly(coordinateOf(ending), poly), polyOf(1)));
      continue;
    }
    const limits = runs.map((run) => constantOf(addPoly(poly, coordinateOf(run))));
    if (!limits.some((limit) => limit !== undefined && limit <= 0n)) {
      noView(`the mask has a part that bounds no coordinate: \`${textOf(op.span)}\``);
    }
    const first = found[limits.indexOf(0n)];
    if (first !== undefined) first.isFromZero = true;
  }
  return found;
}

/** The extent where a mask counts parts of elements, as columns of which each word has eight: `8 * lane < N`. */
function extentOfParts(run: Run, poly: Poly): Poly | undefined {
  if (run.tile === undefined) return undefined;
  const parts = poly.get(laneAtom(run.tile).key)?.coefficient ?? 0n;
  if (parts <= 1n) return undefined;
  const end = addPoly(subPoly(scalePoly(coordinateOf(run), parts), poly), polyOf(1));
  return varies(end) ? undefined : opaque("cdiv", end, polyOf(parts));
}

/** Whether all lanes of a program agree about it, in all iterations of its loops. */
function isOfProgram(poly: Poly): boolean {
  return [...poly.values()].every(({ atoms }) =>
    atoms.every(({ kind }) => kind !== "lane" && kind !== "run" && kind !== "iteration")
  );
}

/** The smallest of several extents. */
export function smallest(extents: readonly Poly[]): ContractExpr | undefined {
  const [first, ...others] = extents.map(polyExpr);
  return first === undefined
    ? undefined
    : others.reduce((all, one) => apply("min", all, one), first);
}

/**
 * The extent that a loop gives to an axis that it reads in whole steps: while `step * iteration < E` it reads `step` elements
 * from there on, so nothing at E or after it if E is a multiple of the step. What it compares may be a multiple of what it
 * reads: while `parts * step * iteration < E`, nothing at `E / parts`.
 */
export function extentOfLoop(
  run: Run,
  span: number,
  analysis: AffineAnalysis,
  demands: Demands,
): Poly | undefined {
  const [term, ...others] = [...termsOf(run.origin).values()];
  const [atom, ...factors] = term?.atoms ?? [];
  if (term === undefined || others.length > 0 || atom?.kind !== "iteration" || factors.length > 0) {
    return undefined;
  }
  const step = constantOf(term.coefficient);
  if (step === undefined || step < BigInt(span)) return undefined;
  for (const { poly } of analysis.mask(loopOf(atom.loop).continues)) {
    // parts * origin - E < 0
    const parts = (poly.get(atom.key)?.coefficient ?? 0n) / step;
    if (parts < 1n) continue;
    const end = addPoly(subPoly(scalePoly(run.origin, parts), poly), polyOf(1));
    if (varies(end)) continue;
    const whole = polyOf(parts * step);
    if (quotientOf(end, whole) === undefined) {
      demands.add(
        apply("==", apply("%", polyExpr(end), constant(parts * step)), constant(0)),
      );
    }
    return quotientOf(end, polyOf(parts)) ?? opaque("/", end, polyOf(parts));
  }
  return undefined;
}

function textOf(span: Parameters<typeof useSite>[0]): string {
  const { file, start, end } = useSite(span);
  const text = file.text.slice(start, end);
  return /^[^\n\r]{1,60}$/.test(text) ? text : "…";
}
