/** Statements: structured control with every assigned variable as a result or carried value. */
import type { TypedExpr, TypedStmt, ValueType } from "../check/tree/typed.ts";
import type { Attrs, Region, Value } from "../ir/func.ts";
import { bug } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import type { Span } from "../support/source.ts";
import { assignedIn } from "./assigned.ts";
import {
  append,
  type Building,
  type BuildStep,
  type Context,
  countOperation,
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
export function* buildBody(
  cx: Context,
  body: readonly TypedStmt[],
  span: Span,
  result?: ValueType,
): BuildStep<Value | undefined> {
  const last = body.at(-1);
  const isPlain = last?.kind === "return" && !body.slice(0, -1).some(hasExit);
  if (isPlain) {
    yield* buildStmts(cx, body.slice(0, -1));
    return last.value === undefined ? undefined : yield* buildValue(cx, last.value);
  }
  const structured = withoutExits(body, span, () => --cx.made.last, result);
  yield* buildStmts(cx, structured.stmts);
  // The checker has seen that each path of a helper with a result returns one, or has reported it.
  return structured.result && valueOf(cx, structured.result);
}

/** A statement that others may follow. */
function* buildStmt(cx: Context, stmt: TypedStmt): Building {
  countOperation(cx);
  cx.names?.begin(stmt.span, cx.values);
  switch (stmt.kind) {
    case "declare":
      yield* buildDeclaration(cx, stmt);
      return undefined;
    case "expression":
      return yield buildExpr(cx, stmt.expr);
    case "if":
      yield* buildIf(cx, stmt);
      return undefined;
    case "loop":
      yield* buildLoop(cx, stmt);
      return undefined;
    case "return":
    case "break":
    case "continue":
      bug(`a ${stmt.kind} that was not resolved`);
  }
}

function* buildStmts(cx: Context, stmts: readonly TypedStmt[]): BuildStep<void> {
  const scope = cx.names?.open();
  for (const stmt of stmts) yield buildStmt(cx, stmt);
  if (scope !== undefined) cx.names?.close(scope);
}

/** Without an initialiser the value is unspecified; 0 is one that every later pass can remove. */
function* buildDeclaration(cx: Context, stmt: Of<"declare">): BuildStep<void> {
  const { variable, span } = stmt;
  let value = stmt.value === undefined
    ? emitZero(cx, irType(variable.type), span)
    : yield* buildValue(cx, stmt.value);
  const promise = stmt.multipleof ?? stmt.aligned;
  if (promise !== undefined && stmt.value !== undefined) {
    value = buildMultiple(cx, value, promise, stmt.value.span);
  }
  setVariable(cx, variable, value);
}

function* buildIf(cx: Context, stmt: Of<"if">): BuildStep<void> {
  const known = knownCondition(stmt.condition);
  if (known !== undefined) return yield* buildStmts(cx, known ? stmt.then : stmt.else);
  const condition = yield* buildValue(cx, stmt.condition);
  const carried = assignedIn([...stmt.then, ...stmt.else]);
  const regions: Region[] = [];
  for (const branch of [stmt.then, stmt.else]) {
    const build = function* (): BuildStep<void> {
      yield* buildStmts(cx, branch);
      append(cx, "yield", valuesOf(cx, carried), [], stmt.span);
    };
    regions.push(yield* inRegion(cx, [], stmt.span, build));
  }
  const types = carried.map((variable) => irType(variable.type));
  cx.names?.begin(stmt.span, cx.values);
  setAll(cx, carried, append(cx, "if", [condition], types, stmt.span, {}, regions).results);
}

/**
 * `for` and `while`: the first region tests, the second is body and step. `do`: the first region is body and
 * test, the second does nothing.
 */
function* buildLoop(cx: Context, stmt: Of<"loop">): BuildStep<void> {
  const scope = cx.names?.open();
  for (const each of stmt.init) yield buildStmt(cx, each);
  yield* buildIterations(cx, stmt);
  if (scope !== undefined) cx.names?.close(scope);
}

function* buildIterations(cx: Context, stmt: Of<"loop">): BuildStep<void> {
  const { span, condition } = stmt;
  const unrolled = unroll(cx, stmt);
  const { copying } = cx;
  if (unrolled !== undefined) cx.copying ??= { kind: "unroll", span: unrolled.hint };
  if (unrolled?.kind === "straight") {
    yield* buildStmts(cx, unrolled.stmts);
    cx.copying = copying;
    return;
  }
  const body = unrolled?.body ?? stmt.body;
  const step = unrolled === undefined ? stmt.step : undefined;
  const exprs = [condition, step].filter((expr) => expr !== undefined);
  const carried = assignedIn(body, exprs);
  const initial = valuesOf(cx, carried);
  const test = yield* inRegion(cx, carried, span, function* (): BuildStep<void> {
    if (!stmt.testFirst) yield* buildStmts(cx, body);
    cx.names?.begin(condition?.span ?? span, cx.values);
    const goOn = condition === undefined ? buildTrue(cx, span) : yield* buildValue(cx, condition);
    append(cx, "condition", [goOn, ...valuesOf(cx, carried)], [], span);
  });
  const region = yield* inRegion(cx, carried, span, function* (): BuildStep<void> {
    if (stmt.testFirst) yield* buildStmts(cx, body);
    cx.names?.begin(step?.span ?? span, cx.values);
    if (stmt.testFirst && step !== undefined) yield buildExpr(cx, step);
    append(cx, "yield", valuesOf(cx, carried), [], span);
  });
  cx.copying = copying;
  const types = carried.map((variable) => irType(variable.type));
  // What is made of the loop itself, such as copies of later iterations, is done within it.
  const inBody = new Map(zip(carried, region.params).map(([{ id }, param]) => [id, param]));
  cx.names?.begin(span, cx.values, inBody);
  const loop = append(cx, "while", initial, types, span, attrsOf(stmt.hints), [test, region]);
  setAll(cx, carried, loop.results);
}

/** How far ahead a loop may load, with `pipeline(off)` not at all, and whether its copies are counted. */
function attrsOf(hints: Of<"loop">["hints"]): Attrs {
  const rolled = hints.some(({ name }) => name === "unroll") ? { rolled: true } : {};
  const isOff = hints.some(({ name, argument }) => name === "pipeline" && argument === "off");
  const stages = isOff ? "1" : hints.find(({ name }) => name === "num_stages")?.argument;
  return stages === undefined ? rolled : { ...rolled, num_stages: Number(stages) };
}

/** A condition that the checker folded: then only one side is built, and what the other cannot do yet is no matter. */
function knownCondition(expr: TypedExpr): boolean | undefined {
  return expr.kind === "constant" ? expr.value === 1n : undefined;
}
