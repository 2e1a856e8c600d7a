/**
 * Tiles of signed numbers that are divided, as far as they are polynomials of a launch. A number that has wrapped is negative,
 * and quotients of negative numbers are equal in other runs than those that accesses are made for (`tile/non_negative.ts`):
 * a launch must keep these in their types.
 */
import { SCALARS } from "../support/scalar.ts";
import type { Func } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import type { AffineAnalysis } from "./affine.ts";
import { type Observation, varies } from "./affine_rules.ts";

export interface Dividend {
  readonly observed: readonly Observation[];
  readonly shape: readonly number[];
}

export function dividendsIn(func: Func, analysis: AffineAnalysis): readonly Dividend[] {
  const found: Dividend[] = [];
  walkOps(func.body, (op) => {
    if (op.name !== "div" && op.name !== "rem") return;
    const { left } = operandsOf(op);
    const { element, shape } = left.type;
    if (shape.length === 0 || isPointer(element) || !SCALARS[element].signed) return;
    const value = SCALARS[element].class === "int" ? analysis.int(left) : undefined;
    if (value === undefined || !varies(value.poly)) return;
    found.push({ observed: [...value.observed, { poly: value.poly, type: element }], shape });
  });
  return found;
}
