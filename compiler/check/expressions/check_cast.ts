/** Casts, `bitcast`, `sizeof` (language.md, 5.13, 5.14). */
import type * as ast from "../../parse/ast.ts";
import { elementBytes, type ElementType, spellType, type Type } from "../tree/types.ts";
import type { ValueType } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { resolveTypeName } from "../check_type.ts";
import { bitcastElement, castElement, stretch } from "./convert.ts";
import { checkExpr, checkValue } from "./check_expr.ts";
import { intConstant, isValue, reshape, type Value } from "../tree/nodes.ts";
import { elementCount, elementOf, shapeOf } from "../tree/value_types.ts";

/** `(T) e`: a type without shape converts each element, one with a shape also stretches. */
export function checkCast(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "cast" }>,
): Value | undefined {
  const type = resolveTypeName(cx, expr.type);
  const operand = checkValue(cx, expr.operand);
  if (operand === undefined || !isCastable(cx, type, expr.type)) return undefined;
  const value = castElement(cx, operand, elementOf(type), expr.span);
  return value && reshapeOrStretch(cx, value, type, expr);
}

function isCastable(cx: Context, type: Type, name: ast.TypeName): type is ValueType {
  if (type.kind === "poison") return false;
  if (type.kind !== "void") return true;
  cx.reporter.error("E5161", name.span, "a value cannot be cast to void");
  return false;
}

function reshapeOrStretch(
  cx: Context,
  value: Value,
  type: ValueType,
  expr: ast.Expr,
): Value | undefined {
  const [from, to] = [shapeOf(value.type), shapeOf(type)];
  if (to === undefined) return value;
  if (from === undefined || from.length <= to.length) return stretch(cx, value, type, expr.span);
  if (elementCount(from) === elementCount(to)) return reshape(value, to, expr.span);
  cx.reporter.error(
    "E5160",
    expr.span,
    `cannot reshape ${spellType(value.type)} to ${spellType(type)}: ` +
      `${elementCount(from)} elements vs ${elementCount(to)}`,
    { hint: "a cast to fewer axes keeps all elements, in row-major order" },
  );
  return undefined;
}

/** `bitcast<T>(e)`. */
export function checkBitcast(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "bitcast" }>,
): Value | undefined {
  const type = resolveTypeName(cx, expr.type);
  const operand = checkValue(cx, expr.operand);
  if (operand === undefined || !isCastable(cx, type, expr.type)) return undefined;
  const value = bitcastElement(cx, operand, elementOf(type), expr.span);
  const shape = shapeOf(type);
  if (value === undefined || shape === undefined) return value;
  if (elementCount(shapeOf(value.type)) === elementCount(shape)) {
    return reshape(value, shape, expr.span);
  }
  cx.reporter.error(
    "E5162",
    expr.span,
    `bitcast keeps the number of elements: ${spellType(value.type)} is not ${spellType(type)}`,
  );
  return undefined;
}

/** `sizeof(T)`, `_Alignof(T)`. */
export function checkSizeofType(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "sizeof-type" }>,
): Value | undefined {
  const type = resolveTypeName(cx, expr.type);
  if (type.kind === "poison") return undefined;
  if (type.kind === "void") {
    cx.reporter.error("E3011", expr.span, `void has no ${expr.operator.replace("_A", "a")}`);
    return undefined;
  }
  const bytes = expr.operator === "sizeof" ? bytesOf(type) : elementBytes(elementOf(type));
  return intConstant(bytes, "uint64", expr.span);
}

/** `sizeof e`; the operand is not evaluated. */
export function checkSizeofExpr(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "sizeof-expr" }>,
): Value | undefined {
  const operand = cx.unevaluatedIf(true, () => checkExpr(cx, expr.operand));
  if (operand === undefined) return undefined;
  if (isValue(operand)) return intConstant(bytesOf(operand.type), "uint64", expr.span);
  cx.reporter.error("E3011", expr.span, "void has no size");
  return undefined;
}

function bytesOf(type: ValueType): number {
  const element: ElementType = elementOf(type);
  return elementBytes(element) * elementCount(shapeOf(type));
}
