/** Statements (language.md, section 6). */
import { parseString } from "../preprocess/literals.ts";
import type * as ast from "../parse/ast.ts";
import type { TypedExpr, TypedStmt } from "./tree/typed.ts";
import type { Context, LoopState } from "./check_context.ts";
import { checkDeclaration } from "./check_decl.ts";
import { checkCondition, checkEffect, checkValue } from "./expressions/check_expr.ts";
import { constantInteger } from "./check_type.ts";
import { convertTo, toBool } from "./expressions/convert.ts";
import { hasEffect } from "./analysis/effects.ts";
import type { Value } from "./tree/nodes.ts";

/** A list of statements, and whether control never reaches what follows it. */
export interface Checked {
  readonly stmts: readonly TypedStmt[];
  readonly ends: boolean;
}

const NOTHING: Checked = { stmts: [], ends: false };

/** The items of a block, in the scope that is open. */
export function checkItems(cx: Context, items: readonly ast.BlockItem[]): Checked {
  const stmts: TypedStmt[] = [];
  let ends = false;
  for (const item of items) {
    if (item.kind === "declaration") {
      stmts.push(...checkDeclaration(cx, item));
    } else if (item.kind === "static-assert") {
      checkStaticAssert(cx, item);
    } else {
      const checked = checkStmt(cx, item);
      stmts.push(...checked.stmts);
      ends ||= checked.ends;
    }
  }
  return { stmts, ends };
}

function checkStmt(cx: Context, stmt: ast.Stmt): Checked {
  switch (stmt.kind) {
    case "block":
      return cx.inScope(() => checkItems(cx, stmt.items));
    case "empty":
    case "error":
      return NOTHING;
    case "expression":
      return checkExpression(cx, stmt.expr, true);
    case "if":
      return checkIf(cx, stmt);
    case "for":
      return cx.inScope(() => checkFor(cx, stmt));
    case "while":
      return checkLoop(cx, stmt, stmt.condition, true);
    case "do":
      return checkLoop(cx, stmt, stmt.condition, false);
    case "break":
    case "continue":
      return checkJump(cx, stmt);
    case "return":
      return checkReturn(cx, stmt);
  }
}

function checkExpression(cx: Context, expr: ast.Expr, warn: boolean): Checked {
  if (expr.kind === "comma") {
    const parts = [expr.lhs, expr.rhs].map((part) => checkExpression(cx, part, warn));
    return { stmts: parts.flatMap(({ stmts }) => stmts), ends: false };
  }
  const checked = checkEffect(cx, expr);
  if (checked === undefined) return NOTHING;
  if (warn && !hasEffect(checked)) {
    cx.reporter.warn("W6001", expr.span, "this expression has no effect", {
      ...(checked.kind === "binary" && checked.operator === "eq"
        ? { hint: "`==` compares; `=` assigns" }
        : {}),
    });
  }
  return { stmts: [{ kind: "expression", expr: checked, span: expr.span }], ends: false };
}

function checkIf(cx: Context, stmt: Extract<ast.Stmt, { kind: "if" }>): Checked {
  const condition = checkCondition(cx, stmt.condition);
  const then = checkStmt(cx, stmt.then);
  const otherwise = stmt.else === undefined ? NOTHING : checkStmt(cx, stmt.else);
  if (condition === undefined) return { stmts: [], ends: then.ends && otherwise.ends };
  const typed: TypedStmt = {
    kind: "if",
    condition,
    then: then.stmts,
    else: otherwise.stmts,
    span: stmt.span,
  };
  return { stmts: [typed], ends: then.ends && otherwise.ends };
}

type LoopStmt = Extract<ast.Stmt, { kind: "for" | "while" | "do" }>;

function checkFor(cx: Context, stmt: Extract<ast.Stmt, { kind: "for" }>): Checked {
  const { init } = stmt;
  const before = init === undefined
    ? []
    : init.kind === "declaration"
    ? checkDeclaration(cx, init)
    : checkExpression(cx, init, false).stmts;
  return checkLoop(cx, stmt, stmt.condition, true, before, stmt.step);
}

function checkLoop(
  cx: Context,
  stmt: LoopStmt,
  condition: ast.Expr | undefined,
  testFirst: boolean,
  init: readonly TypedStmt[] = [],
  stepExpr?: ast.Expr,
): Checked {
  const state: LoopState = { hasBreak: false, hasReturn: false };
  const early = testFirst && condition !== undefined ? checkCondition(cx, condition) : undefined;
  cx.fn?.loops.push(state);
  const body = checkStmt(cx, stmt.body);
  cx.fn?.loops.pop();
  const late = !testFirst && condition !== undefined ? checkCondition(cx, condition) : undefined;
  const step = stepExpr === undefined ? undefined : checkEffect(cx, stepExpr);
  const test = early ?? late;
  const isEndless = condition === undefined || isTrue(test);
  if (isEndless && !state.hasBreak && !state.hasReturn) {
    cx.reporter.warn("W6003", (condition ?? stmt).span, "this loop never ends", {
      hint: "give it a condition, `break` or `return`",
    });
  }
  const loop: TypedStmt = {
    kind: "loop",
    init,
    ...(test === undefined || isTrue(test) ? {} : { condition: test }),
    ...(step === undefined ? {} : { step }),
    body: body.stmts,
    testFirst,
    hints: stmt.hints,
    span: stmt.span,
  };
  return { stmts: [loop], ends: isEndless && !state.hasBreak };
}

function isTrue(condition: Value | undefined): boolean {
  return condition?.kind === "constant" && condition.value === 1n;
}

function checkJump(cx: Context, stmt: Extract<ast.Stmt, { kind: "break" | "continue" }>): Checked {
  const loop = cx.fn?.loops.at(-1);
  if (loop === undefined) {
    cx.reporter.error("E6004", stmt.span, `\`${stmt.kind}\` outside a loop`);
    return NOTHING;
  }
  if (stmt.kind === "break") loop.hasBreak = true;
  return { stmts: [{ kind: stmt.kind, span: stmt.span }], ends: true };
}

function checkReturn(cx: Context, stmt: Extract<ast.Stmt, { kind: "return" }>): Checked {
  const { fn } = cx;
  fn?.loops.forEach((loop) => loop.hasReturn = true);
  const given = stmt.value === undefined ? undefined : checkValue(cx, stmt.value);
  const result = fn?.result;
  let value: TypedExpr | undefined;
  if (fn === undefined || fn.poisonResult) {
    value = undefined;
  } else if (result === undefined) {
    if (stmt.value !== undefined) {
      const what = fn.isKernel ? "a kernel" : "a void function";
      cx.reporter.error("E6005", stmt.value.span, `${what} returns no value`, {
        ...(fn.isKernel ? { hint: "store results through a pointer parameter" } : {}),
      });
    }
  } else if (stmt.value === undefined) {
    cx.reporter.error("E4027", stmt.span, `\`${fn.name}\` must return a value here`);
  } else {
    value = given && convertTo(cx, given, result);
  }
  const typed: TypedStmt = {
    kind: "return",
    ...(value === undefined ? {} : { value }),
    span: stmt.span,
  };
  return { stmts: [typed], ends: true };
}

/** `_Static_assert(c, "text");` (E6006). */
export function checkStaticAssert(cx: Context, assertion: ast.StaticAssert): void {
  const value = checkValue(cx, assertion.condition);
  if (value === undefined) return;
  const { span } = assertion.condition;
  const test = value.kind === "constant" ? toBool(value) : value;
  const truth = constantInteger(cx, test, span, "the condition of a static assertion", "E6006");
  if (truth === undefined || truth !== 0n) return;
  const literal = assertion.message === undefined ? undefined : parseString(assertion.message);
  const text = literal?.kind === "string" ? `: ${literal.value}` : "";
  cx.reporter.error("E6006", span, `static assertion failed${text}`);
}
