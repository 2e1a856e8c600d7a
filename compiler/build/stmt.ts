/** Statements: structured control with every assigned variable as a result or carried value. */
import type { TypedExpr, TypedStmt, ValueType } from "../check/typed.ts";
import type { Attrs, Value } from "../ir/func.ts";
import { bug } from "../support/bug.ts";
import type { Span } from "../support/source.ts";
import { assignedIn } from "./assigned.ts";
import {
  append,
  type Context,
  emitZero,
  inRegion,
  setAll,
  setVariable,
  valueOf,
  valuesOf,
} from "./context.ts";
import { buildMultiple } from "./debug.ts";
import { hasExit, withoutExits } from "./exits.ts";
import { buildExpr, buildTrue, buildValue } from "./expr.ts";
import { irType } from "./types.ts";
import { unroll } from "./unroll.ts";

type Of<K extends TypedStmt["kind"]> = Extract<TypedStmt, { kind: K }>;

/** The whole body of a kernel or helper; gives the value that it returns. */
export function buildBody(
  cx: Context,
  body: readonly TypedStmt[],
  span: Span,
  result?: ValueType,
): Value | undefined {
  const last = body.at(-1);
  const isPlain = last?.kind === "return" && !body.slice(0, -1).some(hasExit);
  if (isPlain) {
    buildStmts(cx, body.slice(0, -1));
    return last.value === undefined ? undefined : buildValue(cx, last.value);
  }
  const structured = withoutExits(body, span, () => --cx.made.last, result);
  buildStmts(cx, structured.stmts);
  // The checker has seen that each path of a helper with a result returns one, or has reported it.
  return structured.result && valueOf(cx, structured.result);
}

/** A statement that others may follow. */
function buildStmt(cx: Context, stmt: TypedStmt): void {
  switch (stmt.kind) {
    case "declare":
      return buildDeclaration(cx, stmt);
    case "expression":
      buildExpr(cx, stmt.expr);
      return;
    case "if":
      return buildIf(cx, stmt);
    case "loop":
      return buildLoop(cx, stmt);
    case "return":
    case "break":
    case "continue":
      bug(`a ${stmt.kind} that was not resolved`);
  }
}

function buildStmts(cx: Context, stmts: readonly TypedStmt[]): void {
  for (const stmt of stmts) buildStmt(cx, stmt);
}

/** Without an initialiser the value is unspecified; 0 is one that every later pass can remove. */
function buildDeclaration(cx: Context, stmt: Of<"declare">): void {
  const { variable, span } = stmt;
  let value = stmt.value === undefined
    ? emitZero(cx, irType(variable.type), span)
    : buildValue(cx, stmt.value);
  const promise = stmt.multipleof ?? stmt.aligned;
  if (promise !== undefined && stmt.value !== undefined) {
    value = buildMultiple(cx, value, promise, stmt.value.span);
  }
  setVariable(cx, variable, value);
}

function buildIf(cx: Context, stmt: Of<"if">): void {
  const known = knownCondition(stmt.condition);
  if (known !== undefined) return buildStmts(cx, known ? stmt.then : stmt.else);
  const condition = buildValue(cx, stmt.condition);
  const carried = assignedIn([...stmt.then, ...stmt.else]);
  const regions = [stmt.then, stmt.else].map((branch) =>
    inRegion(cx, [], () => {
      buildStmts(cx, branch);
      append(cx, "yield", valuesOf(cx, carried), [], stmt.span);
    })
  );
  const types = carried.map((variable) => irType(variable.type));
  setAll(cx, carried, append(cx, "if", [condition], types, stmt.span, {}, regions).results);
}

/**
 * `for` and `while`: the first region tests, the second is body and step. `do`: the first region is body and
 * test, the second does nothing.
 */
function buildLoop(cx: Context, stmt: Of<"loop">): void {
  const { span, condition } = stmt;
  buildStmts(cx, stmt.init);
  const unrolled = unroll(cx, stmt);
  if (unrolled?.kind === "straight") return buildStmts(cx, unrolled.stmts);
  const body = unrolled?.body ?? stmt.body;
  const step = unrolled === undefined ? stmt.step : undefined;
  const exprs = [condition, step].filter((expr) => expr !== undefined);
  const carried = assignedIn(body, exprs);
  const initial = valuesOf(cx, carried);
  const test = inRegion(cx, carried, () => {
    if (!stmt.testFirst) buildStmts(cx, body);
    const goOn = condition === undefined ? buildTrue(cx, span) : buildValue(cx, condition);
    append(cx, "condition", [goOn, ...valuesOf(cx, carried)], [], span);
  });
  const round = inRegion(cx, carried, () => {
    if (stmt.testFirst) buildStmts(cx, body);
    if (stmt.testFirst && step !== undefined) buildExpr(cx, step);
    append(cx, "yield", valuesOf(cx, carried), [], span);
  });
  const types = carried.map((variable) => irType(variable.type));
  const loop = append(cx, "while", initial, types, span, attrsOf(stmt.hints), [test, round]);
  setAll(cx, carried, loop.results);
}

/** How far ahead a loop may load; `pipeline(off)`: not at all. */
function attrsOf(hints: Of<"loop">["hints"]): Attrs {
  const isOff = hints.some(({ name, argument }) => name === "pipeline" && argument === "off");
  const stages = isOff ? "1" : hints.find(({ name }) => name === "num_stages")?.argument;
  return stages === undefined ? {} : { num_stages: Number(stages) };
}

/** A condition that the checker folded: then only one side is built, and what the other cannot do yet is no matter. */
function knownCondition(expr: TypedExpr): boolean | undefined {
  return expr.kind === "constant" ? expr.value === 1n : undefined;
}
