/**
 * Constructors of typed expressions. They keep the tree in normal form: constants are folded, a conversion
 * or stretch to the type a value already has is no node, a stretched constant is a constant.
 */
import type { Span } from "../../support/source.ts";
import { bug } from "../../support/bug.ts";
import type { ScalarValue } from "../../support/arith.ts";
import type { ElementType, ScalarName } from "./types.ts";
import type { TypedBinaryOperator, TypedExpr, TypedUnaryOperator, ValueType } from "./typed.ts";
import {
  elementCount,
  elementOf,
  sameElement,
  sameShape,
  scalarType,
  type ShapeOf,
  shapeOf,
  typeOf,
  withElement,
} from "./value_types.ts";
import { foldBinary, foldBitcast, foldConvert, type FoldProblem, foldUnary } from "./constants.ts";

/** An expression that has a value: not a call of a void function. */
export type Value = TypedExpr & { readonly type: ValueType };

export function isValue(expr: TypedExpr): expr is Value {
  return expr.type.kind !== "void";
}

export function isBool({ type }: Value): boolean {
  const element = elementOf(type);
  return element.kind === "scalar" && element.name === "bool";
}

export function constant(value: ScalarValue, type: ValueType, span: Span): Value {
  return { kind: "constant", value, type, span };
}

export function intConstant(value: number | bigint, name: ScalarName, span: Span): Value {
  return constant(BigInt(value), scalarType(name), span);
}

/** Element-wise; operands have one shape and, but for shifts, one element type. */
export function binary(
  operator: TypedBinaryOperator,
  lhs: Value,
  rhs: Value,
  span: Span,
  report?: (problem: FoldProblem) => void,
): Value {
  const type = COMPARISONS.has(operator) ? withElement(lhs.type, scalarType("bool")) : lhs.type;
  if (lhs.kind === "constant" && rhs.kind === "constant") {
    const { value, problem } = foldBinary(operator, lhs, rhs);
    if (problem !== undefined) report?.(problem);
    if (value !== undefined) return constant(value, type, span);
  }
  return { kind: "binary", operator, lhs, rhs, type, span };
}

const COMPARISONS: ReadonlySet<TypedBinaryOperator> = new Set(["lt", "le", "gt", "ge", "eq", "ne"]);

export function unary(
  operator: TypedUnaryOperator,
  operand: Value,
  span: Span,
  report?: (problem: FoldProblem) => void,
): Value {
  if (operand.kind === "constant") {
    const { value, problem } = foldUnary(operator, operand);
    if (problem !== undefined) report?.(problem);
    if (value !== undefined) return constant(value, operand.type, span);
  }
  return { kind: "unary", operator, operand, type: operand.type, span };
}

/** Every element by value as another element type; the language's rules are checked before. */
export function convert(operand: Value, element: ElementType, span: Span = operand.span): Value {
  if (sameElement(elementOf(operand.type), element)) return operand;
  const type = withElement(operand.type, element);
  if (operand.kind === "constant") return constant(foldConvert(operand, type), type, span);
  return { kind: "convert", operand, type, span };
}

/** Every element's bits as another element type of equal width. */
export function bitcast(operand: Value, element: ElementType, span: Span): Value {
  if (sameElement(elementOf(operand.type), element)) return operand;
  const type = withElement(operand.type, element);
  const folded = operand.kind === "constant" ? foldBitcast(operand, type) : undefined;
  if (folded !== undefined) return constant(folded, type, span);
  return { kind: "bitcast", operand, type, span };
}

/** Stretched to a larger shape; that it fits is checked before. */
export function broadcast(operand: Value, shape: ShapeOf, span: Span = operand.span): Value {
  if (sameShape(shapeOf(operand.type), shape)) return operand;
  const type = typeOf(elementOf(operand.type), shape);
  if (operand.kind === "constant") return constant(operand.value, type, span);
  return { kind: "broadcast", operand, type, span };
}

/** Row-major reshape to as many elements; a scalar counts as one element. */
export function reshape(operand: Value, shape: ShapeOf, span: Span = operand.span): Value {
  if (sameShape(shapeOf(operand.type), shape)) return operand;
  if (operand.type.kind !== "tile") return broadcast(operand, shape, span);
  const type = typeOf(elementOf(operand.type), shape);
  if (elementCount(shape) !== elementCount(operand.type.shape)) bug("reshape changes the count");
  if (operand.kind === "constant") return constant(operand.value, type, span);
  return { kind: "reshape", operand, type, span };
}

/** Result axis d is operand axis `order[d]`. */
export function permute(operand: Value, order: readonly number[], span: Span): Value {
  if (order.every((axis, at) => axis === at)) return operand;
  const old = shapeOf(operand.type) ?? [];
  const type = typeOf(elementOf(operand.type), order.map((axis) => old[axis] ?? bug("axis")));
  if (operand.kind === "constant") return constant(operand.value, type, span);
  return { kind: "permute", operand, order, type, span };
}

/** The number of elements between two pointers. */
export function difference(lhs: Value, rhs: Value, span: Span): Value {
  const type = withElement(lhs.type, scalarType("int64"));
  return { kind: "difference", lhs, rhs, type, span };
}

export function offset(pointer: Value, count: Value, span: Span): Value {
  return { kind: "offset", pointer, count, type: pointer.type, span };
}

/** Eager choice; all three have one shape. */
export function select(condition: Value, then: Value, otherwise: Value, span: Span): Value {
  if (condition.kind === "constant") return condition.value === 0n ? otherwise : then;
  return { kind: "select", condition, then, else: otherwise, type: then.type, span };
}

/** Lazy choice by a scalar; the sides have one type. */
export function conditional(condition: Value, then: Value, otherwise: Value, span: Span): Value {
  if (condition.kind === "constant") return condition.value === 0n ? otherwise : then;
  return { kind: "conditional", condition, then, else: otherwise, type: then.type, span };
}

/** Every element of a bool value negated. */
export function logicalNot(operand: Value, span: Span = operand.span): Value {
  if (operand.kind === "unary" && operand.operator === "not") {
    const inner = operand.operand;
    if (isValue(inner)) return inner;
  }
  return unary("not", operand, span);
}

/** One axis removed by a reduction. */
export function reduce(
  operator: Extract<TypedExpr, { kind: "reduce" }>["operator"],
  operand: Value,
  axis: number,
  element: ElementType,
  span: Span,
): Value {
  const shape = (shapeOf(operand.type) ?? bug("reduction of a scalar")).filter((_, at) =>
    at !== axis
  );
  const type = typeOf(element, shape.length === 0 ? undefined : shape);
  return { kind: "reduce", operator, operand, axis, type, span };
}
