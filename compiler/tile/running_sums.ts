/**
 * Sums of powers less a maximum, along an axis: which of them are at least 2^-60 wherever a power is tiny. Then they are, with
 * tiny powers for zero, the sums in another order (flush_powers.ts).
 *
 *     top = max(x)                     some x is top: a power of about 1, or NaN
 *     sum = sum of exp(x - top)
 *
 *     loop (top, sum) from (start, ≥ 0):
 *       newer = max(top, max(x))       some x is newer, or newer is top
 *       shrink = exp(top - newer)      … and then this is 1
 *       sum = sum * shrink + sum of exp(x - newer)
 *
 * In the second case of the loop the powers may all be tiny, but the sum so far has had a power of about 1, as long as top is
 * not the start any more. While it is, all x are below it: the start must be such that no power is tiny then, neither zero nor
 * normal. From minus infinity they are NaN, and so is the sum from then on.
 *
 * The maximum must be reached: the difference must be zero where x is the maximum. It is not where the assembler's fma rounds
 * a product for the one and not for the other (x * scale - top), so such differences stay `apart`.
 */
import { type Edge, edgesOf, sourceOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { madeBy, operandsOf, pairOf, resultOf } from "../ir/op.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import {
  isAlike,
  leavesNoTiny,
  numberOf,
  type Power,
  powerOfDifference,
  rowsOf,
} from "./powers.ts";

/** What is known of a sum of powers that may be flushed. */
export interface FlushableSum {
  /** Values that are at least 2^-60 where a power is tiny. */
  readonly sums: readonly Value[];
  /** Must be of rounded products. */
  readonly apart: readonly OpOf<"sub">[];
}

export class RunningSums {
  readonly #users: ReadonlyMap<Value, readonly Op[]>;
  /** The edges of control flow that end at a value. */
  readonly #edges: ReadonlyMap<Value, readonly Edge[]>;

  constructor(func: Func, users = usersOf(func)) {
    this.#users = users;
    const edges = new Map<Value, Edge[]>();
    walkOps(
      func.body,
      (op) =>
        edgesOf(op).forEach((edge) =>
          edge.to.forEach((value) => edges.set(value, [...edges.get(value) ?? [], edge]))
        ),
    );
    this.#edges = edges;
  }

  /** Undefined where flushing the powers might change more than the order of the sum. */
  find(sum: OpOf<"reduce">): FlushableSum | undefined {
    const term = termOf(sum);
    if (term === undefined) return undefined;
    const proof: Proof = { terms: [term], starts: [...term.starts], apart: [], seen: new Map() };
    const sums: Value[] = [];
    if (term.older === undefined) sums.push(resultOf(sum));
    else {
      for (const user of this.#users.get(resultOf(sum)) ?? []) {
        const update = updateOf(user);
        if (update?.term.sum !== sum || !this.#isSound(update.older, update.before, proof)) {
          return undefined;
        }
        proof.apart.push(update.shrink.difference);
        sums.push(resultOf(user));
      }
    }
    const isProved = proof.starts.every((start) =>
      proof.terms.every(({ power, isDirect }) =>
        start === -Infinity || isDirect && leavesNoTiny(start, power)
      )
    );
    if (!isProved) return undefined;
    return { sums, apart: [...proof.apart, ...proof.terms.map(({ power }) => power.difference)] };
  }

  /** Whether a maximum and a sum are a start and no negative number, or come of such by updates. */
  #isSound(top: Value, sum: Value, proof: Proof): boolean {
    const seen = proof.seen.get(top) ?? new Set();
    if (seen.has(sum)) return true;
    proof.seen.set(top, seen.add(sum));
    const [start, first] = [numberOf(top), numberOf(sum)];
    if (start !== undefined) {
      proof.starts.push(start);
      return first !== undefined && first >= 0;
    }
    const edges = this.#edges.get(top);
    if (edges !== undefined) {
      return edges.every((edge) => {
        const [from, with_] = [sourceOf(edge, top), sourceOf(edge, sum)];
        return from !== undefined && with_ !== undefined && this.#isSound(from, with_, proof);
      });
    }
    const update = sum.def && updateOf(sum.def);
    if (update === undefined || update.term.top !== top) return false;
    proof.terms.push(update.term);
    proof.starts.push(...update.term.starts);
    proof.apart.push(update.shrink.difference);
    return this.#isSound(update.older, update.before, proof);
  }
}

interface Proof {
  readonly terms: Term[];
  /** What maxima begin with. */
  readonly starts: number[];
  readonly apart: OpOf<"sub">[];
  /** Maxima with their sums, of which nothing is left to prove but what is under way. */
  readonly seen: Map<Value, Set<Value>>;
}

/** A sum of powers of x less `top`, which is the maximum of x along the axis of the sum and of what is `older`. */
interface Term {
  readonly sum: OpOf<"reduce">;
  readonly power: Power;
  /** What is subtracted is the maximum itself. */
  readonly isDirect: boolean;
  readonly top: Value;
  readonly older: Value | undefined;
  /** Constants among what it is the maximum of. */
  readonly starts: readonly number[];
}

function termOf(sum: OpOf<"reduce">): Term | undefined {
  const { axis, operator } = sum.attrs;
  const power = powerOfDifference(operandsOf(sum).value);
  if (operator !== "add" || power === undefined) return undefined;
  const { left, right } = operandsOf(power.difference);
  let reached: Reached | undefined;
  const isReached = isAlike(left, right, axis, (x, row) => {
    const here = reachedBy(x, orNothing(row), axis);
    if (here === undefined || reached !== undefined && reached.top !== here.top) return false;
    reached = here;
    return true;
  });
  if (!isReached || reached === undefined) return undefined;
  const isDirect = orNothing(rowsOf(right, axis)) === reached.top;
  return { sum, power, isDirect, ...reached };
}

type Reached = Pick<Term, "top" | "older" | "starts">;

/** A maximum that is somewhere x, or something older; undefined if it is not seen to be. */
function reachedBy(x: Value, top: Value, axis: number): Reached | undefined {
  const parts = partsOf(top);
  const isMaximum = (one: Value, row: Value): boolean => {
    const reduced = madeBy(row, "reduce");
    return reduced?.attrs.operator === "max" && reduced.attrs.axis === axis &&
      operandsOf(reduced).value === one;
  };
  const others = parts.filter((part) => !isAlike(x, part, axis, isMaximum));
  const starts = others.flatMap((part) => numberOf(part) ?? []);
  const [older, ...more] = others.filter((part) => numberOf(part) === undefined);
  return others.length === parts.length || more.length > 0 ? undefined : { top, older, starts };
}

/** What a value is the maximum of. */
function partsOf(value: Value): readonly Value[] {
  const { def } = value;
  const isMaximum = def?.name === "max" ||
    def?.name === "math" && def.attrs.function === "maximum";
  return isMaximum ? pairOf(def).flatMap(partsOf) : [value];
}

/**
 * The maximum of `top == -inf ? 0 : top`, which others subtract so that rows that are masked as a whole are zero. Their powers
 * are zero already.
 */
function orNothing(value: Value): Value {
  const choice = madeBy(value, "select");
  if (choice === undefined) return value;
  const { condition, then, otherwise } = operandsOf(choice);
  const { def } = condition;
  const kept = def?.name === "eq" || def?.name === "le" ? otherwise : then;
  const isAsked = def !== undefined && ["eq", "le", "ne", "gt"].includes(def.name) &&
    def.operands[0] === kept && def.operands[1] !== undefined &&
    numberOf(def.operands[1]) === -Infinity;
  return isAsked ? kept : value;
}

/** `before * shrink + term`, where `shrink` is 1 if the maximum is the older one. */
interface Update {
  readonly term: Term;
  readonly older: Value;
  readonly before: Value;
  readonly shrink: Power;
}

function updateOf(op: Op): Update | undefined {
  for (const [product, sum] of addendsOf(op)) {
    const reduced = madeBy(sum, "reduce");
    const term = reduced && termOf(reduced);
    if (term?.older === undefined) continue;
    const { older, top } = term;
    for (const [before, factor] of [product, [product[1], product[0]] as const]) {
      const shrink = powerOfDifference(factor);
      if (shrink === undefined) continue;
      const { left, right } = operandsOf(shrink.difference);
      const isOne = isAlike(left, right, NO_AXIS, (a, b) => a === older && orNothing(b) === top);
      if (isOne) return { term, older, before, shrink };
    }
  }
  return undefined;
}

const NO_AXIS = -1;

type Pair = readonly [Value, Value];

/** The ways to see an operation as a product and what is added to it. */
function addendsOf(op: Op): readonly (readonly [Pair, Value])[] {
  if (op.name === "math" && op.attrs.function === "fma") {
    const { value, others: [by, added] } = operandsOf(op);
    return by && added ? [[[value, by], added]] : [];
  }
  if (op.name !== "add") return [];
  const { left, right } = operandsOf(op);
  return ([[left, right], [right, left]] as const).flatMap(([one, other]) => {
    const product = madeBy(one, "mul");
    return product === undefined ? [] : [[pairOf(product), other] as const];
  });
}
