/**
 * The checker: syntax tree to typed tree. All rules of language.md about names, scopes, types, shapes,
 * conversions, constants, masks and attributes end here; a typed tree without errors needs no rule of the
 * language any more.
 *
 *   check_function.ts, check_decl.ts, check_stmt.ts     what a file is made of
 *   check_type.ts, check_attributes.ts                  types and attributes from syntax
 *   check_expr.ts                                       expressions; the door to the check_*.ts beside it
 *   convert.ts, broadcast.ts, constants.ts, masks.ts    conversions, shapes, folding, masked evaluation
 *   builtins.ts                                         the table of built-in functions
 */
import type { Reporter } from "../support/diagnostic.ts";
import type * as ast from "./ast.ts";
import type { TypedHelper, TypedKernel, TypedUnit } from "./typed.ts";
import { type CheckOptions, Context } from "./check_context.ts";
import { checkDeclaration } from "./check_decl.ts";
import { checkFunction } from "./check_function.ts";
import { checkStaticAssert } from "./check_stmt.ts";
import { dropBrokenPromises } from "./access.ts";
import { changesSomething } from "./effects.ts";
import { forEachExprIn } from "./typed_walk.ts";
import { warnUnassigned } from "./unassigned.ts";

export type { CheckOptions };

/** Checks a file. With errors reported the result may lack what was wrong. */
export function check(unit: ast.Unit, options: CheckOptions, reporter: Reporter): TypedUnit {
  const cx = new Context(reporter, options);
  const functions = unit.items.filter((item) => item.kind === "function");
  for (const { declarator: { name } } of functions) {
    if (name !== undefined) cx.laterFunctions.set(name.text, name.span);
  }
  const hasGlobal = unit.items.some((item) =>
    item.kind !== "static-assert" && item.specs.storage.some(({ word }) => word === "__global__")
  );
  const kernels: TypedKernel[] = [];
  for (const item of unit.items) {
    if (item.kind === "static-assert") {
      checkStaticAssert(cx, item);
    } else if (item.kind === "declaration") {
      checkDeclaration(cx, item);
    } else {
      const kernel = checkFunction(cx, item, hasGlobal);
      if (kernel !== undefined) kernels.push(kernel);
    }
  }
  checkCalls(cx);
  if (reporter.errorCount > 0) return { kernels };
  for (const { body } of [...kernels, ...helpersOf(cx)]) warnUnassigned(body, reporter);
  return { kernels: kernels.map((kernel) => dropBrokenPromises(kernel, reporter)) };
}

function helpersOf(cx: Context): readonly TypedHelper[] {
  return [...new Set(cx.calls.map(({ callee }) => callee.helper))];
}

/** What can be judged only when all bodies are known: E4025, E4029, and E5151, E5152 of helpers. */
function checkCalls(cx: Context): void {
  for (const { callee, span } of cx.calls) {
    if (callee.defined) continue;
    const { name } = callee.helper;
    cx.reporter.error("E4029", span, `\`${name}\` is declared but not defined`, {
      notes: [{ message: "the prototype", span: callee.span }],
    });
  }
  const callees = new Map<TypedHelper, TypedHelper[]>();
  for (const { caller, callee } of cx.calls) {
    if (caller !== undefined) callees.set(caller, [...callees.get(caller) ?? [], callee.helper]);
  }
  const reachable = (from: TypedHelper): ReadonlySet<TypedHelper> => {
    const found = new Set<TypedHelper>();
    const open = [...callees.get(from) ?? []];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(...callees.get(next) ?? []);
    }
    return found;
  };
  for (const { caller, callee, span } of cx.calls) {
    if (caller === undefined) continue;
    if (callee.helper !== caller && !reachable(callee.helper).has(caller)) continue;
    cx.reporter.error("E4025", span, `\`${caller.name}\` calls itself`, {
      hint: "helpers are copied into their callers; write a loop",
    });
  }
  for (const { helper, span } of cx.maskedCalls) {
    checkMaskedCall(cx, [helper, ...reachable(helper)], helper.name, span);
  }
}

function checkMaskedCall(
  cx: Context,
  bodies: readonly TypedHelper[],
  name: string,
  span: ast.Name["span"],
): void {
  let changes = false;
  let loads = false;
  for (const { body } of bodies) {
    forEachExprIn(body, (expr) => {
      // Its own variables are no concern of the caller.
      changes ||= expr.kind !== "assign" && changesSomething(expr);
      loads ||= expr.kind === "load";
    });
  }
  if (changes) {
    const message = `\`${name}\` has effects and cannot be called for some lanes only`;
    cx.reporter.error("E5151", span, message, { hint: "call it before the `?:`" });
  } else if (loads) {
    cx.reporter.error("E5152", span, `no mask reaches the loads inside \`${name}\``, {
      hint: "call it before the `?:`, or pass it a mask",
    });
  }
}
