/**
 * Conversions between element types (language.md, 5.2, 5.12, 5.13): who may become what, implicitly or by
 * a cast, and the common type of two operands.
 */
import type { Span } from "../../support/source.ts";
import type { Code, DiagnosticDetails } from "../../support/diagnostic.ts";
import {
  type ElementType,
  type PointerType,
  type ScalarName,
  SCALARS,
  spellType,
} from "../tree/types.ts";
import type { ValueType } from "../tree/typed.ts";
import { beginsLine, MISSING_SEMICOLON } from "./mistakes.ts";
import type { Context } from "../check_context.ts";
import { clashText, fitsWithNewAxis, planStretch } from "./broadcast.ts";
import { operandText, pointerHint, reportNotScalar } from "./conversion_hints.ts";
import { clashNotes } from "../analysis/origin.ts";
import { type FloatName, roundDecimal } from "../../preprocess/decimal.ts";
import {
  bitcast,
  broadcast,
  constant,
  convert,
  isValue,
  reshape,
  type Value,
} from "../tree/nodes.ts";
import { reportQuotient } from "./mistakes.ts";
import { elementOf, samePointee, scalarType, shapeOf, withElement } from "../tree/value_types.ts";

type TypeClass = "bool" | "integer" | "float" | "pointer";

/** What a conversion does, or what it additionally demands. */
type Rule =
  | "value" // converts the value
  | "null" // only the constant 0
  | "pointer" // same pointee, or one side is void*; qualifiers only gained
  | "test" // != NULL
  | "address" // a 64-bit integer or the constant 0
  | "reinterpret" // any pointer
  | "never";

const IMPLICIT: Readonly<Record<TypeClass, Readonly<Record<TypeClass, Rule>>>> = {
  // from \ to  bool            integer           float            pointer
  bool: { bool: "value", integer: "value", float: "value", pointer: "null" },
  integer: { bool: "value", integer: "value", float: "value", pointer: "null" },
  float: { bool: "value", integer: "value", float: "value", pointer: "never" },
  // A pointer tested for null is a bool (C11 6.5.16.1).
  pointer: { bool: "test", integer: "never", float: "never", pointer: "pointer" },
};

const CAST: Readonly<Record<TypeClass, Readonly<Record<TypeClass, Rule>>>> = {
  bool: { bool: "value", integer: "value", float: "value", pointer: "null" },
  integer: { bool: "value", integer: "value", float: "value", pointer: "address" },
  float: { bool: "value", integer: "value", float: "value", pointer: "never" },
  pointer: { bool: "test", integer: "address", float: "never", pointer: "reinterpret" },
};

export function classOf(element: ElementType): TypeClass {
  if (element.kind === "pointer") return "pointer";
  if (element.name === "bool") return "bool";
  return SCALARS[element.name].class === "int" ? "integer" : "float";
}

export function isArithmetic(value: Value): boolean {
  return elementOf(value.type).kind === "scalar";
}

export function isInteger(value: Value): boolean {
  const kind = classOf(elementOf(value.type));
  return kind === "integer" || kind === "bool";
}

export function isFloat(value: Value): boolean {
  return classOf(elementOf(value.type)) === "float";
}

export function pointerOf(value: Value): PointerType | undefined {
  const element = elementOf(value.type);
  return element.kind === "pointer" ? element : undefined;
}

/** The integer constant 0, which is also the null pointer. */
export function isNullConstant(value: Value): boolean {
  return value.kind === "constant" && value.value === 0n && isInteger(value);
}

/** `bool` and integers below 32 bits become `int`, the 8-bit floats become `float`. */
export function promoteName(name: ScalarName): ScalarName {
  const row = SCALARS[name];
  if (row.class === "float") return row.bits === 8 ? "float32" : name;
  return row.bits < 32 ? "int32" : name;
}

/** The usual arithmetic conversions: the common type of two operands. */
export function commonName(a: ScalarName, b: ScalarName): ScalarName {
  const [left, right] = [promoteName(a), promoteName(b)];
  if (left === right) return left;
  const [leftRow, rightRow] = [SCALARS[left], SCALARS[right]];
  if (leftRow.class === "float" || rightRow.class === "float") {
    if (leftRow.class === "int") return right;
    if (rightRow.class === "int") return left;
    // half and bfloat16 have equal rank; neither holds the other.
    if (leftRow.rank === rightRow.rank) return "float32";
    return leftRow.rank > rightRow.rank ? left : right;
  }
  if (leftRow.rank !== rightRow.rank) return leftRow.rank > rightRow.rank ? left : right;
  return leftRow.signed ? right : left;
}

/** Element conversion by value; a weak literal is rounded from its own text. */
export function convertElement(cx: Context, value: Value, element: ElementType): Value {
  const weak = cx.weak.get(value);
  if (element.kind === "pointer" || !isFloatName(element.name)) return convert(value, element);
  reportQuotient(cx, value);
  if (weak === undefined) return convert(value, element);
  const magnitude = roundDecimal(weak.text, element.name);
  if (magnitude === Infinity && cx.unevaluated === 0) {
    const message = `\`${weak.text}\` is too large for ${spellType(element)}`;
    cx.reporter.error("E2013", value.span, message);
  }
  const type = withElement(value.type, element);
  return constant(weak.negative ? -magnitude : magnitude, type, value.span);
}

function isFloatName(name: ScalarName): name is FloatName {
  return SCALARS[name].class === "float";
}

/** Integer promotion. */
export function promote(cx: Context, value: Value): Value {
  const element = elementOf(value.type);
  if (element.kind === "pointer") return value;
  return convertElement(cx, value, scalarType(promoteName(element.name)));
}

/** Whether a value's element is a floating type, weak literals excepted. */
function strongFloat(cx: Context, value: Value): ScalarName | undefined {
  const element = elementOf(value.type);
  if (cx.weak.has(value) || element.kind === "pointer") return undefined;
  return classOf(element) === "float" ? promoteName(element.name) : undefined;
}

/** The common type of arithmetic operands, weak literals taking the floating type they meet. */
export function commonOf(cx: Context, values: readonly Value[]): ScalarName | undefined {
  const strong = values.some((value) => strongFloat(cx, value) !== undefined);
  let common: ScalarName | undefined;
  for (const value of values) {
    const element = elementOf(value.type);
    if (element.kind === "pointer") return undefined;
    if (strong && cx.weak.has(value)) continue;
    common = common === undefined ? promoteName(element.name) : commonName(common, element.name);
  }
  return common;
}

/** Arithmetic operands converted to their common type. */
export function unify(cx: Context, values: readonly Value[]): readonly Value[] {
  const common = commonOf(cx, values);
  if (common === undefined) return values;
  if (common === "float64") warnWidening(cx, values);
  return values.map((value) => convertElement(cx, value, scalarType(common)));
}

/** W2015: under C's rule for literals, `x * 0.5` makes a whole tile double. */
function warnWidening(cx: Context, values: readonly Value[]): void {
  for (const literal of values) {
    const text = cx.implicitDoubles.get(literal);
    const tile = values.find((value) =>
      value.type.kind === "tile" && value.type.element.kind === "scalar" &&
      value.type.element.name !== "float64"
    );
    if (text === undefined || tile === undefined) continue;
    cx.reporter.warn(
      "W2015",
      literal.span,
      `\`${text}\` is a double and promotes ${spellType(tile.type)} to double`,
      {
        hint: `write \`${text}f\` to compute in float`,
        fix: { span: literal.span, replacement: `${text}f` },
      },
    );
  }
}

/** To bool: `!= 0`, or `!= NULL`. */
export function toBool(value: Value): Value {
  return convert(value, scalarType("bool"));
}

/** As in an assignment: reports what is not allowed, and keeps the shape. */
export function convertImplicitly(
  cx: Context,
  value: Value,
  to: ElementType,
  span: Span = value.span,
): Value | undefined {
  const from = elementOf(value.type);
  const rule = IMPLICIT[classOf(from)][classOf(to)];
  if (rule === "value") return convertElement(cx, value, to);
  if (rule === "null" && isNullConstant(value)) return convert(value, to);
  if (rule === "pointer" && from.kind === "pointer" && to.kind === "pointer") {
    return convertPointer(cx, value, from, to, span);
  }
  if (rule === "test") return convert(value, to);
  reportInconvertible(cx, value, to, span);
  return undefined;
}

/** E5302 between a pointer and a number. */
export function reportInconvertible(
  cx: Context,
  value: Value,
  to: ElementType,
  span: Span,
): void {
  const from = elementOf(value.type);
  const hint = from.kind === "pointer"
    ? pointerHint(value, from, to)
    : to.kind === "pointer" && isInteger(value)
    ? "only the constant 0 converts to a pointer; offset a pointer instead"
    : undefined;
  const message = `cannot convert ${spellType(from)} to ${spellType(to)} implicitly`;
  cx.reporter.error("E5302", span, message, hint === undefined ? {} : { hint });
}

function convertPointer(
  cx: Context,
  value: Value,
  from: PointerType,
  to: PointerType,
  span: Span,
): Value | undefined {
  const either = from.pointee.kind === "void" || to.pointee.kind === "void";
  if (!(either ? from.space === to.space : samePointee(from, to))) {
    cx.reporter.error("E5302", span, `cannot convert ${spellType(from)} to ${spellType(to)}`, {
      hint: `cast it if that is intended: \`(${spellType(to)}) ${operandText(value, "…")}\``,
    });
    return undefined;
  }
  const lost = from.const && !to.const ? "const" : from.volatile && !to.volatile ? "volatile" : "";
  if (lost !== "") {
    const message = `converting ${spellType(from)} to ${spellType(to)} drops \`${lost}\``;
    cx.reporter.error("E5303", span, message);
    return undefined;
  }
  return convert(value, to);
}

/** As in a cast: element by element, keeping the shape. */
export function castElement(
  cx: Context,
  value: Value,
  to: ElementType,
  span: Span,
): Value | undefined {
  const from = elementOf(value.type);
  switch (CAST[classOf(from)][classOf(to)]) {
    case "value":
      cx.quotients.delete(value); // the cast says that it is meant
      return respan(convertElement(cx, value, to), span);
    case "test":
      return convert(value, to, span);
    case "reinterpret":
      return castPointer(cx, value, to, span);
    case "null":
      if (isNullConstant(value)) return convert(value, to, span);
      break;
    case "address": {
      const integer = from.kind === "pointer" ? to : from;
      const wide = integer.kind === "scalar" && SCALARS[integer.name].bits === 64;
      if (wide || (value.kind === "constant" && from.kind === "scalar")) {
        return convert(value, to, span);
      }
      break;
    }
  }
  cx.reporter.error("E5161", span, `cannot cast ${spellType(from)} to ${spellType(to)}`, {
    hint: "an address is a 64-bit integer: cast to `long` first",
  });
  return undefined;
}

/** A pointer as one to something else in the same memory. */
function castPointer(
  cx: Context,
  value: Value,
  to: ElementType,
  span: Span,
): Value | undefined {
  const from = elementOf(value.type);
  const stays = from.kind !== "pointer" || to.kind !== "pointer" || from.space === to.space;
  if (stays || isNullConstant(value)) return convert(value, to, span);
  cx.reporter.error("E5161", span, `cannot cast ${spellType(from)} to ${spellType(to)}`, {
    hint: "constant memory is a separate address space: casts into it or out of it are not allowed",
  });
  return undefined;
}

/** Bits of an element as another one of the same width. */
export function bitcastElement(
  cx: Context,
  value: Value,
  to: ElementType,
  span: Span,
): Value | undefined {
  const from = elementOf(value.type);
  const bits = (type: ElementType): number =>
    type.kind === "pointer" ? 64 : SCALARS[type.name].bits;
  if (bits(from) === bits(to)) return bitcast(value, to, span);
  cx.reporter.error(
    "E5162",
    span,
    `bitcast needs equal widths: ${spellType(from)} has ${bits(from)} bits, ` +
      `${spellType(to)} has ${bits(to)}`,
  );
  return undefined;
}

function respan(value: Value, span: Span): Value {
  return value.kind === "constant" ? constant(value.value, value.type, span) : value;
}

/** What diagnostics say besides of a value that does not convert. */
interface ConversionDetails extends DiagnosticDetails {
  /** The variable that the value initialises. */
  readonly declared?: string;
}

/** Stretches to the shape of `to` (E5011, E5012); the element is converted before. */
export function stretch(
  cx: Context,
  value: Value,
  to: ValueType,
  span: Span = value.span,
  details: ConversionDetails = {},
): Value | undefined {
  const shape = shapeOf(to);
  const plan = planStretch(shapeOf(value.type), shape);
  switch (plan.kind) {
    case "broadcast":
      return broadcast(value, shape);
    case "drop":
      return reshape(value, shape);
    case "not-scalar":
      reportNotScalar(cx, value, span, details.declared);
      return undefined;
    case "clash": {
      const { lhs, rhs } = plan.clash;
      cx.reporter.error("E5011", span, `the value does not broadcast: ${clashText(plan.clash)}`, {
        notes: [...clashNotes(plan.clash, value), ...(details.notes ?? [])],
        ...(fitsWithNewAxis(lhs, rhs) ? { hint: NEW_AXIS_HINT } : {}),
      });
      return undefined;
    }
  }
}

export const NEW_AXIS_HINT = "axes are matched from the last one; insert one with `x[:, newaxis]`";

/** Converts as in an assignment and stretches to the type. */
export function convertTo(
  cx: Context,
  value: Value,
  to: ValueType,
  details: ConversionDetails = {},
): Value | undefined {
  const converted = convertImplicitly(cx, value, elementOf(to));
  return converted === undefined ? undefined : stretch(cx, converted, to, value.span, details);
}

/** A value that must be one scalar: a 1-element tile is taken apart, a larger one is E5012. */
export function toScalar(cx: Context, value: Value): Value | undefined {
  return stretch(cx, value, elementOf(value.type));
}

/** Reports that an operator does not take an operand. */
export function reportOperand(
  cx: Context,
  code: Code,
  span: Span,
  operator: string,
  values: readonly Value[],
  details: DiagnosticDetails = {},
): void {
  const types = values.filter(isValue).map((value) => spellType(value.type)).join(" and ");
  cx.reporter.error(code, span, `\`${operator}\` does not take ${types}`, {
    ...operator === "*" && beginsLine(span) ? { hint: MISSING_SEMICOLON } : {},
    ...details,
  });
}
