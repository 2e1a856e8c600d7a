/**
 * Random programs of scalar control flow, as trees that fast-check can shrink: written as Triton-C, and run here
 * by a direct interpreter.
 */
import fc from "../property.ts";

type Expr =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "variable"; readonly index: number }
  | { readonly kind: "binary"; readonly operator: Operator; readonly a: Expr; readonly b: Expr }
  | { readonly kind: "choice"; readonly c: Expr; readonly a: Expr; readonly b: Expr };

type Stmt =
  | { readonly kind: "assign"; readonly index: number; readonly value: Expr }
  | { readonly kind: "store"; readonly at: number; readonly value: Expr }
  | { readonly kind: "swap"; readonly a: number; readonly b: number }
  | { readonly kind: "if"; readonly c: Expr; readonly then: Stmt[]; readonly else: Stmt[] }
  | { readonly kind: "for"; readonly rounds: number; readonly body: Stmt[] }
  | {
    readonly kind: "while" | "do";
    readonly c: Expr;
    readonly rounds: number;
    readonly body: Stmt[];
  }
  | { readonly kind: "break" | "continue" | "return"; readonly c: Expr };

const OPERATORS = {
  "+": (a: number, b: number): number => (a + b) | 0,
  "-": (a: number, b: number): number => (a - b) | 0,
  "*": (a: number, b: number): number => Math.imul(a, b),
  "&": (a: number, b: number): number => a & b,
  "^": (a: number, b: number): number => a ^ b,
  "<": (a: number, b: number): number => a < b ? 1 : 0,
  "==": (a: number, b: number): number => a === b ? 1 : 0,
  "&&": (a: number, b: number): number => a !== 0 && b !== 0 ? 1 : 0,
  "||": (a: number, b: number): number => a !== 0 || b !== 0 ? 1 : 0,
} as const;
type Operator = keyof typeof OPERATORS;

/** Variables of a program; the first two are its arguments. */
export const VARIABLES = 5;
const STORES = 4;

/** A program: its statements. */
export type Program = readonly Stmt[];

const index = fc.nat(VARIABLES - 1);
const { list } = fc.letrec<{ expr: Expr; stmt: Stmt; list: Stmt[] }>((tie) => ({
  expr: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ kind: fc.constant("number"), value: fc.integer({ min: -3, max: 9 }) }),
    fc.record({ kind: fc.constant("variable"), index }),
    fc.record({
      kind: fc.constant("binary"),
      operator: fc.constantFrom(...Object.keys(OPERATORS) as Operator[]),
      a: tie("expr"),
      b: tie("expr"),
    }),
    fc.record({ kind: fc.constant("choice"), c: tie("expr"), a: tie("expr"), b: tie("expr") }),
  ),
  stmt: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.record({ kind: fc.constant("assign"), index, value: tie("expr") }),
    fc.record({ kind: fc.constant("swap"), a: index, b: index }),
    fc.record({ kind: fc.constant("store"), at: fc.nat(STORES - 1), value: tie("expr") }),
    fc.record({ kind: fc.constantFrom("break", "continue", "return"), c: tie("expr") }),
    fc.record({ kind: fc.constant("if"), c: tie("expr"), then: tie("list"), else: tie("list") }),
    fc.record({ kind: fc.constant("for"), rounds: fc.nat(4), body: tie("list") }),
    fc.record({
      kind: fc.constantFrom("while", "do"),
      c: tie("expr"),
      rounds: fc.nat(4),
      body: tie("list"),
    }),
  ),
  list: fc.array(tie("stmt"), { maxLength: 4 }),
}));

export const anyProgram: fc.Arbitrary<Program> = fc.array(list, { minLength: 1, maxLength: 4 }).map(
  (lists) => lists.flat(),
);

function printExpr(e: Expr): string {
  switch (e.kind) {
    case "number":
      return e.value < 0 ? `(${e.value})` : `${e.value}`;
    case "variable":
      return `v${e.index}`;
    case "binary":
      return `(int)(${printExpr(e.a)} ${e.operator} ${printExpr(e.b)})`;
    case "choice":
      return `(${printExpr(e.c)} ? ${printExpr(e.a)} : ${printExpr(e.b)})`;
  }
}

/** The program as a kernel of one program instance. */
export function printProgram(program: Program): string {
  let counters = 0;
  const finish = Array.from({ length: VARIABLES }, (_, i) => `*(Y + ${STORES + i}) = v${i};`).join(
    " ",
  );
  const block = (stmts: readonly Stmt[], inLoop: boolean): string =>
    `{ ${stmts.map((stmt) => print(stmt, inLoop)).join(" ")} }`;
  const print = (stmt: Stmt, inLoop: boolean): string => {
    switch (stmt.kind) {
      case "assign":
        return `v${stmt.index} = ${printExpr(stmt.value)};`;
      case "swap":
        return `{ int t = v${stmt.a}; v${stmt.a} = v${stmt.b}; v${stmt.b} = t; }`;
      case "store":
        return `*(Y + ${stmt.at}) = ${printExpr(stmt.value)};`;
      case "if":
        return `if (${printExpr(stmt.c)}) ${block(stmt.then, inLoop)} else ${
          block(stmt.else, inLoop)
        }`;
      case "for": {
        const i = `i${counters++}`;
        return `for (int ${i} = 0; ${i} < ${stmt.rounds}; ${i}++) ${block(stmt.body, true)}`;
      }
      case "while": {
        const i = `i${counters++}`;
        return `int ${i} = 0; while (${printExpr(stmt.c)} && ${i} < ${stmt.rounds}) { ${i}++; ${
          block(stmt.body, true)
        } }`;
      }
      case "do": {
        const i = `i${counters++}`;
        return `int ${i} = 0; do { ${i}++; ${block(stmt.body, true)} } while (${
          printExpr(stmt.c)
        } && ${i} < ${stmt.rounds});`;
      }
      case "return":
        return `if (${printExpr(stmt.c)}) { ${finish} return; }`;
      default:
        return inLoop ? `if (${printExpr(stmt.c)}) ${stmt.kind};` : "";
    }
  };
  const body = program.map((stmt) => print(stmt, false)).join("\n  ");
  return `#pragma tri grid(1)
__global__ void k(int *Y, int v0, int v1) {
  int v2 = 0; int v3 = 1; int v4 = -1;
  ${body}
  ${finish}
}
`;
}

/** What the program leaves in memory. */
export function runProgram(program: Program, arguments_: readonly [number, number]): number[] {
  const v = [...arguments_, 0, 1, -1];
  const memory = new Array<number>(STORES + VARIABLES).fill(0);
  const at = (i: number): number => v[i] ?? 0;
  const evaluate = (e: Expr): number => {
    switch (e.kind) {
      case "number":
        return e.value;
      case "variable":
        return at(e.index);
      case "binary":
        return OPERATORS[e.operator](evaluate(e.a), evaluate(e.b));
      case "choice":
        return evaluate(e.c) !== 0 ? evaluate(e.a) : evaluate(e.b);
    }
  };
  type Exit = "break" | "continue" | "return" | undefined;
  const runAll = (stmts: readonly Stmt[], inLoop: boolean): Exit => {
    for (const stmt of stmts) {
      const exit = run(stmt, inLoop);
      if (exit !== undefined) return exit;
    }
    return undefined;
  };
  const run = (stmt: Stmt, inLoop: boolean): Exit => {
    switch (stmt.kind) {
      case "assign":
        v[stmt.index] = evaluate(stmt.value);
        return undefined;
      case "swap":
        [v[stmt.a], v[stmt.b]] = [at(stmt.b), at(stmt.a)];
        return undefined;
      case "store":
        memory[stmt.at] = evaluate(stmt.value);
        return undefined;
      case "if":
        return runAll(evaluate(stmt.c) !== 0 ? stmt.then : stmt.else, inLoop);
      case "return":
        return evaluate(stmt.c) !== 0 ? "return" : undefined;
      case "break":
      case "continue":
        return inLoop && evaluate(stmt.c) !== 0 ? stmt.kind : undefined;
      default: {
        for (let round = 0;; round++) {
          if (stmt.kind === "for" && round >= stmt.rounds) return undefined;
          if (stmt.kind === "while" && (evaluate(stmt.c) === 0 || round >= stmt.rounds)) {
            return undefined;
          }
          const exit = runAll(stmt.body, true);
          if (exit === "return") return exit;
          if (exit === "break") return undefined;
          if (stmt.kind === "do" && (evaluate(stmt.c) === 0 || round + 1 >= stmt.rounds)) {
            return undefined;
          }
        }
      }
    }
  };
  runAll(program, false);
  memory.splice(STORES, VARIABLES, ...v);
  return memory;
}
