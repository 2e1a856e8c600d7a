/** `c ? a : b`, `&&`, `||`: lazy with scalar conditions, element-wise with masked loads for tiles (5.11). */
import type * as ast from "../../parse/ast.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { isArithmetic, reportOperand, toBool, unify } from "./convert.ts";
import { changesSomething } from "../analysis/effects.ts";
import { applyMask, mayLoad } from "../analysis/masks.ts";
import { broadcastAll, type OperationSpans, unifyPointers } from "./check_operators.ts";
import { checkValue } from "./check_expr.ts";
import { reportAssigned } from "./mistakes.ts";
import {
  binary,
  broadcast,
  conditional,
  constant,
  logicalNot,
  select,
  type Value,
} from "../tree/nodes.ts";
import { scalarType, shapeOf } from "../tree/value_types.ts";
import { operandsOf } from "../tree/typed_walk.ts";

export function checkConditional(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "conditional" }>,
): Value | undefined {
  reportAssigned(cx, expr.condition);
  const condition = checkValue(cx, expr.condition);
  const at: OperationSpans = { span: expr.span, operatorSpan: expr.span };
  if (expr.then === undefined) {
    const otherwise = checkValue(cx, expr.else);
    if (condition === undefined || otherwise === undefined) return undefined;
    return cx.tryOnce(
      condition,
      "condition",
      (use) => choose(cx, toBool(use), use, otherwise, at),
    );
  }
  const test = condition === undefined ? undefined : toBool(condition);
  const known = test?.kind === "constant" && test.type.kind !== "tile" ? test.value : undefined;
  const then = expr.then;
  const first = cx.unevaluatedIf(known === 0n, () => checkValue(cx, then));
  const second = cx.unevaluatedIf(known === 1n, () => checkValue(cx, expr.else));
  if (test === undefined || first === undefined || second === undefined) return undefined;
  return choose(cx, test, first, second, at);
}

function choose(
  cx: Context,
  condition: Value,
  then: Value,
  otherwise: Value,
  at: OperationSpans,
): Value | undefined {
  const pair = isArithmetic(then) && isArithmetic(otherwise)
    ? unify(cx, [then, otherwise])
    : unifyPointers(then, otherwise);
  if (pair === undefined) {
    reportOperand(cx, "E5150", at.span, "?:", [then, otherwise], {
      hint: "both sides must be numbers, or pointers of one type",
    });
    return undefined;
  }
  if (condition.type.kind !== "tile") {
    const [a, b] = broadcastAll(cx, pair, at, "?:") ?? [];
    if (a === undefined || b === undefined) return undefined;
    return conditional(condition, a, b, at.span);
  }
  const [c, a, b] = broadcastAll(cx, [condition, ...pair], at, "?:") ?? [];
  if (c === undefined || a === undefined || b === undefined) return undefined;
  if (refuseEffects(cx, a, "?:") || refuseEffects(cx, b, "?:")) return undefined;
  if (c.kind === "constant" || !(mayLoad(a) || mayLoad(b))) return select(c, a, b, at.span);
  return cx.once(c, "mask", (mask) =>
    select(
      mask,
      mayLoad(a) ? applyMask(cx, a, mask) : a,
      mayLoad(b) ? applyMask(cx, b, logicalNot(mask, at.span)) : b,
      at.span,
    ));
}

/** `a && b`, `a || b`. */
export function checkLogical(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "binary" }>,
): Value | undefined {
  const and = expr.operator === "&&";
  const lhs = checkValue(cx, expr.lhs);
  const first = lhs === undefined ? undefined : toBool(lhs);
  const decided = first?.kind === "constant" && first.type.kind !== "tile" &&
    first.value === (and ? 0n : 1n);
  const rhs = cx.unevaluatedIf(decided, () => checkValue(cx, expr.rhs));
  if (first === undefined || rhs === undefined) return undefined;
  const second = toBool(rhs);
  if (first.type.kind !== "tile" && second.type.kind !== "tile") {
    const fixed = constant(and ? 0n : 1n, scalarType("bool"), expr.span);
    return and
      ? conditional(first, second, fixed, expr.span)
      : conditional(first, fixed, second, expr.span);
  }
  const [a, b] = broadcastAll(cx, [first, second], expr, expr.operator) ?? [];
  if (a === undefined || b === undefined) return undefined;
  const operator = and ? "and" : "or";
  if (refuseEffects(cx, b, expr.operator)) return undefined;
  if (!mayLoad(b)) return binary(operator, a, b, expr.span);
  // A scalar left side is bound before it is stretched, so that it stays one value.
  const stretched = shapeOf(a.type);
  return cx.once(first, "mask", (use) => {
    const mask = broadcast(use, stretched);
    const masked = applyMask(cx, b, and ? mask : logicalNot(mask, expr.span));
    return binary(operator, mask, masked, expr.span);
  });
}

/** E5151: all lanes share one flow of control, so a side cannot do something for some lanes only. */
function refuseEffects(cx: Context, side: TypedExpr, operator: string): boolean {
  const found = findEffect(side);
  if (found === undefined) return noteCalls(cx, side);
  cx.reporter.error(
    "E5151",
    found.span,
    `a side of a tile \`${operator}\` cannot ${verbOf(found)}`,
    { hint: "do it before, or store under a mask: `*?(mask) p = …`" },
  );
  return true;
}

function findEffect(expr: TypedExpr): TypedExpr | undefined {
  if (changesSomething(expr)) return expr;
  for (const operand of operandsOf(expr)) {
    const found = findEffect(operand);
    if (found !== undefined) return found;
  }
  return undefined;
}

function verbOf(expr: TypedExpr): string {
  if (expr.kind === "store") return "store";
  return expr.kind === "builtin" ? `call \`${expr.name}\`` : "assign";
}

function noteCalls(cx: Context, expr: TypedExpr): false {
  if (expr.kind === "call") cx.maskedCalls.push({ helper: expr.helper, span: expr.span });
  for (const operand of operandsOf(expr)) noteCalls(cx, operand);
  return false;
}
