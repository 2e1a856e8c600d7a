/**
 * The sums of powers of attention and of softmax, and what a loop makes of them, as programs write them; running_sums.ts says
 * what follows.
 */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { madeBy, operandsOf, pairOf } from "../ir/op.ts";
import { isAlike, numberOf, type Power, powerOfDifference, rowsOf } from "./powers.ts";

/** A sum of powers of x less `top`, which is the maximum of x along the axis of the sum and of what is `older`. */
export interface Term {
  readonly sum: OpOf<"reduce">;
  readonly power: Power;
  /** The powers are those of x less the maximum itself. */
  readonly isDirect: boolean;
  readonly top: Value;
  /** Perhaps a constant. */
  readonly older: Value | undefined;
  /** Constants among what it is the maximum of. */
  readonly starts: readonly number[];
}

/** Whether the sum is at least about 1, or no power is tiny, whatever was before. */
export const isAlone = ({ older }: Term): boolean =>
  older === undefined || numberOf(older) !== undefined;

export function termOf(sum: OpOf<"reduce">): Term | undefined {
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
  const olders = others.filter((part) => numberOf(part) === undefined);
  if (others.length === parts.length || olders.length > 1) return undefined;
  return { top, older: olders[0] ?? others[0], starts };
}

/** Maxima of maxima that are looked into. */
const DEEPEST = 4;

/** What a value is the maximum of. */
function partsOf(value: Value, depth = DEEPEST): readonly Value[] {
  const { def } = value;
  const isMaximum = def?.name === "max" ||
    def?.name === "math" && def.attrs.function === "maximum";
  return isMaximum && depth > 0 ? pairOf(def).flatMap((part) => partsOf(part, depth - 1)) : [value];
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
export interface Update {
  readonly term: Term;
  readonly older: Value;
  /** Without it, `shrink + term`. */
  readonly before: Value | undefined;
  /** Differences that must be zero where values are equal: those of `shrink`, and of a factor of the term. */
  readonly differences: readonly OpOf<"sub">[];
}

export function updateOf(op: Op): Update | undefined {
  for (const [first, second] of addendsOf(op)) {
    const scaled = scaledTerm(second);
    if (scaled?.term.older === undefined) continue;
    const { term, term: { older, top } } = scaled;
    for (const { value, factor } of first) {
      const shrink = powerOfDifference(factor);
      if (shrink === undefined) continue;
      const { left, right } = operandsOf(shrink.difference);
      const isOne = isAlike(left, right, NO_AXIS, (a, b) => a === older && orNothing(b) === top);
      if (!isOne) continue;
      const differences = [shrink.difference, ...scaled.differences];
      return { term, older, before: value, differences };
    }
  }
  return undefined;
}

const NO_AXIS = -1;

interface Scaled {
  readonly term: Term;
  readonly differences: readonly OpOf<"sub">[];
}

/** A sum of powers less a maximum; or less that of a block, times `exp(top of the block - top)`, which is 1 if that is the top. */
function scaledTerm(value: Value): Scaled | undefined {
  const { def } = value;
  if (def?.name === "reduce") {
    const term = termOf(def);
    return term && { term, differences: [] };
  }
  for (const { value: sum, factor } of factorsOf(value)) {
    const reduced = sum && madeBy(sum, "reduce");
    const term = reduced && termOf(reduced);
    const power = powerOfDifference(factor);
    if (term === undefined || !isAlone(term) || power === undefined) continue;
    const top = topAbove(power);
    if (top === undefined || operandsOf(power.difference).left !== term.top) continue;
    const [older, ...more] = partsOf(top).filter((part) => part !== term.top);
    if (older === undefined || more.length > 0) continue;
    return { term: { ...term, top, older, isDirect: false }, differences: [power.difference] };
  }
  return undefined;
}

/** The maximum of a number and others, if it is what a power of the number subtracts: then the power is not above 1. */
export function topAbove({ difference, factor }: Power): Value | undefined {
  const { left, right } = operandsOf(difference);
  return factor === 1 && partsOf(right).includes(left) ? right : undefined;
}

/** A product, or one factor alone. */
interface Factors {
  readonly value: Value | undefined;
  readonly factor: Value;
}

function factorsOf(value: Value): readonly Factors[] {
  const product = madeBy(value, "mul");
  return product === undefined ? [{ value: undefined, factor: value }] : bothWays(pairOf(product));
}

const bothWays = ([left, right]: readonly [Value, Value]): readonly Factors[] => [
  { value: left, factor: right },
  { value: right, factor: left },
];

/** The ways to see an operation as a product, or a factor alone, and what is added to it. */
function addendsOf(op: Op): readonly (readonly [readonly Factors[], Value])[] {
  if (op.name === "math" && op.attrs.function === "fma") {
    const { value, others: [by, added] } = operandsOf(op);
    return by && added ? [[bothWays([value, by]), added]] : [];
  }
  if (op.name !== "add") return [];
  const { left, right } = operandsOf(op);
  return [[factorsOf(left), right], [factorsOf(right), left]];
}
