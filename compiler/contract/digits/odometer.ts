/**
 * Digits that a loop counts along, because divisions would take longer. In each iteration the number behind them, x, grows by
 * a constant g:
 *
 *     done = q >= Q - g % Q                  whether the digit above grows by one more
 *     q += done ? g % Q - Q : g % Q          x % Q, if it was before
 *     p += done ? g / Q % P + 1 : g / Q % P
 *     done2 = p >= P
 *     p -= done2 ? P : 0                     x / Q % P
 *     n += done2 ? g / Q / P + 1 : g / Q / P x / Q / P
 *
 * By induction: the digits before the loop are those of x there (digits.ts), and each iteration adds the digits of g, with
 * what the digits below carry.
 */
import { type Func, isOp, type Op, type Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { type AffineInt, allObserved, bounded, opaque } from "../affine_rules.ts";
import type { Carried } from "../carried.ts";
import { Digits, growing, isCounted, sumFits } from "./digits.ts";
import {
  addPoly,
  constantOf,
  type Digit,
  iterationAtom,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  subPoly,
} from "../poly.ts";

/** A digit that a loop counts along. */
interface Counted {
  /** What it is a digit of: before the loop, and in an iteration. */
  readonly before: Poly;
  readonly now: Poly;
  /** Below what it stays; undefined: it is the last one. */
  readonly modulus: Poly | undefined;
  /** By how much what it is a digit of grows, without what is carried from below. */
  readonly growth: Poly;
  /** Whether it carries into the digit above. */
  readonly carry: Value | undefined;
}

/** Digits of one function: of divisions, and those that loops count along. */
export interface DigitSources {
  readonly divided: Digits;
  readonly counted: Odometers;
}

export function digitsOf(
  func: Func,
  int: Known["int"],
  carried: Known["carried"],
): DigitSources {
  const divided = new Digits(func);
  return { divided, counted: new Odometers({ int, carried, digits: divided }) };
}

/** What is known of the values of a function. */
interface Known {
  readonly int: (value: Value) => AffineInt | undefined;
  readonly carried: ReadonlyMap<Value, Carried>;
  readonly digits: Digits;
}

/** Digits that loops of one function count along. */
class Odometers {
  readonly #known: Known;
  readonly #found = new Map<Value, Counted | undefined>();

  constructor(known: Known) {
    this.#known = known;
  }

  /** What a parameter of a loop is in an iteration, if it is such a digit. */
  int(value: Value): AffineInt | undefined {
    const counted = this.#counted(value);
    const carried = this.#known.carried.get(value);
    const from = carried && this.#known.int(carried.from);
    if (counted === undefined || from === undefined) return undefined;
    const { now, modulus } = counted;
    if (modulus === undefined) return bounded(now, from.observed);
    const observed = allObserved(from.observed, [sumFits(modulus)]);
    return bounded(this.#known.digits.remainder(now, modulus), observed);
  }

  #counted(value: Value): Counted | undefined {
    if (this.#found.has(value)) return this.#found.get(value);
    this.#found.set(value, undefined);
    const carried = this.#known.carried.get(value);
    const from = carried && isCounted(value) ? this.#poly(carried.from) : undefined;
    const digit = from && this.#digitOf(from);
    const found = carried === undefined || from === undefined || digit === undefined
      ? undefined
      : same(from, polyOfAtom(digit))
      ? this.#last(value, carried, digit)
      : this.#inner(value, carried, digit);
    this.#found.set(value, found);
    return found;
  }

  /** The quotient that a digit is, or that is left out of it. */
  #digitOf(poly: Poly): Digit | undefined {
    return [...poly.values()].flatMap(({ atoms }) => atoms)
      .find((atom): atom is Digit =>
        atom.kind === "digit" && (same(poly, polyOfAtom(atom)) ||
          same(poly, this.#known.digits.remainder(atom.dividend, atom.divisor)))
      );
  }

  /** `n += carry ? e + 1 : e`. */
  #last(value: Value, { loop, repeated }: Carried, digit: Digit): Counted | undefined {
    const step = this.#sum(value, repeated);
    const below = step && this.#carrying(step.condition, digit, loop);
    const growth = below && this.#quotient(below);
    const grows = step !== undefined && growth !== undefined && this.#is(step.otherwise, growth) &&
      this.#is(step.then, addPoly(growth, polyOf(1)));
    if (!grows || below === undefined) return undefined;
    const before = polyOfAtom(digit);
    const now = this.#above(below);
    return { before, now, modulus: undefined, growth, carry: undefined };
  }

  #inner(value: Value, { loop, number, repeated }: Carried, digit: Digit): Counted | undefined {
    const { dividend: before, divisor: modulus } = digit;
    const [term] = [...before.values()];
    const [atom] = term?.atoms ?? [];
    const isAbove = atom?.kind === "digit" && same(before, polyOfAtom(atom));
    if (!isAbove) {
      // q += q >= Q - a ? a - Q : a
      const step = this.#sum(value, repeated);
      const least = step && this.#atLeast(step.condition);
      const by = step && this.#poly(step.otherwise);
      const growth = by && this.#dividendOf(by, modulus);
      if (step === undefined || least === undefined || by === undefined || growth === undefined) {
        return undefined;
      }
      const isDigit = this.#isBody(least.value, value) &&
        this.#is(step.then, subPoly(by, modulus)) &&
        same(least.bound, subPoly(modulus, by)) && (constantOf(growth) ?? 0n) > 0n;
      const now = growing(before, growth, polyOfAtom(iterationAtom(loop, number)));
      return isDigit ? { before, now, modulus, growth, carry: step.condition } : undefined;
    }
    // t = p + (carry ? b + 1 : b); p = t - (t >= P ? P : 0)
    const { def } = repeated ?? {};
    const less = isOp(def, "sub") ? operandsOf(def) : undefined;
    const taken = less?.right.def;
    const step = less && this.#sum(value, less.left);
    const below = step && this.#carrying(step.condition, atom, loop);
    const growth = below && this.#quotient(below);
    if (!isOp(taken, "select") || step === undefined || less === undefined) return undefined;
    if (growth === undefined || below === undefined) return undefined;
    const by = this.#poly(step.otherwise);
    const { condition, then, otherwise } = operandsOf(taken);
    const least = this.#atLeast(condition);
    const dividend = by && this.#dividendOf(by, modulus);
    const isDigit = by !== undefined && dividend !== undefined && same(dividend, growth) &&
      this.#is(step.then, addPoly(by, polyOf(1))) && this.#is(then, modulus) &&
      this.#is(otherwise, polyOf(0)) && least?.value === less.left && same(least.bound, modulus);
    const now = this.#above(below);
    return isDigit ? { before, now, modulus, growth, carry: condition } : undefined;
  }

  /** `value + (condition ? then : otherwise)`. */
  #sum(value: Value, sum: Value | undefined): {
    readonly condition: Value;
    readonly then: Value;
    readonly otherwise: Value;
  } | undefined {
    if (!isOp(sum?.def, "add")) return undefined;
    const { left, right } = operandsOf(sum.def);
    const by = this.#isBody(left, value) ? right : this.#isBody(right, value) ? left : undefined;
    return isOp(by?.def, "select") ? operandsOf(by.def) : undefined;
  }

  /** The digit below, if a condition says that it carries into a quotient. */
  #carrying(condition: Value, quotient: Digit, loop: Op): Counted | undefined {
    const least = this.#atLeast(condition)?.value;
    const added = isOp(least?.def, "add") ? operandsOf(least.def) : undefined;
    for (const value of [least, added?.left, added?.right]) {
      const entered = value && this.#known.carried.get(value);
      const below = entered?.loop === loop ? this.#counted(entered.from) : undefined;
      if (below?.carry !== condition || below.modulus === undefined) continue;
      const isIt = same(below.before, quotient.dividend) && same(below.modulus, quotient.divisor);
      if (isIt) return below;
    }
    return undefined;
  }

  /** What the digits above one are of. */
  #above({ now, modulus = polyOf(1) }: Counted): Poly {
    return polyOfAtom(this.#known.digits.quotient(now, modulus));
  }

  /** By how much they grow. */
  #quotient({ growth, modulus = polyOf(1) }: Counted): Poly {
    return opaque("/", growth, modulus);
  }

  /** A number of which this is what is left by a division. */
  #dividendOf(poly: Poly, divisor: Poly): Poly | undefined {
    const [term, ...others] = [...poly.values()];
    const [atom, ...factors] = term?.atoms ?? [];
    const op = atom?.kind === "opaque" ? atom.value?.def : undefined;
    if (others.length > 0 || factors.length > 0 || !isOp(op, "rem")) return undefined;
    const { left, right } = operandsOf(op);
    const dividend = this.#poly(left);
    return dividend !== undefined && this.#is(right, divisor) && term?.coefficient === 1n
      ? dividend
      : undefined;
  }

  #atLeast({ def }: Value): { readonly value: Value; readonly bound: Poly } | undefined {
    if (!isOp(def, "ge") && !isOp(def, "le")) return undefined;
    const { left, right } = operandsOf(def);
    const [value, bound] = def.name === "ge" ? [left, right] : [right, left];
    const poly = this.#poly(bound);
    return poly && { value, bound: poly };
  }

  /** Whether a value is a parameter of the loop in its body. */
  #isBody(inside: Value, value: Value): boolean {
    const entered = this.#known.carried.get(inside);
    return entered !== undefined && entered.repeated === undefined && entered.from === value;
  }

  #poly(value: Value): Poly | undefined {
    return this.#known.int(value)?.poly;
  }

  #is(value: Value, poly: Poly): boolean {
    const own = this.#poly(value);
    return own !== undefined && same(own, poly);
  }
}

const same = (a: Poly, b: Poly): boolean => polyKey(a) === polyKey(b);
