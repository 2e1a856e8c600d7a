/**
 * What check/tree/typed.ts promises of a typed tree, checked node by node: equal shapes and element types where a
 * node demands them, constants in the range of their type, stretches that stretch.
 */
import { intRange, roundFloat } from "../../../compiler/support/arith.ts";
import { planStretch } from "../../../compiler/check/expressions/broadcast.ts";
import { dumpExpr } from "../../../compiler/check/tree/dump_typed.ts";
import { isValue, type Value } from "../../../compiler/check/tree/nodes.ts";
import { elementOf, sameType, shapeOf } from "../../../compiler/check/tree/value_types.ts";
import type {
  TypedExpr,
  TypedHelper,
  TypedStmt,
  TypedUnit,
  ValueType,
} from "../../../compiler/check/tree/typed.ts";
import {
  forEachExprIn,
  operandsOf,
  statementsOf,
} from "../../../compiler/check/tree/typed_walk.ts";
import { SCALARS, spellType } from "../../../compiler/check/tree/types.ts";

/** What is wrong with a tree, as texts. */
export function violations(unit: TypedUnit): readonly string[] {
  const found: string[] = [];
  const helpers = new Set<TypedHelper>();
  const body = (stmts: readonly TypedStmt[]): void => {
    stmts.forEach((stmt) => checkStmt(stmt, found));
    forEachExprIn(stmts, (expr) => {
      if (!isRight(expr)) found.push(`${spellType(expr.type)}: ${dumpExpr(expr)}`);
      if (expr.kind !== "call" || helpers.has(expr.helper)) return;
      helpers.add(expr.helper);
      body(expr.helper.body);
    });
  };
  unit.kernels.forEach((kernel) => body(kernel.body));
  return found;
}

function checkStmt(stmt: TypedStmt, found: string[]): void {
  if (stmt.kind === "declare" && stmt.value !== undefined) {
    if (!fits(stmt.value, stmt.variable.type)) found.push(`declaration of ${stmt.variable.name}`);
  }
  const condition = stmt.kind === "if" || stmt.kind === "loop" ? stmt.condition : undefined;
  if (condition !== undefined && spellType(condition.type) !== "bool") {
    found.push(`condition ${dumpExpr(condition)}`);
  }
  statementsOf(stmt).forEach((inner) => checkStmt(inner, found));
}

function fits(expr: TypedExpr | undefined, type: ValueType | { readonly kind: "void" }): boolean {
  if (expr === undefined) return true;
  return isValue(expr) && type.kind !== "void" && sameType(expr.type, type);
}

function shape(expr: TypedExpr): string {
  return isValue(expr) ? String(shapeOf(expr.type)) : "void";
}

function element(expr: TypedExpr): string {
  return isValue(expr) ? spellType(elementOf(expr.type)) : "void";
}

function sameShapes(...exprs: readonly (TypedExpr | undefined)[]): boolean {
  const shapes = exprs.flatMap((expr) => expr === undefined ? [] : [shape(expr)]);
  return new Set(shapes).size <= 1;
}

function isMask(mask: TypedExpr | undefined): boolean {
  return mask === undefined || element(mask) === "bool";
}

const COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"];

function isRight(expr: TypedExpr): boolean {
  if (!isValue(expr)) return operandsOf(expr).every(isValue);
  switch (expr.kind) {
    case "constant":
      return inRange(expr);
    case "binary": {
      const isShift = expr.operator === "shl" || expr.operator === "shr";
      return sameShapes(expr, expr.lhs, expr.rhs) &&
        (isShift || element(expr.lhs) === element(expr.rhs)) &&
        element(expr) === (COMPARISONS.includes(expr.operator) ? "bool" : element(expr.lhs));
    }
    case "unary":
      return fits(expr.operand, expr.type);
    case "offset":
      return fits(expr.pointer, expr.type) && sameShapes(expr, expr.count) &&
        /int|long|char|short/.test(element(expr.count));
    case "difference":
      return sameShapes(expr, expr.lhs, expr.rhs) && element(expr) === "long";
    case "convert":
    case "bitcast":
      return sameShapes(expr, expr.operand) && element(expr) !== element(expr.operand);
    case "broadcast":
      return element(expr) === element(expr.operand) && shape(expr) !== shape(expr.operand) &&
        isValue(expr.operand) &&
        planStretch(shapeOf(expr.operand.type), shapeOf(expr.type)).kind === "broadcast";
    case "reshape":
      return element(expr) === element(expr.operand) && shape(expr) !== shape(expr.operand) &&
        count(expr) === count(expr.operand);
    case "permute":
      return isValue(expr.operand) && element(expr) === element(expr.operand) &&
        String(
            expr.order.map((axis) =>
              isValue(expr.operand) ? shapeOf(expr.operand.type)?.[axis] : undefined
            ),
          ) === shape(expr);
    case "range":
      return Number(expr.hi - expr.lo) === expr.type.shape[0] && expr.type.shape.length === 1;
    case "reduce":
      return isValue(expr.operand) &&
        String(shapeOf(expr.operand.type)?.filter((_, axis) => axis !== expr.axis) ?? "") ===
          (shape(expr) === "undefined" ? "" : shape(expr));
    case "dot":
      return expr.lhs.type.kind === "tile" && expr.rhs.type.kind === "tile";
    case "load":
      return sameShapes(expr, expr.pointer, expr.mask, expr.other) && isMask(expr.mask) &&
        fits(expr.other, expr.type) && element(expr.pointer).endsWith("*");
    case "store":
      return sameShapes(expr, expr.pointer, expr.mask, expr.value) && isMask(expr.mask) &&
        fits(expr.value, expr.type);
    case "select":
      return isMask(expr.condition) && sameShapes(expr, expr.condition) &&
        fits(expr.then, expr.type) && fits(expr.else, expr.type);
    case "conditional":
      return spellType(expr.condition.type) === "bool" && fits(expr.then, expr.type) &&
        fits(expr.else, expr.type);
    case "assign":
      return fits(expr.value, expr.type) && sameType(expr.variable.type, expr.type);
    case "let":
      return fits(expr.value, expr.variable.type) && fits(expr.body, expr.type);
    case "comma":
      return fits(expr.then, expr.type);
    case "variable":
      return sameType(expr.variable.type, expr.type);
    case "call":
      return expr.args.every((arg, at) => {
        const param = expr.helper.params[at];
        return param !== undefined && fits(arg, param.type);
      });
    case "builtin":
      return expr.args.every(isValue);
    case "program-id":
    case "num-programs":
      return element(expr) === "int";
  }
}

function count(expr: TypedExpr): number {
  return isValue(expr) ? (shapeOf(expr.type) ?? []).reduce((a, b) => a * b, 1) : 0;
}

function inRange(expr: Extract<Value, { kind: "constant" }>): boolean {
  const type = elementOf(expr.type);
  if (type.kind === "pointer") return typeof expr.value === "bigint";
  if (SCALARS[type.name].class === "float") {
    return typeof expr.value === "number" &&
      Object.is(roundFloat(expr.value, type.name), expr.value);
  }
  const [lo, hi] = intRange(type.name);
  return typeof expr.value === "bigint" && lo <= expr.value && expr.value <= hi;
}
