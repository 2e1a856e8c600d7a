/** Element-wise arithmetic. Floats are rewritten only where the result is the same to the last bit. */
import { isLossless, type ScalarValue } from "../../support/arith.ts";
import { SCALARS } from "../../support/scalar.ts";
import type { Op, Value } from "../../ir/func.ts";
import type { Rewriter } from "../rewrite.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../../ir/op.ts";
import type { ComparisonOp, TileOp } from "../../ir/ops.ts";
import {
  type Element,
  type IrType,
  isFloat,
  isPointer,
  sameElement,
  sameShape,
  scalarType,
} from "../../ir/types.ts";
import { COMMUTING, isZero, type Rule, rule } from "./rule.ts";

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
const NEGATED: ReadonlyMap<string, ComparisonOp> = new Map<string, ComparisonOp>([
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
  rule({
    name: "constant-right",
    doc: "c op x → x op c, where operands commute; the other rules look to the right only",
    ops: COMMUTING,
    apply: (op, rw) => {
      const [a, b] = pairOf(op);
      if (constantOf(a) === undefined || constantOf(b) !== undefined) return undefined;
      return rw.emit(op.name, [b, a], resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "identity",
    doc: "x op c → x, c or 0 by the table IDENTITIES",
    ops: opsOf(IDENTITIES),
    apply: (op, rw) => {
      const [a, b] = pairOf(op);
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
  }),
  rule({
    name: "equal-operands",
    doc: "x op x → x or a constant by the table EQUAL_OPERANDS",
    ops: opsOf(EQUAL_OPERANDS),
    apply: (op, rw) => {
      const [a, b] = pairOf(op);
      const row = EQUAL_OPERANDS.find((row) => row.op === op.name);
      if (a !== b || row === undefined || (isFloat(a.type.element) && !row.floats)) {
        return undefined;
      }
      return row.gives === "operand" ? a : rw.constant(row.gives, resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "twice",
    doc: "-(-x), ~(~x) → x",
    ops: ["neg", "not"],
    apply: (op) => {
      const inner = madeBy(operandsOf(op).value, op.name);
      return inner && operandsOf(inner).value;
    },
  }),
  rule({
    name: "negated-comparison",
    doc: "!(a < b) → a >= b; floats only == and !=, because of NaN",
    ops: ["not"],
    apply: (op, rw) => {
      const inner = operandsOf(op).value.def;
      const negated = NEGATED.get(inner?.name ?? "");
      if (inner === undefined || negated === undefined) return undefined;
      const [a, b] = pairOf(inner);
      const total = !isFloat(a.type.element) || inner.name === "eq" || inner.name === "ne";
      return total ? rw.emit(negated, [a, b], resultOf(op).type, op.span) : undefined;
    },
  }),
  rule({
    name: "select-known",
    doc: "true ? a : b → a; c ? a : a → a",
    ops: ["select"],
    apply: (op) => {
      const { condition, then, otherwise } = operandsOf(op);
      const known = constantOf(condition);
      if (then === otherwise || known === 1n) return then;
      return known === 0n ? otherwise : undefined;
    },
  }),
  rule({
    name: "select-not",
    doc: "!c ? a : b → c ? b : a",
    ops: ["select"],
    apply: (op, rw) => {
      const { condition, then, otherwise } = operandsOf(op);
      const inner = madeBy(condition, "not");
      if (inner === undefined) return undefined;
      const sides = [operandsOf(inner).value, otherwise, then];
      return rw.emit("select", sides, resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "select-bool",
    doc: "c ? true : false → c; c ? false : true → !c",
    ops: ["select"],
    apply: (op, rw) => {
      const { condition, then, otherwise } = operandsOf(op);
      const { type } = resultOf(op);
      if (type.element !== "bool") return undefined;
      const [yes, no] = [constantOf(then), constantOf(otherwise)];
      if (yes === 1n && no === 0n) return condition;
      return yes === 0n && no === 1n ? rw.emit("not", [condition], type, op.span) : undefined;
    },
  }),
  rule({
    name: "convert-nothing",
    doc: "(T) x → x for x of type T, also bit casts",
    ops: ["convert", "bitcast"],
    apply: (op) => {
      const { value } = operandsOf(op);
      return sameElement(value.type.element, resultOf(op).type.element) ? value : undefined;
    },
  }),
  rule({
    name: "convert-twice",
    doc: "(C)(B) x → (C) x, where B holds every value of x's type; (C*)(B*) p → (C*) p. " +
      "Not where integers are converted to floats and then to narrower integers: floats saturate, integers wrap",
    ops: ["convert"],
    apply: (op, rw) => {
      const { value } = operandsOf(op);
      const inner = madeBy(value, "convert");
      if (inner === undefined) return undefined;
      const source = operandsOf(inner).value;
      const between = value.type.element;
      if (!keepsValues(source.type.element, between)) return undefined;
      const { type } = resultOf(op);
      const saturates = isFloat(between) && wraps(type.element) &&
        wraps(source.type.element) && !keepsValues(source.type.element, type.element);
      return saturates ? undefined : rw.emit("convert", [source], type, op.span);
    },
  }),
  rule({
    name: "bits-of-bytes",
    doc:
      "(B) x & c → (B)(x & c), (B) x >> c → (B)(x >> c), where the bytes x have all bits that count: " +
      "four of them are in a register",
    ops: ["and", "shr"],
    apply: (op, rw) => {
      const [left, right] = pairOf(op);
      const inner = madeBy(left, "convert");
      const count = constantOf(right);
      if (inner === undefined || typeof count !== "bigint") return undefined;
      const { value } = operandsOf(inner);
      if (!hasBits(op.name, value.type.element, left.type.element, count)) return undefined;
      const type = { ...value.type, shape: left.type.shape };
      const narrow = rw.emit(op.name, [value, rw.constant(count, type, op.span)], type, op.span);
      return rw.emit("convert", [narrow], resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "shift-of-bytes",
    doc:
      "(B) x >> s → (B)(x >> (byte) min(s, 255)) of unsigned bytes x by one number s: no bit is left from 8 on, " +
      "and four bytes of a register are shifted at once",
    ops: ["shr"],
    apply: (op, rw) => {
      const [left, right] = pairOf(op);
      const { element, shape } = left.type;
      const inner = madeBy(left, "convert");
      const count = madeBy(right, "splat");
      if (inner === undefined || count === undefined || shape.length === 0) return undefined;
      const { value } = operandsOf(inner);
      const isWide = element === "int32" || element === "uint32";
      if (value.type.element !== "uint8" || !isWide) return undefined;
      const narrow: IrType = { element: "uint8", shape };
      const bytes = rw.emit("splat", [byteOf(operandsOf(count).value, op, rw)], narrow, op.span);
      const shifted = rw.emit("shr", [value, bytes], narrow, op.span);
      return rw.emit("convert", [shifted], resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "bits-of-conditions",
    doc:
      "(int) a & (int) b → (int) (a & b) of bools, also | and ^: masks are written so, and analyses read bools",
    ops: ["and", "or", "xor"],
    apply: (op, rw) => {
      const { left, right } = operandsOf(op);
      const { type } = resultOf(op);
      if (type.element === "bool") return undefined;
      const [a, b] = [left, right].map((value) => conditionOf(value, op, rw));
      if (a === undefined || b === undefined) return undefined;
      const both = rw.emit(op.name, [a(), b()], { ...type, element: "bool" }, op.span);
      return rw.emit("convert", [both], type, op.span);
    },
  }),
  rule({
    name: "bitcast-twice",
    doc: "two bit casts → one",
    ops: ["bitcast"],
    apply: (op, rw) => {
      const inner = madeBy(operandsOf(op).value, "bitcast");
      return inner && rw.emit("bitcast", [operandsOf(inner).value], resultOf(op).type, op.span);
    },
  }),
  rule({
    name: "offset-twice",
    doc:
      "(p + a) + b → p + (a + b), where both counts are of one 64-bit type, or constants (which widen here). " +
      "Narrower counts may not be added: the sum wraps at their width, the pointer does not",
    ops: ["offset"],
    apply: (op, rw) => {
      const { pointer, count: b } = operandsOf(op);
      const inner = madeBy(pointer, "offset");
      if (inner === undefined) return undefined;
      const { pointer: base, count: a } = operandsOf(inner);
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
  }),
];

/** Whether bytes that become wider integers have all bits of them that an operation with a constant leaves. */
function hasBits(name: "and" | "shr", byte: Element, wide: Element, count: bigint): boolean {
  if (isPointer(wide) || !wraps(wide)) return false;
  const isSigned = byte === "int8";
  if (count < 0n || (!isSigned && byte !== "uint8")) return false;
  if (name === "and") return count <= (isSigned ? 127n : 255n);
  // The sign goes on above a byte.
  return count < 8n && (!isSigned || SCALARS[wide].signed);
}

/** A number without sign as a byte, or the largest byte if it is greater. */
function byteOf(count: Value, op: Op, rw: Rewriter): Value {
  const inner = madeBy(count, "convert");
  const source = inner && operandsOf(inner).value;
  if (source?.type.element === "uint8") return source;
  const unsigned = scalarType("uint32");
  const value = count.type.element === "uint32"
    ? count
    : rw.emit("convert", [count], unsigned, op.span);
  const most = rw.constant(255n, unsigned, op.span);
  const least = rw.emit("min", [value, most], unsigned, op.span);
  return rw.emit("convert", [least], scalarType("uint8"), op.span);
}

/** What makes the bools that a tile of integers was converted from, before it was stretched to its shape. */
function conditionOf(value: Value, op: Op, rw: Rewriter): (() => Value) | undefined {
  const stretched = madeBy(value, "broadcast") ?? madeBy(value, "splat");
  const converted = stretched === undefined ? value : operandsOf(stretched).value;
  const source = madeBy(converted, "convert");
  const condition = source && operandsOf(source).value;
  if (condition?.type.element !== "bool") return undefined;
  if (stretched === undefined) return () => condition;
  const type: IrType = { element: "bool", shape: value.type.shape };
  return () => rw.emit(stretched.name, [condition], type, op.span);
}

/** A number that wraps; what becomes a bool is only compared with 0. */
const wraps = (element: Element): boolean =>
  !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";

/** Whether converting between the two loses nothing. */
function keepsValues(from: Element, to: Element): boolean {
  if (isPointer(from) || isPointer(to)) return isPointer(from) && isPointer(to);
  return isLossless(from, to);
}
