/**
 * The values that scalar integers may have: from constants, what is known of parameters, and arithmetic on them. A
 * comparison is 0 or 1, and one that is either alone is decided. Integers that may wrap may have every value.
 */
import { constantOf, pairOf } from "../ir/op.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import { isPointer } from "../ir/types.ts";
import { intRange } from "../support/arith.ts";
import { SCALARS } from "../support/scalar.ts";

/** Inclusive bounds. */
export interface ScalarRange {
  readonly least: bigint;
  readonly most: bigint;
}

/** The range of a value; undefined for tiles, pointers and floats. */
export type RangeOf = (value: Value) => ScalarRange | undefined;

/** How many operations deep a value is looked at: conditions of loops are short. */
const DEEPEST = 40;

const CERTAIN: ScalarRange = { least: 1n, most: 1n };
const IMPOSSIBLE: ScalarRange = { least: 0n, most: 0n };
const OPEN: ScalarRange = { least: 0n, most: 1n };

/**
 * Ranges in a function. `known` has those of values that others flow into, such as the parameters of a region on one way into
 * it; `resolved` gives the value that replaces another.
 */
export function rangesIn(
  func: Func,
  known: ReadonlyMap<Value, ScalarRange | undefined> = new Map(),
  resolved: (value: Value) => Value = (value) => value,
): RangeOf {
  const ranges = new Map(known);
  const facts = new Map(func.params.map((param, index) => [param, func.paramFacts[index]]));
  const find = (given: Value, depth: number): ScalarRange | undefined => {
    const value = resolved(given);
    if (ranges.has(value)) return ranges.get(value);
    const whole = wholeRange(value);
    if (whole === undefined) return undefined;
    const constant = constantOf(value);
    if (typeof constant === "bigint") return { least: constant, most: constant };
    const { def } = value;
    const fact = facts.get(value);
    const found = fact !== undefined
      ? { least: BigInt(fact.least ?? whole.least), most: BigInt(fact.most ?? whole.most) }
      : def === undefined || depth === 0
      ? whole
      : RULES[def.name]?.(def, (operand) => find(operand, depth - 1)) ?? whole;
    const isWithin = found.least >= whole.least && found.most <= whole.most;
    const range = isWithin && found.least <= found.most ? found : whole;
    ranges.set(value, range);
    return range;
  };
  return (value) => find(value, DEEPEST);
}

function wholeRange({ type: { element, shape } }: Value): ScalarRange | undefined {
  if (shape.length > 0 || isPointer(element)) return undefined;
  if (element === "bool") return OPEN;
  if (SCALARS[element].class !== "int") return undefined;
  const [least, most] = intRange(element);
  return { least, most };
}

type Rule = (op: Op, rangeOf: RangeOf) => ScalarRange | undefined;

/** From the ranges of two operands. */
const of2 = (
  combine: (a: ScalarRange, b: ScalarRange) => ScalarRange | undefined,
): Rule =>
(op, rangeOf) => {
  const [left, right] = pairOf(op);
  const [a, b] = [rangeOf(left), rangeOf(right)];
  return a === undefined || b === undefined ? undefined : combine(a, b);
};

const lesser = (a: bigint, b: bigint): bigint => a < b ? a : b;
const greater = (a: bigint, b: bigint): bigint => a > b ? a : b;

const less = (a: ScalarRange, b: ScalarRange): ScalarRange =>
  a.most < b.least ? CERTAIN : a.least >= b.most ? IMPOSSIBLE : OPEN;

const negated = ({ least, most }: ScalarRange): ScalarRange => ({
  least: 1n - most,
  most: 1n - least,
});

const equal = (a: ScalarRange, b: ScalarRange): ScalarRange =>
  a.most < b.least || b.most < a.least
    ? IMPOSSIBLE
    : a.least === a.most && b.least === b.most
    ? CERTAIN
    : OPEN;

const RULES: Readonly<Partial<Record<TileOp, Rule>>> = {
  add: of2((a, b) => ({ least: a.least + b.least, most: a.most + b.most })),
  sub: of2((a, b) => ({ least: a.least - b.most, most: a.most - b.least })),
  mul: of2((a, b) => {
    const ends = [a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most];
    return { least: ends.reduce(lesser), most: ends.reduce(greater) };
  }),
  min: of2((a, b) => ({ least: lesser(a.least, b.least), most: lesser(a.most, b.most) })),
  max: of2((a, b) => ({ least: greater(a.least, b.least), most: greater(a.most, b.most) })),
  // Both round towards zero, so a quotient grows with the dividend.
  div: of2((a, b) =>
    b.least === b.most && b.least > 0n
      ? { least: a.least / b.least, most: a.most / b.least }
      : undefined
  ),
  lt: of2(less),
  gt: of2((a, b) => less(b, a)),
  ge: of2((a, b) => negated(less(a, b))),
  le: of2((a, b) => negated(less(b, a))),
  eq: of2(equal),
  ne: of2((a, b) => negated(equal(a, b))),
  // The result is checked against its type: a conversion that may wrap may give anything.
  convert: ({ operands: [value] }, rangeOf) => value === undefined ? undefined : rangeOf(value),
  assume_multiple: ({ operands: [value] }, rangeOf) =>
    value === undefined ? undefined : rangeOf(value),
};
