/**
 * Digits: quotients of tiles of one axis by a number of the launch, as of pixels that are counted through rows and pictures:
 *
 *     line = pixel / Q;  q = pixel - line * Q;  n = line / P;  p = line - n * P
 *
 * These are the quotients by themselves and polynomials over them; `pixel % Q` is `pixel - Q * (pixel / Q)`. So is what
 * counts along in a loop (odometer.ts). They are exact where the dividend is not negative.
 */
import { operandsOf } from "../../ir/op.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { isPointer } from "../../ir/types.ts";
import { SCALARS } from "../../support/scalar.ts";
import { type AffineInt, allObserved, bounded, type Observation, varies } from "../affine_rules.ts";
import {
  addPoly,
  type Digit,
  digitAtom,
  mulPoly,
  type Poly,
  polyKey,
  polyOfAtom,
  scalePoly,
  subPoly,
} from "../poly.ts";

/** The digits of one function. */
export class Digits {
  readonly #known = new Map<string, Digit>();

  /** A dividend's quotient. */
  quotient(dividend: Poly, divisor: Poly): Digit {
    // Keys of quotients of quotients would spell out all that they are made of.
    const key = `${polyKey(dividend)} / ${polyKey(divisor)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = digitAtom({ dividend, divisor, name: String(this.#known.size) }, 0);
    this.#known.set(key, made);
    return made;
  }

  /** What is left of a dividend. */
  remainder(dividend: Poly, divisor: Poly): Poly {
    return subPoly(dividend, mulPoly(divisor, polyOfAtom(this.quotient(dividend, divisor))));
  }

  /** A division of a tile of one axis. */
  ofDivision(
    op: OpOf<"div" | "rem">,
    of: (value: Value) => AffineInt | undefined,
  ): AffineInt | undefined {
    const { left, right } = operandsOf(op);
    const type = left.type.element;
    const [a, b] = [of(left), of(right)];
    if (a === undefined || b === undefined || isPointer(type)) return undefined;
    if (left.type.shape.length !== 1 || !varies(a.poly) || varies(b.poly)) return undefined;
    const observed = allObserved(a.observed, b.observed, [
      { poly: a.poly, type },
      { poly: b.poly, type },
    ]);
    return bounded(
      op.name === "div"
        ? polyOfAtom(this.quotient(a.poly, b.poly))
        : this.remainder(a.poly, b.poly),
      observed,
    );
  }
}

/** What must fit so that a digit below a number can have another one added to it. */
export function sumFits(most: Poly): Observation {
  return { poly: scalePoly(most, 2n), type: "int32" };
}

/** A polynomial that grows by a step in each iteration. */
export const growing = (from: Poly, step: Poly, iteration: Poly): Poly =>
  addPoly(from, mulPoly(step, iteration));

/** Whether a value is a tile of integers along one axis. */
export function isCounted({ type: { element, shape } }: Value): boolean {
  return shape.length === 1 && !isPointer(element) && SCALARS[element].class === "int" &&
    element !== "bool";
}
