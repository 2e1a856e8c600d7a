/** Calls: helpers, built-ins, and the two-step atomics of old kernels (language.md, 4.4, 7). */
import type * as ast from "../../parse/ast.ts";
import { spellType } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { BUILTINS } from "../builtins/builtins.ts";
import { checkBuiltin } from "../builtins/check_builtin.ts";
import { checkOldAtomic, OLD_ATOMIC } from "../builtins/check_atomic.ts";
import { checkExpr, checkValue, reportUndeclared } from "./check_expr.ts";
import { convertTo } from "./convert.ts";
import { typeArgument } from "./check_argument.ts";
import type { HelperEntry } from "../scope.ts";
import { calledHelper } from "../functions/helper_instances.ts";
import { constantInteger } from "../check_type.ts";
import type { Value } from "../tree/nodes.ts";

type Call = Extract<ast.Expr, { kind: "call" }>;

export function checkCall(cx: Context, expr: Call): TypedExpr | undefined {
  const callee = unwrap(expr.callee);
  if (callee.kind === "call") {
    const inner = unwrap(callee.callee);
    const isAtomic = inner.kind === "name" && inner.name === "atomic_add" &&
      cx.scope.lookup(inner.name) === undefined;
    const [type, rows, columns] = callee.args;
    if (isAtomic && type?.kind === "type" && rows?.kind === "expr" && columns?.kind === "expr") {
      const element = typeArgument(cx, type.type);
      return checkOldAtomic(cx, expr, element, [rows.expr, columns.expr]);
    }
  }
  reportNamedArguments(cx, expr, callee);
  if (callee.kind !== "name") {
    const value = checkExpr(cx, callee);
    checkArguments(cx, expr);
    if (value !== undefined) {
      const type = spellType(value.type);
      cx.reporter.error("E4029", callee.span, `this is ${type}, not a function`);
    }
    return undefined;
  }
  return checkNamedCall(cx, expr, callee);
}

/** `load(p, mask=m)` of Python would assign to a variable. */
function reportNamedArguments(cx: Context, { args }: Call, callee: ast.Expr): void {
  const signature = callee.kind === "name" ? BUILTINS.get(callee.name)?.signature : undefined;
  const hint = "arguments have no names, only an order" +
    (signature === undefined ? "" : `: \`${signature}\``);
  for (const arg of args) {
    if (arg.kind !== "expr" || arg.expr.kind !== "assign" || arg.expr.operator !== "=") continue;
    const { target } = arg.expr;
    if (target.kind !== "name" || cx.scope.lookup(target.name) !== undefined) continue;
    reportUndeclared(cx, target.name, target.span, "name", hint);
  }
}

function checkNamedCall(
  cx: Context,
  expr: Call,
  { name, span }: Extract<ast.Expr, { kind: "name" }>,
): TypedExpr | undefined {
  const entry = cx.meaning(name, span);
  if (entry === undefined) {
    const builtin = BUILTINS.get(name);
    if (builtin !== undefined) return checkBuiltin(cx, builtin, expr);
    const old = OLD_ATOMIC.exec(name);
    if (old !== null) return checkOldAtomic(cx, expr, undefined, [], old);
    reportUndeclared(cx, name, span, "function");
    checkArguments(cx, expr);
    return undefined;
  }
  switch (entry.kind) {
    case "helper":
      return checkHelperCall(cx, expr, entry);
    case "kernel":
      cx.reporter.error("E4022", span, `\`${name}\` is a kernel and cannot be called`, {
        notes: [{ message: "the kernel", span: entry.span }],
        hint: isBuiltin(name)
          ? `its name hides the built-in function \`${name}\`: rename the kernel`
          : "move what both need into a helper, a function without `__global__`",
      });
      checkArguments(cx, expr);
      return undefined;
    case "poison":
      checkArguments(cx, expr);
      return undefined;
    default:
      cx.reporter.error("E4029", span, `\`${name}\` is not a function here`, {
        notes: [{ message: `\`${name}\` was declared here`, span: entry.span }],
        ...(isBuiltin(name) ? { hint: "rename it to reach the built-in function" } : {}),
      });
      checkArguments(cx, expr);
      return undefined;
  }
}

const isBuiltin = (name: string): boolean => BUILTINS.has(name) || OLD_ATOMIC.test(name);

function unwrap(expr: ast.Expr): ast.Expr {
  return expr.kind === "paren" ? unwrap(expr.inner) : expr;
}

/** For their own errors only. */
function checkArguments(cx: Context, expr: Call): void {
  for (const arg of expr.args) if (arg.kind === "expr") checkExpr(cx, arg.expr);
}

function checkHelperCall(cx: Context, expr: Call, entry: HelperEntry): TypedExpr | undefined {
  const { paramTypes } = entry;
  const { name } = entry.helper;
  const values = expr.args.map((arg) => arg.kind === "expr" ? checkValue(cx, arg.expr) : undefined);
  if (values.length !== paramTypes.length) {
    const wanted = `${paramTypes.length} argument${paramTypes.length === 1 ? "" : "s"}`;
    const message = `\`${name}\` takes ${wanted}, not ${values.length}`;
    cx.reporter.error("E7001", expr.span, message, {
      notes: [{ message: `\`${name}\` is declared here`, span: entry.span }],
      ...(isBuiltin(name)
        ? { hint: "it hides the built-in function; rename it to reach that one" }
        : {}),
    });
    return undefined;
  }
  const constants: (Value | undefined)[] = [];
  const args: Value[] = [];
  for (const [at, type] of paramTypes.entries()) {
    const value = constantArgument(cx, entry, at, values[at]);
    const converted = value && convertTo(cx, value, type, {
      notes: [{
        message: `the parameter is ${spellType(type)}` +
          (isBuiltin(name) ? "; this function hides the built-in one" : ""),
        span: entry.span,
      }],
    });
    if (converted === undefined) continue;
    const isConstant = entry.constants[at] === true;
    constants.push(isConstant ? converted : undefined);
    if (!isConstant) args.push(converted);
  }
  const isWhole = constants.length === paramTypes.length;
  const helper = isWhole ? calledHelper(cx, entry, constants, expr.span) : undefined;
  if (helper === undefined) return undefined;
  const type = helper.result ?? { kind: "void" };
  return { kind: "call", helper, args, type, span: expr.span };
}

/** An argument, where it may be of a constant parameter; undefined after E4033. */
function constantArgument(
  cx: Context,
  entry: HelperEntry,
  at: number,
  value: Value | undefined,
): Value | undefined {
  if (value === undefined || entry.constants[at] !== true) return value;
  const name = entry.source?.head.params[at]?.name?.text;
  const what = name === undefined ? "this argument" : `the argument for \`const ${name}\``;
  const remedy = ", or remove the `const` of the parameter";
  const known = constantInteger(cx, value, value.span, what, "E4033", remedy);
  return known === undefined ? undefined : value;
}
