/**
 * Orders of programs that keep rows of tiles together: numbers of them that are positive, which numbers alone do not show.
 *
 *     rows = min(tiles - pid / (8 * across) * 8, 8)
 *
 * is positive because the grid has no more than `tiles * across` programs, which is demanded.
 */
import type { AffineAnalysis } from "../contract/affine.ts";
import { varies } from "../contract/affine_rules.ts";
import { apply } from "../contract/expr.ts";
import type { Limits } from "../contract/magnitude.ts";
import {
  addPoly,
  gridAtom,
  mulPoly,
  type Poly,
  polyExpr,
  polyOf,
  polyOfAtom,
  quotientOf,
  scalePoly,
  subPoly,
} from "../contract/poly.ts";
import type { Value } from "../ir/func.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import type { Demands } from "./demands.ts";

/** Between which numbers values lie (bounds.ts). */
interface KnownLimits {
  readonly poly: (poly: Poly) => Limits;
  readonly value: (value: Value) => Limits;
  /** What a number is below by the test of a loop. */
  readonly end: (poly: Poly) => Poly | undefined;
}

export class ProgramGroups {
  readonly #analysis: AffineAnalysis;
  readonly #demands: Demands;
  readonly #limits: KnownLimits;

  constructor(analysis: AffineAnalysis, demands: Demands, limits: KnownLimits) {
    this.#analysis = analysis;
    this.#demands = demands;
    this.#limits = limits;
  }

  /** `a - c * (pid / (c * d))`, if the grid has at most `a * d` programs; or `pid % n` for pid, if n is at most that. */
  isPositive(poly: Poly): boolean {
    for (const { coefficient, atoms } of poly.values()) {
      const [atom, ...others] = atoms;
      if (atom?.kind !== "scalar" || others.length > 0 || coefficient >= 0n) continue;
      const { def } = atom.value;
      if (def?.name !== "div") continue;
      const { left, right } = operandsOf(def);
      const divisor = this.#polyOf(right);
      const count = this.#countOf(this.#polyOf(left));
      const all = addPoly(
        poly,
        scalePoly(new Map([[atom.key, { coefficient: 1n, atoms: [atom] }]]), -coefficient),
      );
      const across = quotientOf(divisor, polyOf(-coefficient));
      if (across === undefined || varies(all) || this.#limits.poly(across).min < 1n) continue;
      if (varies(across)) {
        if (this.#isInGroup(left, across, all)) return true;
        continue;
      }
      if (count === undefined) continue;
      const most = mulPoly(all, across);
      if (subPoly(count, most).size > 0) {
        this.#demands.atMost(polyExpr(count), apply("*", polyExpr(all), polyExpr(across)));
      }
      return true;
    }
    return false;
  }

  /**
   * Whether `program % (group * across)` is less than `rows * across`, where
   * `rows = min(tiles - program / (group * across) * group, group)`: there are no more than `tiles * across` programs, which is
   * demanded, so that the last group has no more than its rows.
   */
  #isInGroup(place: Value, rows: Poly, across: Poly): boolean {
    const rem = madeBy(place, "rem");
    const [term, ...others] = [...rows.values()];
    const [atom, ...factors] = term?.atoms ?? [];
    const least = atom?.kind === "scalar" ? madeBy(atom.value, "min") : undefined;
    const isRows = term?.coefficient === 1n && others.length === 0 && factors.length === 0;
    if (rem === undefined || least === undefined || !isRows) return false;
    const { left: program, right } = operandsOf(rem);
    const count = this.#countOf(this.#polyOf(program));
    const size = this.#polyOf(right);
    const isSize = (poly: Poly): boolean => subPoly(size, poly).size === 0;
    if (
      count === undefined || this.#limits.value(program).min < 0n ||
      this.#limits.value(right).min < 1n
    ) {
      return false;
    }
    const isOfLast = (tilesLeft: Poly): boolean =>
      [...tilesLeft.values()].some(({ coefficient, atoms }) => {
        const [group, ...more] = atoms;
        const div = group?.kind === "scalar" ? madeBy(group.value, "div") : undefined;
        if (group === undefined || div === undefined || more.length > 0) return false;
        const tiles = addPoly(tilesLeft, scalePoly(polyOfAtom(group), -coefficient));
        const isSame = operandsOf(div).left === program &&
          isSize(this.#polyOf(operandsOf(div).right)) &&
          isSize(scalePoly(across, -coefficient));
        if (!isSame || varies(tiles)) return false;
        const most = mulPoly(tiles, across);
        if (subPoly(count, most).size > 0) this.#demands.atMost(polyExpr(count), polyExpr(most));
        return true;
      });
    return least.operands.every((value) => {
      const poly = this.#polyOf(value);
      return isSize(mulPoly(poly, across)) || isOfLast(poly);
    });
  }

  #polyOf(value: Value): Poly {
    return this.#analysis.int(value)?.poly ?? polyOf(0);
  }

  /** More than a number that counts programs from zero, or those that share something. */
  #countOf(poly: Poly): Poly | undefined {
    const end = this.#limits.end(poly);
    if (end !== undefined) return end;
    const [term, ...more] = [...poly.values()];
    const [atom, ...factors] = term?.atoms ?? [];
    if (term?.coefficient !== 1n || more.length > 0 || factors.length > 0) return undefined;
    if (atom?.kind === "pid") return polyOfAtom(gridAtom(atom.axis));
    const def = atom?.kind === "scalar" ? atom.value.def : undefined;
    if (def?.name !== "rem") return undefined;
    const { left, right } = operandsOf(def);
    const count = this.#analysis.int(right)?.poly;
    const isCounted = this.#limits.value(left).min >= 0n && this.#limits.value(right).min >= 1n;
    return isCounted && count !== undefined && !varies(count) ? count : undefined;
  }
}
