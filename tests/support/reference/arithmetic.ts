/** Operators on single elements (language.md, 5.4 and section 9). */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import type { TypedBinaryOperator } from "../../../compiler/check/tree/typed.ts";
import {
  boolean,
  type Cell,
  exact,
  type FloatCell,
  type IntCell,
  isExact,
  notZero,
  type PointerCell,
  rounded,
  UNKNOWN_FLOAT,
  UNKNOWN_INT,
  wrap,
} from "./cell.ts";
import {
  type FloatName,
  isFloatName,
  largestOf,
  roundTo,
  significantBits,
  spacing,
} from "./formats.ts";
import { addTerms } from "./sums.ts";

/** `a op b`; `type` is the element type of `a`. */
export function binaryCell(
  operator: TypedBinaryOperator,
  type: ScalarName | "pointer",
  a: Cell,
  b: Cell,
): Cell {
  if (a.kind === "int" && b.kind === "int" && type !== "pointer") {
    return intBinary(operator, type, a, b);
  }
  if (a.kind === "float" && b.kind === "float" && type !== "pointer" && isFloatName(type)) {
    return floatBinary(operator, type, a, b);
  }
  if (a.kind === "pointer" && b.kind === "pointer") return comparePointers(operator, a, b);
  throw new TypeError(`${operator} of ${a.kind} and ${b.kind}`);
}

type Comparison = "lt" | "le" | "gt" | "ge" | "eq" | "ne";
type Signs = Readonly<Record<Comparison, (order: number) => boolean>>;

/** What each comparison says of a difference below, at, or above zero. */
const COMPARISONS: Signs = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
};

function isComparison(operator: string): operator is Comparison {
  return Object.hasOwn(COMPARISONS, operator);
}

/** Undefined: the language leaves the value open. */
type IntRule = (a: bigint, b: bigint, bits: bigint) => bigint | undefined;

const INTS: Readonly<Record<Exclude<TypedBinaryOperator, Comparison>, IntRule>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => b === 0n ? undefined : a / b,
  rem: (a, b) => b === 0n ? undefined : a % b,
  shl: (a, b, bits) => b < 0n || b >= bits ? 0n : a << b,
  shr: (a, b, bits) => b < 0n || b >= bits ? (a < 0n ? -1n : 0n) : a >> b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  min: (a, b) => a < b ? a : b,
  max: (a, b) => a > b ? a : b,
};

function intBinary(
  operator: TypedBinaryOperator,
  type: ScalarName,
  a: IntCell,
  b: IntCell,
): IntCell {
  if (!a.known || !b.known) return decidedByOne(operator, type, a, b) ?? UNKNOWN_INT;
  if (isComparison(operator)) {
    return boolean(COMPARISONS[operator](a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  }
  const result = INTS[operator](a.value, b.value, BigInt(SCALARS[type].bits));
  return result === undefined ? UNKNOWN_INT : wrap(result, type);
}

/** `and` with 0, and `or` with true, whatever the other side is. */
function decidedByOne(
  operator: TypedBinaryOperator,
  type: ScalarName,
  a: IntCell,
  b: IntCell,
): IntCell | undefined {
  const known = a.known ? a : b;
  if (!known.known) return undefined;
  if (operator === "and" && known.value === 0n) return known;
  return operator === "or" && type === "bool" && known.value === 1n ? known : undefined;
}

function comparePointers(operator: TypedBinaryOperator, a: PointerCell, b: PointerCell): IntCell {
  if (!isComparison(operator)) throw new TypeError(`${operator} of pointers`);
  if (!a.known || !b.known) return UNKNOWN_INT;
  if (a.memory === b.memory) {
    return boolean(COMPARISONS[operator](a.index < b.index ? -1 : a.index > b.index ? 1 : 0));
  }
  if (operator === "eq") return boolean(false);
  return operator === "ne" ? boolean(true) : UNKNOWN_INT;
}

function floatBinary(
  operator: TypedBinaryOperator,
  type: FloatName,
  a: FloatCell,
  b: FloatCell,
): Cell {
  if (isComparison(operator)) return compareFloats(operator, a, b);
  const rule = FLOATS[operator];
  if (rule === undefined) throw new TypeError(`${operator} of floats`);
  return rule(type, a, b);
}

export function compareFloats(operator: Comparison, a: FloatCell, b: FloatCell): IntCell {
  const error = a.error + b.error;
  if (error === Infinity) return UNKNOWN_INT;
  if (Number.isNaN(a.value) || Number.isNaN(b.value)) return boolean(operator === "ne");
  if (a.value === b.value && error === 0) return boolean(COMPARISONS[operator](0));
  const distance = a.value - b.value;
  if (Math.abs(distance) <= error) return UNKNOWN_INT;
  return boolean(COMPARISONS[operator](distance));
}

type FloatRule = (type: FloatName, a: FloatCell, b: FloatCell) => FloatCell;

const FLOATS: Readonly<Partial<Record<TypedBinaryOperator, FloatRule>>> = {
  add,
  sub: (type, a, b) => add(type, a, negateFloat(b)),
  mul: multiply,
  div: divide,
  min: (_, a, b) => extreme(a, b, Math.min),
  max: (_, a, b) => extreme(a, b, Math.max),
};

function add(type: FloatName, a: FloatCell, b: FloatCell): FloatCell {
  if (a.terms !== undefined || b.terms !== undefined) return addTerms(type, a, b);
  return rounded(a.value + b.value, a.error + a.slack + b.error + b.slack, type);
}

function multiply(type: FloatName, a: FloatCell, b: FloatCell): FloatCell {
  const value = a.value * b.value;
  const error = isExact(a) && isExact(b)
    ? 0
    : notZero(Math.abs(a.value) * b.error + Math.abs(b.value) * a.error + a.error * b.error);
  if (Number.isNaN(error)) return UNKNOWN_FLOAT; // 0 times something unbounded
  const result = rounded(value, error, type);
  return { ...result, slack: productSlack(type, a.value, b.value, result) };
}

/** How far the rounded product may be from the one that a fused sum uses. */
function productSlack(type: FloatName, a: number, b: number, product: FloatCell): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return 0;
  if (!Number.isFinite(product.value)) return Infinity; // a fused sum may not overflow
  if (isExact(product) && isExactProduct(type, a, b, product.value)) return 0;
  return spacing(product.value, type);
}

function isExactProduct(type: FloatName, a: number, b: number, product: number): boolean {
  if (a === 0 || b === 0) return true;
  // In double a product of up to 53 significant bits is exact, unless it falls below the normal numbers.
  const fits = significantBits(a) + significantBits(b) <= 53;
  const value = a * b;
  return fits && Math.abs(value) > 2 ** -1000 && value === product &&
    Math.abs(product) <= largestOf(type);
}

function divide(type: FloatName, a: FloatCell, b: FloatCell): FloatCell {
  const value = a.value / b.value;
  if (isExact(a) && isExact(b)) return exact(roundTo(value, type));
  const least = Math.abs(b.value) - b.error;
  if (!(least > 0)) return UNKNOWN_FLOAT;
  return rounded(value, notZero((a.error + Math.abs(value) * b.error) / least), type);
}

/** Numbers win over NaN, and -0 is below +0 (language.md, 7.1). */
export function extreme(
  a: FloatCell,
  b: FloatCell,
  choose: (a: number, b: number) => number,
): FloatCell {
  if (a.error === Infinity || b.error === Infinity) return UNKNOWN_FLOAT;
  if (Number.isNaN(a.value)) return withoutSlack(b);
  if (Number.isNaN(b.value)) return withoutSlack(a);
  const value = choose(a.value, b.value);
  const error = Number.isFinite(value) ? Math.max(a.error, b.error) : 0;
  return { kind: "float", value, error, slack: 0 };
}

const withoutSlack = ({ value, error }: FloatCell): FloatCell => ({
  kind: "float",
  value,
  error,
  slack: 0,
});

/** A sign changes no digit, so a product stays one. */
function negateFloat(cell: FloatCell): FloatCell {
  return { ...cell, value: -cell.value };
}

/** `-a`, `~a`. */
export function unaryCell(operator: "neg" | "not", type: ScalarName, a: Cell): Cell {
  if (a.kind === "float" && operator === "neg") return negateFloat(a);
  if (a.kind !== "int") throw new TypeError(`${operator} of ${a.kind}`);
  if (!a.known) return a;
  return wrap(operator === "neg" ? -a.value : ~a.value, type);
}
