/** Walking typed trees: the operands of a node, and every expression of a statement list. */
import type { TypedExpr, TypedStmt } from "./typed.ts";

/** The expressions directly below a node, in order of evaluation. */
export function operandsOf(expr: TypedExpr): readonly TypedExpr[] {
  switch (expr.kind) {
    case "constant":
    case "variable":
    case "range":
    case "program-id":
    case "num-programs":
      return [];
    case "binary":
    case "difference":
    case "dot":
      return [expr.lhs, expr.rhs];
    case "unary":
    case "convert":
    case "bitcast":
    case "broadcast":
    case "reshape":
    case "permute":
    case "reduce":
      return [expr.operand];
    case "offset":
      return [expr.pointer, expr.count];
    case "load":
      return [expr.pointer, ...ifPresent(expr.mask), ...ifPresent(expr.other)];
    case "store":
      return [expr.value, expr.pointer, ...ifPresent(expr.mask)];
    case "select":
    case "conditional":
      return [expr.condition, expr.then, expr.else];
    case "assign":
      return [expr.value];
    case "let":
      return [expr.value, expr.body];
    case "comma":
      return [expr.first, expr.then];
    case "builtin":
    case "call":
      return expr.args;
  }
}

function ifPresent(expr: TypedExpr | undefined): readonly TypedExpr[] {
  return expr === undefined ? [] : [expr];
}

/** Calls `visit` for an expression and everything below it, operands first. */
export function forEachExpr(expr: TypedExpr, visit: (expr: TypedExpr) => void): void {
  for (const operand of operandsOf(expr)) forEachExpr(operand, visit);
  visit(expr);
}

/** The expressions of a statement itself, without those of nested statements. */
export function expressionsOf(stmt: TypedStmt): readonly TypedExpr[] {
  switch (stmt.kind) {
    case "declare":
    case "return":
      return ifPresent(stmt.value);
    case "expression":
      return [stmt.expr];
    case "if":
      return [stmt.condition];
    case "loop":
      return [...ifPresent(stmt.condition), ...ifPresent(stmt.step)];
    case "break":
    case "continue":
      return [];
  }
}

/** The statements directly inside a statement. */
export function statementsOf(stmt: TypedStmt): readonly TypedStmt[] {
  switch (stmt.kind) {
    case "if":
      return [...stmt.then, ...stmt.else];
    case "loop":
      return [...stmt.init, ...stmt.body];
    default:
      return [];
  }
}

/** Calls `visit` for every expression of a list of statements, nested statements included. */
export function forEachExprIn(
  stmts: readonly TypedStmt[],
  visit: (expr: TypedExpr) => void,
): void {
  for (const stmt of stmts) {
    for (const expr of expressionsOf(stmt)) forEachExpr(expr, visit);
    forEachExprIn(statementsOf(stmt), visit);
  }
}

/** Whether an expression or anything below it fulfils a condition. */
export function someExpr(expr: TypedExpr, test: (expr: TypedExpr) => boolean): boolean {
  return test(expr) || operandsOf(expr).some((operand) => someExpr(operand, test));
}
