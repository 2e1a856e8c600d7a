/**
 * Contract expressions as text: C for messages and `.contract`, TypeScript for the functions that wrappers
 * evaluate at a launch. A contract counts in 64-bit integers, TypeScript in doubles: the printer bounds every
 * subexpression and wraps in `exact(…)`, which throws beyond 2^52, what could leave the exact range. So sums
 * of a few such values, at most 2^53, need no check of their own, and what is printed stays readable:
 * `exact((M - 1) * ldx) + N - 1`.
 */
import type { ContractExpr, ContractOperator } from "../compiler/contract/types.ts";
import { assertNever, must } from "../compiler/support/bug.ts";
import { type Doc, flat, type Link } from "./doc.ts";

/** What `exact()` of the run time lets pass, and what a 64-bit argument may hold if an expression reads it. */
const EXACT_LIMIT = 2 ** 52;
/** Up to here doubles count in ones. */
const SAFE_LIMIT = 2 ** 53;

/** Names of the grid's extents in expressions; axis 0 may reach 2^31 - 1, the others 65535. */
export const GRID_NAMES = ["gridX", "gridY", "gridZ"] as const;
const GRID_LIMITS = [2 ** 31, 2 ** 16, 2 ** 16] as const;

/** Precedence of C and of TypeScript, which agree on these. Calls and names bind tightest. */
const PRECEDENCE = {
  "?:": 1,
  "||": 2,
  "&&": 3,
  "==": 4,
  "!=": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
  "%": 7,
  "neg": 8,
  "!": 8,
  "min": 9,
  "max": 9,
  "cdiv": 9,
  "next_pow2": 9,
} as const satisfies Record<ContractOperator, number>;

const ATOM = 9;

/** Functions of the run time that printed expressions call. */
export type ArithmeticName = "cdiv" | "exact" | "nextPow2" | "quotient" | "remainder";

/** A printed subexpression, with what is needed to put it into a larger one. */
interface Piece {
  readonly doc: Doc;
  readonly precedence: number;
  readonly type: "int" | "bool";
  /** No value of the piece is larger in magnitude. */
  readonly bound: number;
}

/** The expression in the language's own syntax, with macro names where constants came from macros. */
export function printSource(expr: ContractExpr): string {
  return sourcePiece(expr).text;
}

function sourcePiece(expr: ContractExpr): { readonly text: string; readonly precedence: number } {
  switch (expr.op) {
    case "const":
      return {
        text: expr.macro ?? String(expr.value),
        precedence: expr.value < 0 ? PRECEDENCE.neg : ATOM,
      };
    case "param":
      return { text: expr.name, precedence: ATOM };
    case "grid":
      return { text: gridName(expr.axis), precedence: ATOM };
    default: {
      const precedence = PRECEDENCE[expr.op];
      const operand = (index: number, least: number): string => {
        const piece = sourcePiece(argument(expr, index));
        return piece.precedence < least ? `(${piece.text})` : piece.text;
      };
      switch (expr.op) {
        case "?:":
          return { text: `${operand(0, 2)} ? ${operand(1, 1)} : ${operand(2, 1)}`, precedence };
        case "neg":
          return { text: `-${operand(0, ATOM)}`, precedence };
        case "!":
          return { text: `!${operand(0, ATOM)}`, precedence };
        case "min":
        case "max":
        case "cdiv":
        case "next_pow2":
          return {
            text: `${expr.op}(${expr.args.map((arg) => sourcePiece(arg).text).join(", ")})`,
            precedence,
          };
        default:
          return {
            text: `${operand(0, precedence)} ${expr.op} ${operand(1, precedence + 1)}`,
            precedence,
          };
      }
    }
  }
}

function argument(
  expr: { readonly op: ContractOperator; readonly args: readonly ContractExpr[] },
  index: number,
): ContractExpr {
  return must(expr.args[index], `operand ${index} of ${expr.op}`);
}

function gridName(axis: number): string {
  return must(GRID_NAMES[axis], `grid axis ${axis}`);
}

/** How names of the contract appear in the printed TypeScript, and how large they can be. */
export interface ExpressionScope {
  /** The text that reads a parameter, a macro or a grid extent. */
  readonly read: (name: string) => string;
  /** Largest magnitude of a parameter or a macro. */
  readonly bound: (name: string) => number;
}

/** Magnitudes by width: what fits 32 bits, or the limit that the run time checks. */
export function boundOfBits(bits: number): number {
  return bits <= 32 ? 2 ** bits : EXACT_LIMIT;
}

/** A printed expression, and the helper functions that it calls. */
export interface PrintedExpression {
  readonly doc: Doc;
  readonly calls: ReadonlySet<ArithmeticName>;
}

/** The expression as TypeScript that yields a number, or a boolean for a condition. */
export function printTypeScript(
  expr: ContractExpr,
  want: "int" | "bool",
  scope: ExpressionScope,
): PrintedExpression {
  const printer = new TypeScriptPrinter(scope);
  const piece = printer.piece(expr);
  return { doc: (want === "bool" ? asBool(piece) : asInt(piece)).doc, calls: printer.calls };
}

/** Names that an expression reads: parameters, macros, grid extents; in order of first use. */
export function namesRead(expr: ContractExpr): readonly string[] {
  const names = new Set<string>();
  const visit = (e: ContractExpr): void => {
    if (e.op === "const") {
      if (e.macro !== undefined) names.add(e.macro);
    } else if (e.op === "param") names.add(e.name);
    else if (e.op === "grid") names.add(gridName(e.axis));
    else e.args.forEach(visit);
  };
  visit(expr);
  return [...names];
}

/** Collects the values of compile-time parameters that an expression mentions. */
export function collectMacros(expr: ContractExpr, into: Map<string, number>): void {
  if (expr.op === "const") {
    if (expr.macro !== undefined) into.set(expr.macro, expr.value);
  } else if ("args" in expr) {
    for (const arg of expr.args) collectMacros(arg, into);
  }
}

class TypeScriptPrinter {
  readonly calls = new Set<ArithmeticName>();
  readonly #scope: ExpressionScope;

  constructor(scope: ExpressionScope) {
    this.#scope = scope;
  }

  piece(expr: ContractExpr): Piece {
    switch (expr.op) {
      case "const":
        if (expr.macro !== undefined) {
          return atom(this.#scope.read(expr.macro), this.#scope.bound(expr.macro));
        }
        return {
          ...atom(String(expr.value), Math.abs(expr.value)),
          precedence: expr.value < 0 ? PRECEDENCE.neg : ATOM,
        };
      case "param":
        return atom(this.#scope.read(expr.name), this.#scope.bound(expr.name));
      case "grid":
        return atom(
          this.#scope.read(gridName(expr.axis)),
          must(GRID_LIMITS[expr.axis], "grid limit"),
        );
      default:
        return this.#operation(expr.op, expr.args);
    }
  }

  #operation(op: ContractOperator, args: readonly ContractExpr[]): Piece {
    const at = (index: number): Piece => this.piece(must(args[index], `operand ${index} of ${op}`));
    const int = (index: number): Piece => asInt(at(index));
    switch (op) {
      case "+":
      case "-":
      case "*": {
        const [left, right] = [int(0), int(1)];
        const bound = op === "*" ? left.bound * right.bound : left.bound + right.bound;
        return this.#guard(infix(op, op, left, right, "int", bound));
      }
      case "/":
        return this.#call("quotient", int(0).bound, [int(0), int(1)]);
      case "%": {
        const [left, right] = [int(0), int(1)];
        const divisor = args[1];
        // A zero divisor must not give NaN; a constant one is not zero.
        if (divisor?.op === "const" && divisor.value !== 0) {
          return infix("%", "%", left, right, "int", right.bound);
        }
        return this.#call("remainder", right.bound, [left, right]);
      }
      case "neg": {
        const operand = int(0);
        return {
          doc: `-${flat(enclosed(operand, ATOM))}`,
          precedence: PRECEDENCE.neg,
          type: "int",
          bound: operand.bound,
        };
      }
      case "min":
      case "max": {
        const operands = args.map((_, index) => int(index));
        const doc: Doc = {
          kind: "call",
          callee: `Math.${op}`,
          args: operands.map((piece) => piece.doc),
        };
        return atom(doc, Math.max(...operands.map((piece) => piece.bound)));
      }
      case "cdiv":
        return this.#call("cdiv", int(0).bound + 1, [int(0), int(1)]);
      case "next_pow2":
        return this.#call("nextPow2", Math.min(2 * int(0).bound, EXACT_LIMIT), [int(0)]);
      case "==":
        return infix("===", op, int(0), int(1), "bool", 1);
      case "!=":
        return infix("!==", op, int(0), int(1), "bool", 1);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return infix(op, op, int(0), int(1), "bool", 1);
      case "&&":
      case "||":
        return infix(op, op, asBool(at(0)), asBool(at(1)), "bool", 1);
      case "!":
        return {
          doc: `!${flat(enclosed(asBool(at(0)), ATOM))}`,
          precedence: PRECEDENCE["!"],
          type: "bool",
          bound: 1,
        };
      case "?:": {
        const [condition] = args;
        // TypeScript takes a comparison of two literals for a mistake.
        if (condition?.op === "const" && condition.macro === undefined) {
          return int(condition.value !== 0 ? 1 : 2);
        }
        const [then, otherwise] = [int(1), int(2)];
        const test = enclosed(asBool(at(0)), PRECEDENCE["||"]);
        return {
          doc: { kind: "conditional", test, then: then.doc, otherwise: otherwise.doc },
          precedence: PRECEDENCE["?:"],
          type: "int",
          bound: Math.max(then.bound, otherwise.bound),
        };
      }
      default:
        return assertNever(op);
    }
  }

  #call(name: ArithmeticName, bound: number, args: readonly Piece[]): Piece {
    this.calls.add(name);
    return atom({ kind: "call", callee: name, args: args.map((arg) => arg.doc) }, bound);
  }

  #guard(piece: Piece): Piece {
    return piece.bound > SAFE_LIMIT ? this.#call("exact", EXACT_LIMIT, [piece]) : piece;
  }
}

function atom(doc: Doc, bound: number): Piece {
  return { doc, precedence: ATOM, type: "int", bound };
}

function infix(
  operator: string,
  op: ContractOperator,
  left: Piece,
  right: Piece,
  type: Piece["type"],
  bound: number,
): Piece {
  const precedence = PRECEDENCE[op];
  const link: Link = { operator, operand: enclosed(right, precedence + 1) };
  const chain =
    typeof left.doc !== "string" && left.doc.kind === "chain" && left.precedence === precedence
      ? left.doc
      : { first: enclosed(left, precedence), rest: [] };
  return {
    doc: { kind: "chain", first: chain.first, rest: [...chain.rest, link] },
    precedence,
    type,
    bound,
  };
}

function enclosed(piece: Piece, least: number): Doc {
  return piece.precedence < least ? { kind: "parens", inner: piece.doc } : piece.doc;
}

function asInt(piece: Piece): Piece {
  return piece.type === "int"
    ? piece
    : atom({ kind: "call", callee: "Number", args: [piece.doc] }, 1);
}

function asBool(piece: Piece): Piece {
  return piece.type === "bool" ? piece : infix("!==", "!=", piece, atom("0", 0), "bool", 1);
}
