/** Typed nodes of calls of built-in functions. */
import type { BuiltinCall } from "./builtins.ts";
import type { Context } from "../check_context.ts";
import { broadcastAll } from "../expressions/check_operators.ts";
import type { Value } from "../tree/nodes.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { ScalarName } from "../tree/types.ts";
import { elementOf, scalarType, withElement } from "../tree/value_types.ts";

/** Arguments at a common shape. */
export function stretchAll(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): readonly Value[] | undefined {
  const at = { span: call.span, operatorSpan: call.span };
  return broadcastAll(cx, values, at, call.builtin.name);
}

/** The node of an element-wise built-in, its arguments stretched to one shape. */
export function elementwise(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
  result: ScalarName | "same",
  options: readonly string[] = [],
): Value | undefined {
  const args = stretchAll(cx, call, values);
  const [first] = args ?? [];
  if (args === undefined || first === undefined) return undefined;
  const element = result === "same" ? elementOf(first.type) : scalarType(result);
  return builtinNode(call, args, withElement(first.type, element), options);
}

/** A built-in that the back end finds by name. */
export function builtinNode(
  call: BuiltinCall,
  args: readonly Value[],
  type: Value["type"],
  options: readonly string[] = [],
): Value {
  const name = call.builtin.canonical;
  return { kind: "builtin", name, args, options, type, span: call.span };
}

/** A built-in without a value. */
export function effectNode(
  call: BuiltinCall,
  args: readonly Value[],
  options: readonly string[] = [],
): TypedExpr {
  const name = call.builtin.canonical;
  return { kind: "builtin", name, args, options, type: { kind: "void" }, span: call.span };
}
