/**
 * Digits: quotients of tiles of one axis by a number of the launch, as of pixels that are counted through rows and pictures:
 *
 *     line = pixel / Q;  q = pixel - line * Q;  n = line / P;  p = line - n * P
 *
 * These are the quotients by themselves and polynomials over them; `pixel % Q` is `pixel - Q * (pixel / Q)`. So is what
 * counts along in a loop (odometer.ts). They are exact where the dividend is not negative.
 *
 * Programs write the same digits in other ways, too, which become these where the program divides by Q as well:
 *
 *     n = pixel / (P * Q);  p = pixel % (P * Q) / Q
 */
import { operandsOf } from "../../ir/op.ts";
import { type Func, isOp, type OpOf, type Value } from "../../ir/func.ts";
import { isPointer } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { SCALARS } from "../../support/scalar.ts";
import { type AffineInt, allObserved, bounded, type Observation, varies } from "../affine_rules.ts";
import {
  addPoly,
  constantOf,
  type Digit,
  digitAtom,
  mulPoly,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  quotientOf,
  scalePoly,
  subPoly,
} from "../poly.ts";

/** The digits of one function. */
export class Digits {
  readonly #known = new Map<string, Digit>();
  readonly #divisors: ReadonlyMap<Value, readonly Value[]>;

  constructor(func: Func) {
    this.#divisors = divisorsOf(func);
  }

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
    const factors = (this.#divisors.get(numberOf(left)) ?? []).flatMap((value) =>
      of(value)?.poly ?? []
    );
    const quotient = this.#divided(a.poly, b.poly, factors);
    return bounded(
      op.name === "div" ? quotient : subPoly(a.poly, mulPoly(b.poly, quotient)),
      observed,
    );
  }

  /** A quotient as a polynomial; `factors`: what else the program divides the dividend by. */
  #divided(dividend: Poly, divisor: Poly, factors: readonly Poly[]): Poly {
    let [whole, rest] = [polyOf(0), dividend];
    for (const one of dividend) {
      const [, { atoms }] = one;
      const term: Poly = new Map([one]);
      const times = atoms.some(({ kind }) => kind === "digit")
        ? quotientOf(term, divisor)
        : undefined;
      if (times === undefined) continue;
      whole = addPoly(whole, times);
      rest = subPoly(rest, term);
    }
    for (const factor of factors) {
      const times = constantOf(factor) === 1n ? undefined : quotientOf(divisor, factor);
      if (times === undefined || constantOf(times) === 1n) continue;
      const inner = this.#divided(rest, factor, factors);
      return addPoly(whole, this.#divided(inner, times, factors));
    }
    return addPoly(whole, polyOfAtom(this.quotient(rest, divisor)));
  }
}

/** What tiles of one axis are divided by: `x % (P * Q) / Q` divides x by both. */
function divisorsOf({ body }: Func): ReadonlyMap<Value, readonly Value[]> {
  const found = new Map<Value, Value[]>();
  walkOps(body, (op) => {
    if (!isOp(op, "div") && !isOp(op, "rem")) return;
    const { left, right } = operandsOf(op);
    if (left.type.shape.length !== 1) return;
    const number = numberOf(left);
    const known = found.get(number);
    if (known === undefined) found.set(number, [right]);
    else known.push(right);
  });
  return found;
}

/** What is divided in the end: x in `x % (P * Q) / Q`. */
function numberOf(value: Value): Value {
  const { def } = value;
  if (isOp(def, "rem")) return numberOf(operandsOf(def).left);
  return isOp(def, "convert") ? numberOf(operandsOf(def).value) : value;
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
