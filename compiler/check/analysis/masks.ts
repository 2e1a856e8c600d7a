/**
 * How the mask of a tile `?:`, `&&` or `||` reaches the loads of its sides (language.md, 5.11): memory is
 * read only on lanes that choose that side.
 *
 * The mask is propagated from the root of the side to its loads. It always has the shape of the expression
 * that it masks, so it changes where the shape does: or-ed over the axes a stretch repeats, permuted back
 * through `^`, reshaped through `newaxis`. For `m ? (*p)[:, newaxis] : 0` with `m` of `[A, B]`:
 *
 *     broadcast [A, 1] → [A, B]   mask m
 *     reshape   [A] → [A, 1]      mask m or-ed over axis 1
 *     load      [A]               the same, reshaped to [A]
 */
import { must } from "../../support/bug.ts";
import type { TypedExpr, Variable } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { isElementwise } from "../builtins/builtins.ts";
import { binary, broadcast, isValue, permute, reduce, reshape, type Value } from "../tree/nodes.ts";
import { elementCount, sameShape, scalarType, type ShapeOf, shapeOf } from "../tree/value_types.ts";
import { operandsOf, someExpr } from "../tree/typed_walk.ts";

/** Whether there is a load that a mask must reach; a helper may load in its body. */
export function mayLoad(expr: TypedExpr): boolean {
  return someExpr(expr, (inner) => inner.kind === "load" || inner.kind === "call");
}

/** Masks of the uses of each variable that a `let` on the way binds, in order. */
type Uses = Map<Variable, Value[]>;

/** The expression with its loads under `mask`, a bool value of the same shape. */
export function applyMask(cx: Context, expr: Value, mask: Value): Value {
  return push(cx, expr, mask, new Map());
}

function push(cx: Context, expr: Value, mask: Value, uses: Uses): Value {
  if (expr.kind === "variable") {
    uses.get(expr.variable)?.push(mask);
    return expr;
  }
  if (operandsOf(expr).length === 0) return expr;
  const same = (operand: TypedExpr): Value => push(cx, value(operand), mask, uses);
  switch (expr.kind) {
    case "binary":
    case "difference":
      return { ...expr, lhs: same(expr.lhs), rhs: same(expr.rhs) };
    case "unary":
    case "convert":
    case "bitcast":
      return { ...expr, operand: same(expr.operand) };
    case "offset":
      return { ...expr, pointer: same(expr.pointer), count: same(expr.count) };
    case "select":
      return {
        ...expr,
        condition: same(expr.condition),
        then: same(expr.then),
        else: same(expr.else),
      };
    case "load": {
      const own = expr.mask === undefined ? undefined : same(expr.mask);
      return {
        ...expr,
        pointer: same(expr.pointer),
        mask: own === undefined ? mask : binary("and", mask, own, expr.span),
        ...(expr.other === undefined ? {} : { other: same(expr.other) }),
      };
    }
    case "broadcast": {
      const operand = value(expr.operand);
      const narrowed = narrow(mask, shapeOf(operand.type));
      return { ...expr, operand: push(cx, operand, narrowed, uses) };
    }
    case "reshape": {
      const operand = value(expr.operand);
      const reshaped = reshape(mask, shapeOf(operand.type), expr.span);
      return { ...expr, operand: push(cx, operand, reshaped, uses) };
    }
    case "permute": {
      const back = expr.order.map((_, axis) => expr.order.indexOf(axis));
      const operand = value(expr.operand);
      return { ...expr, operand: push(cx, operand, permute(mask, back, expr.span), uses) };
    }
    case "conditional": {
      const condition = value(expr.condition);
      return {
        ...expr,
        condition: push(cx, condition, narrow(mask, undefined), uses),
        then: same(expr.then),
        else: same(expr.else),
      };
    }
    case "comma": {
      if (!isValue(expr.first)) return { ...expr, then: same(expr.then) };
      const some = broadcast(narrow(mask, undefined), shapeOf(expr.first.type));
      return { ...expr, first: push(cx, expr.first, some, uses), then: same(expr.then) };
    }
    case "let":
      return pushLet(cx, expr, mask, uses);
    case "builtin":
      if (isElementwise(expr.name) && expr.args.every((arg) => hasShape(arg, shapeOf(expr.type)))) {
        return { ...expr, args: expr.args.map(same) };
      }
      return refuse(cx, expr);
    default:
      return refuse(cx, expr);
  }
}

/**
 * A load in the bound value runs where the value is used. The checker makes only such lets whose body uses the
 * variable first on all its lanes, as the condition of a choice does, so the mask of that use covers the others.
 */
function pushLet(
  cx: Context,
  expr: Extract<TypedExpr, { kind: "let" }>,
  mask: Value,
  uses: Uses,
): Value {
  const inner: Uses = new Map(uses).set(expr.variable, []);
  const body = push(cx, value(expr.body), mask, inner);
  const first = must(inner.get(expr.variable)?.[0], "use of a bound value");
  return { ...expr, value: push(cx, value(expr.value), first, uses), body };
}

function value(expr: TypedExpr): Value {
  return must(isValue(expr) ? expr : undefined, "value of an operand");
}

function hasShape(expr: TypedExpr, shape: ShapeOf): boolean {
  return isValue(expr) && sameShape(shapeOf(expr.type), shape);
}

/** The mask or-ed over the axes that a stretch from `shape` repeats. */
function narrow(mask: Value, shape: ShapeOf): Value {
  const from = shapeOf(mask.type) ?? [];
  const to = shape ?? [];
  let narrowed = mask;
  for (let axis = from.length - 1; axis >= 0; axis--) {
    const kept = to[axis - (from.length - to.length)] ?? 1;
    if (kept === from[axis]) continue;
    narrowed = reduce("or", narrowed, axis, scalarType("bool"), mask.span);
  }
  // Reduced axes are gone; the operand has them with extent 1, or the mask has more axes of extent 1.
  return elementCount(shape) === 1 && shapeOf(narrowed.type) === undefined
    ? broadcast(narrowed, shape)
    : reshape(narrowed, shape);
}

/** E5152 at each load below. Loads in bodies of helpers are looked at when all bodies are known. */
function refuse(cx: Context, expr: Value): Value {
  const what = expr.kind === "reduce"
    ? "a reduction"
    : expr.kind === "dot"
    ? "`@`"
    : expr.kind === "builtin"
    ? `\`${expr.name}\``
    : "a call";
  const visit = (inner: TypedExpr): void => {
    if (inner.kind === "load") {
      cx.reporter.error(
        "E5152",
        inner.span,
        `no mask can be applied to this load through ${what}`,
        {
          hint: "load into a variable with `*?(mask)` first",
        },
      );
    }
    operandsOf(inner).forEach(visit);
  };
  visit(expr);
  return expr;
}
