/** Statements (language.md, section 6): what they do, and how control leaves them. */
import { must } from "../../../compiler/support/bug.ts";
import type { TypedHelper, TypedStmt } from "../../../compiler/check/tree/typed.ts";
import { type Cells, unknown } from "./cell.ts";
import { cellsOf, decide, elementOf, evaluate } from "./expressions.ts";
import type { Program } from "./program.ts";

export type Leaving =
  | { readonly kind: "next" | "break" | "continue" }
  | { readonly kind: "return"; readonly value: Cells | undefined };

const NEXT: Leaving = { kind: "next" };

export function run(program: Program, stmts: readonly TypedStmt[]): Leaving {
  for (const stmt of stmts) {
    const leaving = runOne(program, stmt);
    if (leaving.kind !== "next") return leaving;
  }
  return NEXT;
}

function runOne(program: Program, stmt: TypedStmt): Leaving {
  program.visit(program, stmt.span);
  switch (stmt.kind) {
    case "declare": {
      const { variable, value } = stmt;
      const cells = value === undefined
        ? cellsOf(variable.type, () => unknown(elementOf(variable.type)))
        : evaluate(program, value);
      program.variables.set(variable.id, cells);
      return NEXT;
    }
    case "expression":
      evaluate(program, stmt.expr);
      return NEXT;
    case "if": {
      const [condition] = evaluate(program, stmt.condition);
      return run(program, decide(must(condition, "a condition")) ? stmt.then : stmt.else);
    }
    case "loop":
      return runLoop(program, stmt);
    case "break":
    case "continue":
      return { kind: stmt.kind };
    case "return": {
      const value = stmt.value === undefined ? undefined : evaluate(program, stmt.value);
      return { kind: "return", value };
    }
  }
}

function runLoop(program: Program, loop: Extract<TypedStmt, { kind: "loop" }>): Leaving {
  const goesOn = (): boolean => {
    program.visit(program, loop.condition?.span ?? loop.span);
    const [condition] = loop.condition === undefined ? [] : evaluate(program, loop.condition);
    return condition === undefined || decide(condition);
  };
  run(program, loop.init);
  if (loop.testFirst && !goesOn()) return NEXT;
  do {
    program.visit(program, loop.span);
    const leaving = run(program, loop.body);
    if (leaving.kind === "return") return leaving;
    if (leaving.kind === "break") return NEXT;
    program.visit(program, loop.step?.span ?? loop.span);
    if (loop.step !== undefined) evaluate(program, loop.step);
  } while (goesOn());
  return NEXT;
}

/** Helpers do not recurse, so their variables are never live twice. */
export function callHelper(program: Program, helper: TypedHelper, args: readonly Cells[]): Cells {
  helper.params.forEach((param, index) =>
    program.variables.set(param.id, must(args[index], "argument"))
  );
  const leaving = run(program, helper.body);
  return leaving.kind === "return" ? leaving.value ?? [] : [];
}
