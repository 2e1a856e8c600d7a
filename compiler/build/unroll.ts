/** Copies of a loop's body, as `unroll` asks for them (language.md 10.3). */
import { hasEffect } from "../check/analysis/effects.ts";
import type { TypedExpr, TypedStmt, Variable } from "../check/tree/typed.ts";
import { constantOf } from "../ir/op.ts";
import { convertScalar, evalBinary, evalUnary, type ScalarValue } from "../support/arith.ts";
import type { ScalarName } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import { assignedIn } from "./assigned.ts";
import type { Context } from "./context.ts";

type Loop = Extract<TypedStmt, { kind: "loop" }>;

/** More copies than these make a program that takes minutes to assemble. */
const MOST_COPIES = 1024;

/** What to build instead of a loop: statements one after the other, or a loop with another body. */
export type Unrolled =
  & { readonly hint: Span }
  & (
    | { readonly kind: "straight"; readonly stmts: readonly TypedStmt[] }
    | { readonly kind: "loop"; readonly body: readonly TypedStmt[] }
  );

/** The loop as its hint wants it; undefined: as it is. Hints that cannot be followed are reported. */
export function unroll(cx: Context, loop: Loop): Unrolled | undefined {
  const flatten = loop.hints.find(({ name }) => name === "flatten");
  if (flatten !== undefined) {
    cx.reporter.warn("W9015", flatten.span, "`flatten` is ignored: loops are not merged", {
      hint: "write one loop over both counters, or remove the hint",
    });
  }
  const hint = loop.hints.find(({ name }) => name === "unroll");
  if (hint === undefined) return undefined;
  const { condition } = loop;
  const iterations = iterationsOf(cx, loop);
  const copies = hint.argument === undefined ? undefined : Number(hint.argument);
  const warn = (why: string): undefined => {
    cx.reporter.warn("W9015", hint.span, `\`unroll\` is ignored: ${why}`, {
      hint: "give the loop constant bounds, or state the number of copies: `unroll(4)`",
    });
  };
  if (copies === 1) return undefined;
  if (copies === undefined || (iterations !== undefined && iterations <= copies)) {
    if (iterations === undefined) return warn("the number of iterations is not constant");
    if (iterations > MOST_COPIES) return warn(`the loop runs ${iterations} times`);
    return { kind: "straight", stmts: repeated(loop, iterations), hint: hint.span };
  }
  if (condition !== undefined && hasEffect(condition)) {
    return warn("its condition has side effects");
  }
  if (copies > MOST_COPIES) return warn(`there would be ${copies} copies of the body`);
  const isEven = iterations !== undefined && iterations % copies === 0;
  const body = isEven ? repeated(loop, copies) : guarded(cx, loop, copies);
  return { kind: "loop", body, hint: hint.span };
}

/** Body and step. The test at a loop's end, of `do`, is between iterations. */
function roundOf({ body, step }: Loop): readonly TypedStmt[] {
  return step === undefined ? body : [...body, { kind: "expression", expr: step, span: step.span }];
}

function repeated(loop: Loop, times: number): TypedStmt[] {
  return Array.from({ length: times }, () => roundOf(loop)).flat();
}

/** Nested copies; further ones follow them, where a flag says whether they are reached. */
const MOST_NESTED = 32;

const BOOL = { kind: "scalar", name: "bool" } as const;

/**
 * Each iteration but the first only if the loop continues: `body; if (c) { body; if (c) { body } }`. Of many copies
 * some at a time: `go = false; body; if (c) { body; go = c; } if (go) { go = false; body; … }`.
 */
function guarded(cx: Context, loop: Loop, times: number): readonly TypedStmt[] {
  const { condition, span } = loop;
  if (condition === undefined) return repeated(loop, times);
  const first = roundOf(loop);
  const later = roundOf({ ...loop, body: loop.body.map((stmt) => reassigned(stmt, loop)) });
  if (times <= MOST_NESTED) return nested(first, later, condition, times, []);
  const go: Variable = { id: --cx.made.last, name: "go", type: BOOL, span };
  const use: TypedExpr = { kind: "variable", variable: go, type: BOOL, span };
  const set = (value: TypedExpr): TypedStmt => ({
    kind: "expression",
    expr: { kind: "assign", variable: go, value, type: BOOL, span },
    span,
  });
  const isOver = set({ kind: "constant", value: 0n, type: BOOL, span });
  const stmts: TypedStmt[] = [{ kind: "declare", variable: go, span }];
  stmts.push(...nested(first, later, condition, MOST_NESTED, [set(condition)]));
  for (let done = MOST_NESTED; done < times; done += MOST_NESTED) {
    const count = Math.min(MOST_NESTED, times - done);
    const goOn = done + count < times ? [set(condition)] : [];
    const then = [isOver, ...nested(later, later, condition, count, goOn)];
    stmts.push({ kind: "if", condition: use, then, else: [], span });
  }
  return stmts;
}

/** Nested copies, and what follows the last one. */
function nested(
  first: readonly TypedStmt[],
  later: readonly TypedStmt[],
  condition: TypedExpr,
  times: number,
  end: readonly TypedStmt[],
): readonly TypedStmt[] {
  const { span } = condition;
  let inner = end;
  for (let copy = times; copy > 1; copy--) {
    inner = [{ kind: "if", condition, then: [...later, ...inner], else: [], span }];
  }
  return [...first, ...inner];
}

/** The flag that a loop tests before it continues is declared in its body: later iterations set that of the first. */
function reassigned(stmt: TypedStmt, { condition }: Loop): TypedStmt {
  const isFlag = stmt.kind === "declare" && condition?.kind === "variable" &&
    stmt.variable.id === condition.variable.id;
  if (!isFlag || stmt.value === undefined) return stmt;
  const { variable, value, span } = stmt;
  return {
    kind: "expression",
    expr: { kind: "assign", variable, value, type: variable.type, span },
    span,
  };
}

type Known = Map<number, ScalarValue>;

/** How often the body runs, if constants decide that and the test changes nothing. */
function iterationsOf(cx: Context, loop: Loop): number | undefined {
  const { condition, step, body, testFirst } = loop;
  if (condition === undefined || hasEffect(condition)) return undefined;
  const known: Known = new Map();
  const inBody = new Set(assignedIn(body).map(({ id }) => id));
  for (const { id } of assignedIn([], step === undefined ? [] : [step])) {
    const value = cx.values.get(id);
    const constant = value && constantOf(value);
    if (constant !== undefined && !inBody.has(id)) known.set(id, constant);
  }
  for (let iterations = testFirst ? 0 : 1; iterations <= 2 * MOST_COPIES; iterations++) {
    if (!testFirst && step !== undefined) evaluate(step, known);
    const continues = evaluate(condition, known);
    if (continues === undefined) return undefined;
    if (continues === 0n) return iterations;
    if (testFirst && step !== undefined) evaluate(step, known);
  }
  return undefined;
}

function nameOf({ type }: TypedExpr): ScalarName | undefined {
  return type.kind === "scalar" ? type.name : undefined;
}

/** The value of a scalar expression; assignments are remembered. */
function evaluate(expr: TypedExpr, known: Known): ScalarValue | undefined {
  switch (expr.kind) {
    case "constant":
      return nameOf(expr) === undefined ? undefined : expr.value;
    case "variable":
      return known.get(expr.variable.id);
    case "assign":
    case "let": {
      const value = evaluate(expr.value, known);
      if (value === undefined) known.delete(expr.variable.id);
      else known.set(expr.variable.id, value);
      return expr.kind === "let" ? evaluate(expr.body, known) : value;
    }
    case "comma":
      evaluate(expr.first, known);
      return evaluate(expr.then, known);
    case "convert": {
      const [value, to] = [evaluate(expr.operand, known), nameOf(expr)];
      return value === undefined || to === undefined ? undefined : convertScalar(value, to);
    }
    case "unary": {
      const [value, name] = [evaluate(expr.operand, known), nameOf(expr.operand)];
      return value === undefined || name === undefined
        ? undefined
        : evalUnary(expr.operator, name, value);
    }
    case "binary": {
      const [a, b] = [evaluate(expr.lhs, known), evaluate(expr.rhs, known)];
      const name = nameOf(expr.lhs);
      return a === undefined || b === undefined || name === undefined
        ? undefined
        : evalBinary(expr.operator, name, a, b);
    }
    default:
      return undefined;
  }
}
