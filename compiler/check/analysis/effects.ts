/** What evaluating an expression does besides giving a value. */
import type { TypedExpr, Variable } from "../tree/typed.ts";
import { BUILTINS } from "../builtins/builtins.ts";
import { isValue } from "../tree/nodes.ts";
import { elementOf } from "../tree/value_types.ts";
import { someExpr } from "../tree/typed_walk.ts";

/** Whether a node itself changes something; helpers are judged by their bodies, later. */
export function changesSomething(expr: TypedExpr): boolean {
  switch (expr.kind) {
    case "store":
    case "assign":
      return true;
    case "builtin":
      return BUILTINS.get(expr.name)?.pure === false;
    default:
      return false;
  }
}

/** Whether leaving the expression out would be noticed; a call is taken to matter. */
export function hasEffect(expr: TypedExpr): boolean {
  return someExpr(
    expr,
    (inner) => changesSomething(inner) || inner.kind === "call" || isVolatileLoad(inner),
  );
}

/** Whether evaluating the expression gives the variable a new value. */
export function assigns(expr: TypedExpr, variable: Variable): boolean {
  return someExpr(expr, (inner) => inner.kind === "assign" && inner.variable === variable);
}

function isVolatileLoad(expr: TypedExpr): boolean {
  if (expr.kind !== "load" || !isValue(expr.pointer)) return false;
  const pointer = elementOf(expr.pointer.type);
  return pointer.kind === "pointer" && pointer.volatile;
}
