/** Arguments of built-ins: values, constants, types and modifier strings taken from the syntax. */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { type ScalarName, spellType } from "../tree/types.ts";
import type { ValueType } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import type { Builtin, BuiltinCall } from "../builtins/builtins.ts";
import { checkString, checkValue } from "./check_expr.ts";
import { constantInteger, resolveTypeName } from "../check_type.ts";
import type { Value } from "../tree/nodes.ts";

/** Splits off modifier strings and checks the count (E7001). */
export function takeApart(
  cx: Context,
  builtin: Builtin,
  expr: Extract<ast.Expr, { kind: "call" }>,
): BuiltinCall | undefined {
  let count = expr.args.length;
  const strings: { text: string; span: Span }[] = [];
  while (builtin.strings && count > 0) {
    const last = expr.args[count - 1];
    if (last?.kind !== "expr" || last.expr.kind !== "string") break;
    const text = checkString(cx, last.expr);
    if (text === undefined) return undefined;
    strings.unshift({ text, span: last.expr.span });
    count--;
  }
  const args = expr.args.slice(0, count);
  const { least, most, name, signature } = builtin;
  if (count >= least && count <= most) return { builtin, args, strings, span: expr.span };
  const range = least === most
    ? `${least}`
    : most === Infinity
    ? `${least} or more`
    : `${least} to ${most}`;
  const message = `\`${name}\` takes ${range} argument${range === "1" ? "" : "s"}, not ${count}`;
  cx.reporter.error("E7001", expr.span, message, { hint: `it is called as \`${signature}\`` });
  return undefined;
}

/** All arguments as values; undefined if one is wrong or a type. */
export function valuesOf(cx: Context, call: BuiltinCall): readonly Value[] | undefined {
  const values: Value[] = [];
  let fine = true;
  for (const arg of call.args) {
    const value = arg.kind === "expr" ? checkValue(cx, arg.expr) : undefined;
    if (arg.kind === "type") reportArgument(cx, call, arg.type.span, "a value, not a type");
    if (value === undefined) fine = false;
    else values.push(value);
  }
  return fine ? values : undefined;
}

/** E7002. */
export function reportArgument(
  cx: Context,
  call: BuiltinCall,
  span: Span,
  wanted: string,
  value?: Value,
): undefined {
  const found = value === undefined ? "" : `, not ${spellType(value.type)}`;
  cx.reporter.error("E7002", span, `\`${call.builtin.name}\` needs ${wanted}${found}`, {
    hint: `it is called as \`${call.builtin.signature}\``,
  });
  return undefined;
}

/** A constant integer argument within bounds (E7003). */
export function constantArgument(
  cx: Context,
  value: Value,
  what: string,
  least: number,
  most: number,
): number | undefined {
  const constant = constantInteger(cx, value, value.span, what, "E7003");
  if (constant === undefined) return undefined;
  if (constant >= BigInt(least) && constant <= BigInt(most)) return Number(constant);
  const range = most >= 2 ** 31 ? `at least ${least}` : `${least} to ${most}`;
  cx.reporter.error("E7003", value.span, `${what} is ${constant}; it must be ${range}`);
  return undefined;
}

/** A type argument. */
export function typeArgument(cx: Context, name: ast.TypeName): ValueType | undefined {
  const type = resolveTypeName(cx, name);
  if (type.kind === "poison") return undefined;
  if (type.kind !== "void") return type;
  cx.reporter.error("E7002", name.span, "void is not the type of a value");
  return undefined;
}

/** Scalar name of a value's element; undefined for pointers. */
export function scalarName(value: Value): ScalarName | undefined {
  const type = value.type.kind === "tile" ? value.type.element : value.type;
  return type.kind === "scalar" ? type.name : undefined;
}
