/** Element-wise arithmetic. Floats are rewritten only where the result is the same to the last bit. */
import { isLossless, type ScalarValue } from "../../support/arith.ts";
import { SCALARS } from "../../support/scalar.ts";
import { constantOf } from "../../ir/attrs.ts";
import type { TileOp } from "../../ir/ops.ts";
import { type Element, isFloat, isPointer, sameElement, sameShape } from "../../ir/types.ts";
import { COMMUTING, isZero, madeBy, pair, resultOf, type Rule } from "./rule.ts";

/** A right operand that decides the result: `x op c` is x, or c, or zero. */
interface Identity {
  readonly op: TileOp;
  readonly right: (value: ScalarValue, element: Element) => boolean;
  readonly gives: "left" | "right" | "zero";
}

const zero = (value: ScalarValue): boolean => value === 0n;
const one = (value: ScalarValue): boolean => value === 1n || value === 1;
const intOne = (value: ScalarValue): boolean => value === 1n;
/** x + 0.0 is not x for -0.0, x + -0.0 is; x - 0.0 is x. */
const additiveZero = (value: ScalarValue): boolean => value === 0n || Object.is(value, -0);
/** Every bit set; of bool, true. */
const ones = (value: ScalarValue, element: Element): boolean =>
  !isPointer(element) &&
  value === (SCALARS[element].signed ? -1n : (1n << BigInt(SCALARS[element].bits)) - 1n);

// deno-fmt-ignore
const IDENTITIES: readonly Identity[] = [
  { op: "add",    right: additiveZero, gives: "left" },
  { op: "sub",    right: isZero,       gives: "left" },
  { op: "mul",    right: one,          gives: "left" },
  { op: "mul",    right: zero,         gives: "right" }, // not floats: NaN, infinity and -0.0 remain
  { op: "div",    right: one,          gives: "left" },
  { op: "rem",    right: intOne,       gives: "zero" },
  { op: "and",    right: ones,         gives: "left" },
  { op: "and",    right: zero,         gives: "right" },
  { op: "or",     right: zero,         gives: "left" },
  { op: "or",     right: ones,         gives: "right" },
  { op: "xor",    right: zero,         gives: "left" },
  { op: "shl",    right: zero,         gives: "left" },
  { op: "shr",    right: zero,         gives: "left" },
  { op: "offset", right: zero,         gives: "left" },
];

/** What `x op x` is: x itself, or a constant. */
interface Idempotence {
  readonly op: TileOp;
  readonly gives: "operand" | bigint;
  /** Does it hold for floats, where x may be NaN? */
  readonly floats: boolean;
}

// deno-fmt-ignore
const EQUAL_OPERANDS: readonly Idempotence[] = [
  { op: "and", gives: "operand", floats: false },
  { op: "or",  gives: "operand", floats: false },
  { op: "min", gives: "operand", floats: true },
  { op: "max", gives: "operand", floats: true },
  { op: "xor", gives: 0n, floats: false },
  { op: "sub", gives: 0n, floats: false },
  { op: "eq",  gives: 1n, floats: false },
  { op: "le",  gives: 1n, floats: false },
  { op: "ge",  gives: 1n, floats: false },
  { op: "ne",  gives: 0n, floats: false },
  { op: "lt",  gives: 0n, floats: false },
  { op: "gt",  gives: 0n, floats: false },
];

/** Comparisons by their negation; with floats only the first two, because of NaN. */
const NEGATED: ReadonlyMap<string, TileOp> = new Map<string, TileOp>([
  ["eq", "ne"],
  ["ne", "eq"],
  ["lt", "ge"],
  ["ge", "lt"],
  ["gt", "le"],
  ["le", "gt"],
]);

const opsOf = (
  rows: readonly { readonly op: TileOp }[],
): readonly TileOp[] => [...new Set(rows.map((row) => row.op))];

export const ALGEBRA_RULES: readonly Rule[] = [
  {
    name: "constant-right",
    doc: "c op x → x op c, where operands commute; the other rules look to the right only",
    ops: COMMUTING,
    apply: (op, rw) => {
      const [a, b] = pair(op);
      if (constantOf(a) === undefined || constantOf(b) !== undefined) return undefined;
      return rw.emit(op.name, [b, a], resultOf(op).type, op.span);
    },
  },
  {
    name: "identity",
    doc: "x op c → x, c or 0 by the table IDENTITIES",
    ops: opsOf(IDENTITIES),
    apply: (op, rw) => {
      const [a, b] = pair(op);
      const value = constantOf(b);
      if (value === undefined) return undefined;
      const row = IDENTITIES.find((row) => row.op === op.name && row.right(value, b.type.element));
      if (row === undefined) return undefined;
      return row.gives === "left"
        ? a
        : row.gives === "right"
        ? b
        : rw.constant(0n, resultOf(op).type, op.span);
    },
  },
  {
    name: "equal-operands",
    doc: "x op x → x or a constant by the table EQUAL_OPERANDS",
    ops: opsOf(EQUAL_OPERANDS),
    apply: (op, rw) => {
      const [a, b] = pair(op);
      const row = EQUAL_OPERANDS.find((row) => row.op === op.name);
      if (a !== b || row === undefined || (isFloat(a.type.element) && !row.floats)) {
        return undefined;
      }
      return row.gives === "operand" ? a : rw.constant(row.gives, resultOf(op).type, op.span);
    },
  },
  {
    name: "twice",
    doc: "-(-x), ~(~x) → x",
    ops: ["neg", "not"],
    apply: (op) => madeBy(op.operands[0], op.name)?.operands[0],
  },
  {
    name: "negated-comparison",
    doc: "!(a < b) → a >= b; floats only == and !=, because of NaN",
    ops: ["not"],
    apply: (op, rw) => {
      const inner = op.operands[0]?.def;
      const negated = NEGATED.get(inner?.name ?? "");
      if (inner === undefined || negated === undefined) return undefined;
      const [a, b] = pair(inner);
      const total = !isFloat(a.type.element) || inner.name === "eq" || inner.name === "ne";
      return total ? rw.emit(negated, [a, b], resultOf(op).type, op.span) : undefined;
    },
  },
  {
    name: "select-known",
    doc: "true ? a : b → a; c ? a : a → a",
    ops: ["select"],
    apply: (op) => {
      const [condition, a, b] = op.operands;
      const known = condition === undefined ? undefined : constantOf(condition);
      if (a === b || known === 1n) return a;
      return known === 0n ? b : undefined;
    },
  },
  {
    name: "select-not",
    doc: "!c ? a : b → c ? b : a",
    ops: ["select"],
    apply: (op, rw) => {
      const [condition, a, b] = op.operands;
      const inner = madeBy(condition, "not")?.operands[0];
      if (inner === undefined || a === undefined || b === undefined) return undefined;
      return rw.emit("select", [inner, b, a], resultOf(op).type, op.span);
    },
  },
  {
    name: "select-bool",
    doc: "c ? true : false → c; c ? false : true → !c",
    ops: ["select"],
    apply: (op, rw) => {
      const [condition, a, b] = op.operands;
      const { type } = resultOf(op);
      if (
        type.element !== "bool" || condition === undefined || a === undefined || b === undefined
      ) return undefined;
      const [yes, no] = [constantOf(a), constantOf(b)];
      if (yes === 1n && no === 0n) return condition;
      return yes === 0n && no === 1n ? rw.emit("not", [condition], type, op.span) : undefined;
    },
  },
  {
    name: "convert-nothing",
    doc: "(T) x → x for x of type T, also bit casts",
    ops: ["convert", "bitcast"],
    apply: (op) => {
      const [operand] = op.operands;
      return operand !== undefined && sameElement(operand.type.element, resultOf(op).type.element)
        ? operand
        : undefined;
    },
  },
  {
    name: "convert-twice",
    doc: "(C)(B) x → (C) x, where B holds every value of x's type; (C*)(B*) p → (C*) p. " +
      "Not where integers go through floats to narrower ones: floats saturate, integers wrap",
    ops: ["convert"],
    apply: (op, rw) => {
      const inner = madeBy(op.operands[0], "convert");
      const source = inner?.operands[0];
      const between = op.operands[0]?.type.element;
      if (source === undefined || !keepsValues(source.type.element, between)) return undefined;
      const { type } = resultOf(op);
      const saturates = between !== undefined && isFloat(between) && wraps(type.element) &&
        wraps(source.type.element) && !keepsValues(source.type.element, type.element);
      return saturates ? undefined : rw.emit("convert", [source], type, op.span);
    },
  },
  {
    name: "bitcast-twice",
    doc: "two bit casts → one",
    ops: ["bitcast"],
    apply: (op, rw) => {
      const source = madeBy(op.operands[0], "bitcast")?.operands[0];
      return source && rw.emit("bitcast", [source], resultOf(op).type, op.span);
    },
  },
  {
    name: "offset-twice",
    doc:
      "(p + a) + b → p + (a + b), where both counts are of one 64-bit type, or constants (which widen here). " +
      "Narrower counts may not be added: the sum wraps at their width, the pointer does not",
    ops: ["offset"],
    apply: (op, rw) => {
      const [pointer, b] = pair(op);
      const inner = madeBy(pointer, "offset");
      if (inner === undefined) return undefined;
      const [base, a] = pair(inner);
      const [constantA, constantB] = [constantOf(a), constantOf(b)];
      if (typeof constantA === "bigint" && typeof constantB === "bigint") {
        const sum = BigInt.asIntN(64, constantA + constantB);
        const count = rw.constant(sum, { element: "int64", shape: b.type.shape }, op.span);
        return rw.emit("offset", [base, count], resultOf(op).type, op.span);
      }
      const { element } = a.type;
      const wide = (element === "int64" || element === "uint64") &&
        sameElement(element, b.type.element);
      if (!wide || !sameShape(a.type.shape, b.type.shape)) return undefined;
      return rw.emit(
        "offset",
        [base, rw.emit("add", [a, b], a.type, op.span)],
        resultOf(op).type,
        op.span,
      );
    },
  },
];

/** A number that wraps; what becomes a bool is only compared with 0. */
const wraps = (element: Element): boolean =>
  !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";

/** Whether converting between the two loses nothing. */
function keepsValues(from: Element, to: Element | undefined): boolean {
  if (to === undefined) return false;
  if (isPointer(from) || isPointer(to)) return isPointer(from) && isPointer(to);
  return isLossless(from, to);
}
