/**
 * Exact arithmetic on scalar constants, with the results of run time (language.md, section 9). The checker's
 * constant expressions and the folding of both IRs share it, so that a folded constant never differs from
 * a computed one.
 *
 * Integers and bool are bigints in the range of their type, floats are numbers that the type can hold.
 */
import { floatBits, floatFormat, floatFromBits, roundFloat } from "./float.ts";
import { type ScalarName, SCALARS } from "./scalar.ts";

export { floatBits, floatFromBits, roundFloat };

export type ScalarValue = bigint | number;

// deno-fmt-ignore
export type ArithOperator =
  | "add" | "sub" | "mul" | "div" | "rem" | "shl" | "shr" | "and" | "or" | "xor" | "min" | "max"
  | ComparisonOperator;
type ComparisonOperator = "lt" | "le" | "gt" | "ge" | "eq" | "ne";

type IntRule = (a: bigint, b: bigint, bits: number) => bigint | undefined;
type FloatRule = (a: number, b: number) => number | bigint;

/** Results before wrapping to the type; undefined: run time leaves the value unspecified. */
const INT_RULES: Readonly<Record<ArithOperator, IntRule>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => b === 0n ? undefined : a / b,
  rem: (a, b) => b === 0n ? undefined : a % b,
  // A count is unsigned, so a negative one is at least the width.
  shl: (a, b, bits) => b < 0n || b >= bits ? 0n : a << b,
  shr: (a, b, bits) => a >> (b < 0n || b >= bits ? BigInt(bits) : b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  min: (a, b) => a < b ? a : b,
  max: (a, b) => a > b ? a : b,
  lt: (a, b) => bool(a < b),
  le: (a, b) => bool(a <= b),
  gt: (a, b) => bool(a > b),
  ge: (a, b) => bool(a >= b),
  eq: (a, b) => bool(a === b),
  ne: (a, b) => bool(a !== b),
};

/**
 * Results in double precision; rounding them once more to the type gives the correctly rounded result,
 * because 53 bits are at least 2p + 2 for every type of p ≤ 24 bits, and float64 needs no second rounding.
 */
const FLOAT_RULES: Readonly<Partial<Record<ArithOperator, FloatRule>>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: (a, b) => Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b),
  max: (a, b) => Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b),
  lt: (a, b) => bool(a < b),
  le: (a, b) => bool(a <= b),
  gt: (a, b) => bool(a > b),
  ge: (a, b) => bool(a >= b),
  eq: (a, b) => bool(a === b),
  ne: (a, b) => bool(a !== b),
};

const bool = (value: boolean): bigint => value ? 1n : 0n;

/** The low bits of a value, read by the type's signedness. For bool the lowest bit: conversion is another thing. */
export function wrapInt(value: bigint, type: ScalarName): bigint {
  const { bits, signed } = SCALARS[type];
  return signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}

/** Smallest and largest value of an integer type. */
export function intRange(type: ScalarName): readonly [bigint, bigint] {
  const { bits, signed } = SCALARS[type];
  return signed
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
}

/**
 * `a op b` for two values of one type (the count of a shift may have another). Comparisons give 0n or 1n.
 * Undefined when run time leaves the value unspecified, and for what the type does not have.
 */
export function evalBinary(
  operator: ArithOperator,
  type: ScalarName,
  a: ScalarValue,
  b: ScalarValue,
): ScalarValue | undefined {
  if (typeof a === "bigint" && typeof b === "bigint") {
    const result = INT_RULES[operator](a, b, SCALARS[type].bits);
    return result === undefined || isComparison(operator) ? result : wrapInt(result, type);
  }
  if (typeof a === "number" && typeof b === "number") {
    const result = FLOAT_RULES[operator]?.(a, b);
    return typeof result === "number" ? roundFloat(result, type) : result;
  }
  return undefined;
}

const COMPARISONS: ReadonlySet<string> = new Set<ComparisonOperator>([
  "lt",
  "le",
  "gt",
  "ge",
  "eq",
  "ne",
]);

/** Whether it is one of those whose results are true or false. */
export function isComparison(operator: string): operator is ComparisonOperator {
  return COMPARISONS.has(operator);
}

/** `-a`, or `~a`, which on bool is the negation; undefined for `~` of a float. */
export function evalUnary(
  operator: "neg" | "not",
  type: ScalarName,
  a: ScalarValue,
): ScalarValue | undefined {
  if (typeof a === "bigint") return wrapInt(operator === "neg" ? -a : ~a, type);
  return operator === "neg" ? -a : undefined;
}

/** The value in another type. */
export function convertScalar(value: ScalarValue, to: ScalarName): ScalarValue {
  if (to === "bool") return bool(typeof value === "bigint" ? value !== 0n : value !== 0);
  if (SCALARS[to].class === "float") {
    return typeof value === "bigint" ? roundInteger(value, to) : roundFloat(value, to);
  }
  return typeof value === "bigint" ? wrapInt(value, to) : saturate(value, to);
}

/** The same bits in another type of equal width; undefined when a NaN is involved, whose bits a number loses. */
export function bitcastScalar(
  value: ScalarValue,
  from: ScalarName,
  to: ScalarName,
): ScalarValue | undefined {
  if (Number.isNaN(value)) return undefined;
  const bits = typeof value === "bigint"
    ? BigInt.asUintN(SCALARS[from].bits, value)
    : floatBits(value, from);
  if (SCALARS[to].class === "int") return wrapInt(bits, to);
  const result = floatFromBits(bits, to);
  return Number.isNaN(result) ? undefined : result;
}

/** Whether every value of a type is a value of the other, so that a conversion there and back changes nothing. */
export function isLossless(from: ScalarName, to: ScalarName): boolean {
  if (from === to) return true;
  const [source, target] = [SCALARS[from], SCALARS[to]];
  if (source.class === "int" && target.class === "int") {
    const [[lo, hi], [toLo, toHi]] = [intRange(from), intRange(to)];
    return toLo <= lo && hi <= toHi && to !== "bool";
  }
  if (target.class === "int") return false;
  const format = floatFormat(to);
  if (source.class === "int") {
    const magnitudeBits = source.bits - (source.signed ? 1 : 0);
    return magnitudeBits <= format.precision && 2 ** magnitudeBits <= format.max;
  }
  const given = floatFormat(from);
  return given.precision <= format.precision && given.max <= format.max &&
    given.minExponent - given.precision >= format.minExponent - format.precision;
}

/** Truncates and clamps; NaN gives 0. */
function saturate(value: number, to: ScalarName): bigint {
  if (Number.isNaN(value)) return 0n;
  const [lo, hi] = intRange(to);
  if (value >= Number(hi)) return hi; // Number(hi) may round up to a power of two, which saturates too
  if (value <= Number(lo)) return lo;
  return BigInt(Math.trunc(value));
}

/** Rounds once: an integer of more than 53 bits keeps its upper 52 and one that says whether any below is set. */
function roundInteger(value: bigint, to: ScalarName): number {
  const magnitude = value < 0n ? -value : value;
  const excess = magnitude.toString(2).length - 53;
  if (excess <= 0 || to === "float64") return roundFloat(Number(value), to);
  const shift = BigInt(excess + 1);
  const upper = magnitude >> shift;
  const sticky = upper << shift === magnitude ? 0n : 1n;
  const rounded = Number((upper << 1n) | sticky) * 2 ** excess;
  return roundFloat(value < 0n ? -rounded : rounded, to);
}

/**
 * The least number that both divide. Where that is above 2^53, which a number holds only rounded, the larger of the
 * two: what is a multiple of both is still a multiple of it.
 */
export function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  const least = a / x * b;
  return Number.isSafeInteger(least) ? least : Math.max(a, b);
}
