/** W4004: reads of local variables that no assignment can reach (language.md, 4.2). */
import type { Reporter } from "../../support/diagnostic.ts";
import type { TypedExpr, TypedStmt, Variable } from "../tree/typed.ts";
import { forEachExpr, forEachExprIn, operandsOf } from "../tree/typed_walk.ts";

/** Variables that are surely unassigned at a point of the program. */
type Unset = Set<Variable>;

/** Warns once per variable. */
export function warnUnassigned(body: readonly TypedStmt[], reporter: Reporter): void {
  const warned = new Set<Variable>();
  const report = (expr: Extract<TypedExpr, { kind: "variable" }>): void => {
    if (warned.has(expr.variable)) return;
    warned.add(expr.variable);
    const { name, span } = expr.variable;
    reporter.warn("W4004", expr.span, `\`${name}\` is used before it is assigned`, {
      notes: [{ message: `\`${name}\` is declared here, without initialiser`, span }],
    });
  };
  walkStmts(body, new Set(), report);
}

type Report = (expr: Extract<TypedExpr, { kind: "variable" }>) => void;

function walkStmts(stmts: readonly TypedStmt[], unset: Unset, report: Report): void {
  for (const stmt of stmts) walkStmt(stmt, unset, report);
}

function walkStmt(stmt: TypedStmt, unset: Unset, report: Report): void {
  switch (stmt.kind) {
    case "declare":
      if (stmt.value === undefined) unset.add(stmt.variable);
      else walkExpr(stmt.value, unset, report);
      break;
    case "expression":
      walkExpr(stmt.expr, unset, report);
      break;
    case "return":
      if (stmt.value !== undefined) walkExpr(stmt.value, unset, report);
      break;
    case "if":
      walkExpr(stmt.condition, unset, report);
      either(
        unset,
        (set) => walkStmts(stmt.then, set, report),
        (set) => walkStmts(stmt.else, set, report),
      );
      break;
    case "loop":
      walkStmts(stmt.init, unset, report);
      // An assignment anywhere in the loop may reach all of it in a later iteration.
      for (const variable of assignedIn(stmt)) unset.delete(variable);
      if (stmt.testFirst && stmt.condition !== undefined) walkExpr(stmt.condition, unset, report);
      walkStmts(stmt.body, unset, report);
      if (!stmt.testFirst && stmt.condition !== undefined) walkExpr(stmt.condition, unset, report);
      if (stmt.step !== undefined) walkExpr(stmt.step, unset, report);
      break;
    case "break":
    case "continue":
      break;
  }
}

function assignedIn(loop: Extract<TypedStmt, { kind: "loop" }>): readonly Variable[] {
  const found: Variable[] = [];
  const visit = (expr: TypedExpr): void => {
    if (expr.kind === "assign") found.push(expr.variable);
  };
  forEachExprIn(loop.body, visit);
  for (const expr of [loop.condition, loop.step]) if (expr !== undefined) forEachExpr(expr, visit);
  return found;
}

/** One of two ways is taken: afterwards unset is what both leave unset. */
function either(unset: Unset, first: (set: Unset) => void, second: (set: Unset) => void): void {
  const [left, right] = [new Set(unset), new Set(unset)];
  first(left);
  second(right);
  for (const variable of [...unset]) {
    if (!left.has(variable) || !right.has(variable)) unset.delete(variable);
  }
}

function walkExpr(expr: TypedExpr, unset: Unset, report: Report): void {
  if (expr.kind === "variable") {
    if (unset.has(expr.variable)) report(expr);
  } else if (expr.kind === "conditional") {
    walkExpr(expr.condition, unset, report);
    either(
      unset,
      (set) => walkExpr(expr.then, set, report),
      (set) => walkExpr(expr.else, set, report),
    );
  } else {
    for (const operand of operandsOf(expr)) walkExpr(operand, unset, report);
    if (expr.kind === "assign") unset.delete(expr.variable);
  }
}
