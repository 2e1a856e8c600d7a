/**
 * Constants in the typed tree: folding of operators and conversions where all operands are constant, with
 * the results of run time (language.md, 5.14; the arithmetic itself is support/arith.ts). A constant of
 * tile type is a splat, so one value represents all elements.
 */
import {
  bitcastScalar,
  convertScalar,
  evalBinary,
  evalUnary,
  type ScalarValue,
} from "../../support/arith.ts";
import { type ScalarName, SCALARS } from "./types.ts";
import type { TypedBinaryOperator, TypedExpr, TypedUnaryOperator, ValueType } from "./typed.ts";
import { elementOf } from "./value_types.ts";

export type ConstantExpr = Extract<TypedExpr, { kind: "constant" }>;

/** What is worth a diagnostic about a folded operation. */
export type FoldProblem = "overflow" | "zero-division";

/** Scalar type that a value's element is computed in; an address counts as `unsigned long`. */
function constantName(type: ValueType): ScalarName {
  const element = elementOf(type);
  return element.kind === "pointer" ? "uint64" : element.name;
}

/** `lhs operator rhs`; undefined when the result has no value. */
export function foldBinary(
  operator: TypedBinaryOperator,
  lhs: ConstantExpr,
  rhs: ConstantExpr,
): { readonly value?: ScalarValue; readonly problem?: FoldProblem } {
  const name = constantName(lhs.type);
  const value = evalBinary(operator, name, lhs.value, rhs.value);
  if (value === undefined) return rhs.value === 0n ? { problem: "zero-division" } : {};
  const exact = exactValue(operator, lhs.value, rhs.value);
  return exact !== undefined && SCALARS[name].signed && exact !== value
    ? { value, problem: "overflow" }
    : { value };
}

/** `-operand` or `~operand`. */
export function foldUnary(
  operator: TypedUnaryOperator,
  operand: ConstantExpr,
): { readonly value?: ScalarValue; readonly problem?: FoldProblem } {
  const name = constantName(operand.type);
  const value = evalUnary(operator, name, operand.value);
  if (value === undefined) return {};
  const overflows = operator === "neg" && SCALARS[name].signed &&
    typeof operand.value === "bigint" && -operand.value !== value;
  return overflows ? { value, problem: "overflow" } : { value };
}

/** The value of a constant after an element conversion. */
export function foldConvert(operand: ConstantExpr, to: ValueType): ScalarValue {
  return convertScalar(operand.value, constantName(to));
}

/** The value of a constant's bits in another type; undefined if a number cannot carry it. */
export function foldBitcast(operand: ConstantExpr, to: ValueType): ScalarValue | undefined {
  return bitcastScalar(operand.value, constantName(operand.type), constantName(to));
}

/** The result of an integer operation before wrapping, where wrapping deserves a warning. */
function exactValue(
  operator: TypedBinaryOperator,
  lhs: ScalarValue,
  rhs: ScalarValue,
): bigint | undefined {
  if (typeof lhs !== "bigint" || typeof rhs !== "bigint") return undefined;
  switch (operator) {
    case "add":
      return lhs + rhs;
    case "sub":
      return lhs - rhs;
    case "mul":
      return lhs * rhs;
    case "div":
      return lhs / rhs;
    default:
      return undefined;
  }
}
