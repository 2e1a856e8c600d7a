/**
 * What a piece of the typed tree does to variables and memory: which an `if` must give as results, which a loop
 * must carry, and whether an expression may run where the program would not have run it.
 */
import type { TypedExpr, TypedStmt, Variable } from "../check/tree/typed.ts";
import { expressionsOf, forEachExpr, someExpr, statementsOf } from "../check/tree/typed_walk.ts";
import { isMathName } from "../support/math_functions.ts";

/** Variables assigned but not declared here, in the order of their first assignment. */
export function assignedIn(
  stmts: readonly TypedStmt[],
  exprs: readonly TypedExpr[] = [],
): Variable[] {
  const assigned = new Map<number, Variable>();
  const declared = new Set<number>();
  const inExpr = (root: TypedExpr): void =>
    forEachExpr(root, (expr) => {
      // A helper's body is no operand of the call: it assigns variables of its own only.
      if (expr.kind === "assign") assigned.set(expr.variable.id, expr.variable);
      if (expr.kind === "let") declared.add(expr.variable.id);
    });
  const inStmt = (stmt: TypedStmt): void => {
    if (stmt.kind === "declare") declared.add(stmt.variable.id);
    expressionsOf(stmt).forEach(inExpr);
    statementsOf(stmt).forEach(inStmt);
  };
  stmts.forEach(inStmt);
  exprs.forEach(inExpr);
  return [...assigned.values()].filter(({ id }) => !declared.has(id));
}

/** Kinds with an effect, and those too dear to compute for nothing. */
const BRANCH_WORTHY: ReadonlySet<TypedExpr["kind"]> = new Set([
  "load",
  "store",
  "assign",
  "call",
  "reduce",
  "dot",
]);

/** Whether both sides of a scalar choice may simply be computed. */
export function isCheapAndPure(expr: TypedExpr): boolean {
  return !someExpr(
    expr,
    (inner) =>
      BRANCH_WORTHY.has(inner.kind) || (inner.kind === "builtin" && !isMathName(inner.name)),
  );
}
