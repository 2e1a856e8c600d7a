/**
 * Contract expressions: making, evaluating, printing and tidying them. `types.ts` says what they are,
 * `normal.ts` when two of them are equal, `parse_expr.ts` reads them from a pragma.
 */
import { bug, must } from "../support/bug.ts";
import type { ContractExpr, ContractOperator } from "./types.ts";

/** A node with arguments. */
export type Operation = Extract<ContractExpr, { readonly args: readonly ContractExpr[] }>;

/** A constant; `macro` is the compile-time parameter it came from. */
export function constant(value: number | bigint, macro?: string): ContractExpr {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) bug(`Contract constant ${value} is not exact`);
  return macro === undefined
    ? { op: "const", value: number }
    : { op: "const", value: number, macro };
}

/** A scalar parameter of the kernel. */
export function param(name: string): ContractExpr {
  return { op: "param", name };
}

/** The launch grid's extent along an axis. */
export function grid(axis: number): ContractExpr {
  return { op: "grid", axis };
}

/** An operator or function applied to arguments, tidied. */
export function apply(op: ContractOperator, ...args: readonly ContractExpr[]): ContractExpr {
  return tidy({ op, args });
}

/** Whether a node is an operator or function with arguments. */
export function isOperation(expr: ContractExpr): expr is Operation {
  return "args" in expr;
}

/** What can go wrong in exact integer arithmetic: a zero divisor, or a result outside 64 bits. */
export class ArithmeticError extends Error {
  override readonly name = "ArithmeticError";
}

/** Values of the names in an expression. */
export interface Environment {
  readonly param?: (name: string) => bigint | number | undefined;
  readonly grid?: (axis: number) => bigint | number | undefined;
}

type Step = (args: readonly bigint[]) => bigint;
const truth = (value: boolean): bigint => value ? 1n : 0n;
const at = (args: readonly bigint[], index: number): bigint =>
  args[index] ?? bug(`no argument ${index}`);

function divisor(args: readonly bigint[]): bigint {
  const value = at(args, 1);
  if (value === 0n) throw new ArithmeticError("division by zero");
  return value;
}

/** Towards zero, as in C. `cdiv` is exact for operands of any sign. */
function ceilingOf(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && (a < 0n) === (b < 0n) ? quotient + 1n : quotient;
}

function nextPow2(n: bigint): bigint {
  return n <= 1n ? 1n : 1n << BigInt((n - 1n).toString(2).length);
}

/** Meaning of every operator that evaluates all its arguments. `? :`, `&&`, `||` are in {@linkcode evaluate}. */
const STEPS: Readonly<Record<Exclude<ContractOperator, "&&" | "||" | "?:">, Step>> = {
  "+": (a) => at(a, 0) + at(a, 1),
  "-": (a) => at(a, 0) - at(a, 1),
  "*": (a) => at(a, 0) * at(a, 1),
  "/": (a) => at(a, 0) / divisor(a),
  "%": (a) => at(a, 0) % divisor(a),
  "min": (a) => a.reduce((x, y) => x < y ? x : y),
  "max": (a) => a.reduce((x, y) => x > y ? x : y),
  "cdiv": (a) => ceilingOf(at(a, 0), divisor(a)),
  "next_pow2": (a) => nextPow2(at(a, 0)),
  "neg": (a) => -at(a, 0),
  "==": (a) => truth(at(a, 0) === at(a, 1)),
  "!=": (a) => truth(at(a, 0) !== at(a, 1)),
  "<": (a) => truth(at(a, 0) < at(a, 1)),
  "<=": (a) => truth(at(a, 0) <= at(a, 1)),
  ">": (a) => truth(at(a, 0) > at(a, 1)),
  ">=": (a) => truth(at(a, 0) >= at(a, 1)),
  "!": (a) => truth(at(a, 0) === 0n),
};

const INT64_MIN = -(1n << 63n);
const INT64_MAX = (1n << 63n) - 1n;

/** The exact value. Throws {@linkcode ArithmeticError}; an unknown name is a defect of the caller. */
export function evaluate(expr: ContractExpr, environment: Environment = {}): bigint {
  switch (expr.op) {
    case "const":
      return BigInt(expr.value);
    case "param":
      return BigInt(must(environment.param?.(expr.name), `value of ${expr.name}`));
    case "grid":
      return BigInt(must(environment.grid?.(expr.axis), `grid extent ${expr.axis}`));
  }
  const value = (index: number): bigint =>
    evaluate(expr.args[index] ?? bug(`no argument ${index}`), environment);
  switch (expr.op) {
    case "?:":
      return value(0) !== 0n ? value(1) : value(2);
    case "&&":
      return truth(value(0) !== 0n && value(1) !== 0n);
    case "||":
      return truth(value(0) !== 0n || value(1) !== 0n);
  }
  const result = STEPS[expr.op](expr.args.map((arg) => evaluate(arg, environment)));
  if (result < INT64_MIN || result > INT64_MAX) throw new ArithmeticError("overflow of 64 bits");
  return result;
}

/** The value of an expression without names, if it has one. */
export function constantValue(expr: ContractExpr): number | undefined {
  if (expr.op === "const") return expr.value;
  if (hasNames(expr)) return undefined;
  try {
    const value = Number(evaluate(expr));
    return Number.isSafeInteger(value) ? value : undefined;
  } catch (error) {
    if (error instanceof ArithmeticError) return undefined;
    throw error;
  }
}

const DIVISIONS: ReadonlySet<string> = new Set(["/", "%", "cdiv"]);
/** Operators that do not always evaluate the arguments after their first one. */
const LAZY: ReadonlySet<string> = new Set(["&&", "||", "?:"]);

/** Whether every evaluation divides by a constant zero. */
export function dividesByZero(expr: ContractExpr): boolean {
  if (!isOperation(expr)) return false;
  const [, divisor] = expr.args;
  if (DIVISIONS.has(expr.op) && divisor !== undefined && constantValue(divisor) === 0) return true;
  return (LAZY.has(expr.op) ? expr.args.slice(0, 1) : expr.args).some(dividesByZero);
}

function hasNames(expr: ContractExpr): boolean {
  return isOperation(expr) ? expr.args.some(hasNames) : expr.op !== "const";
}

/** The scalar parameters an expression mentions, in order of appearance. */
export function paramsOf(expr: ContractExpr): readonly string[] {
  const found = new Set<string>();
  const visit = (node: ContractExpr): void => {
    if (node.op === "param") found.add(node.name);
    else if (isOperation(node)) node.args.forEach(visit);
  };
  visit(expr);
  return [...found];
}

// ---- tidying ------------------------------------------------------------------------------------------

const isConst = (expr: ContractExpr | undefined, value: number): boolean =>
  expr?.op === "const" && expr.value === value;

/**
 * One step of simplification at the root. Constants fold only when no name of a compile-time parameter
 * would be lost: `cdiv(M, TM * 2)` stays readable.
 */
function tidy(expr: Operation): ContractExpr {
  const [a, b] = expr.args;
  if (a === undefined) return expr;
  if (expr.args.every((arg) => arg.op === "const" && arg.macro === undefined)) {
    const value = constantValue(expr);
    if (value !== undefined) return constant(value);
  }
  switch (expr.op) {
    case "+":
      if (isConst(a, 0) && b !== undefined) return b;
      return isConst(b, 0) ? a : mergeConstants(expr, a, b);
    case "-":
      return isConst(b, 0) ? a : mergeConstants(expr, a, b);
    case "*":
      if (isConst(a, 0) || isConst(b, 0)) return constant(0);
      if (isConst(a, 1) && b !== undefined) return b;
      return isConst(b, 1) ? a : expr;
    case "/":
    case "cdiv":
      return isConst(b, 1) ? a : expr;
    case "min":
    case "max": {
      const kept = expr.args.filter((arg, index) =>
        expr.args.findIndex((other) => equalText(other, arg)) === index
      );
      return kept.length === 1 ? a : { op: expr.op, args: kept };
    }
    case "?:":
      return a.op === "const" && a.macro === undefined
        ? must(expr.args[a.value === 0 ? 2 : 1], "choice")
        : expr;
    default:
      return expr;
  }
}

const equalText = (a: ContractExpr, b: ContractExpr): boolean => printExpr(a) === printExpr(b);

/** `(x + 3) - 4` becomes `x - 1`; `x + -2` becomes `x - 2`. */
function mergeConstants(
  expr: Operation,
  a: ContractExpr,
  b: ContractExpr | undefined,
): ContractExpr {
  const amount = plainConstant(b);
  if (amount === undefined) return expr;
  let sum = expr.op === "-" ? -amount : amount;
  let rest = a;
  const inner = isOperation(a) && (a.op === "+" || a.op === "-") ? a : undefined;
  const innerAmount = plainConstant(inner?.args[1]);
  if (inner !== undefined && innerAmount !== undefined) {
    sum += inner.op === "-" ? -innerAmount : innerAmount;
    rest = must(inner.args[0], "left operand");
  }
  if (sum === 0) return rest;
  return { op: sum < 0 ? "-" : "+", args: [rest, constant(Math.abs(sum))] };
}

function plainConstant(expr: ContractExpr | undefined): number | undefined {
  return expr?.op === "const" && expr.macro === undefined ? expr.value : undefined;
}

/** The expression with every node tidied. */
export function simplify(expr: ContractExpr): ContractExpr {
  return isOperation(expr) ? tidy({ op: expr.op, args: expr.args.map(simplify) }) : expr;
}

/** The expression with some leaves replaced; `undefined` keeps a leaf. */
export function substitute(
  expr: ContractExpr,
  replace: (leaf: ContractExpr) => ContractExpr | undefined,
): ContractExpr {
  if (!isOperation(expr)) return replace(expr) ?? expr;
  return tidy({ op: expr.op, args: expr.args.map((arg) => substitute(arg, replace)) });
}

// ---- printing -----------------------------------------------------------------------------------------

/** Precedence of the infix operators, tightest highest, as in C. */
const LEVEL: Readonly<Partial<Record<ContractOperator, number>>> = {
  "*": 7,
  "/": 7,
  "%": 7,
  "+": 6,
  "-": 6,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "==": 4,
  "!=": 4,
  "&&": 3,
  "||": 2,
  "?:": 1,
};
const PREFIX_LEVEL = 8;

/** Source text, with compile-time parameters by name: `cdiv(M, TM)`. */
export function printExpr(expr: ContractExpr): string {
  return print(expr, 0);
}

function print(expr: ContractExpr, outer: number): string {
  switch (expr.op) {
    case "const":
      return expr.macro ??
        (expr.value < 0 && outer > must(LEVEL["+"], "level") ? `(${expr.value})` : `${expr.value}`);
    case "param":
      return expr.name;
    case "grid":
      return `grid[${expr.axis}]`;
  }
  const [first, second, third] = expr.args;
  const level = LEVEL[expr.op];
  if (expr.op === "neg" || expr.op === "!") {
    return `${expr.op === "!" ? "!" : "-"}${print(must(first, "operand"), PREFIX_LEVEL)}`;
  }
  if (level === undefined) return `${expr.op}(${expr.args.map((arg) => print(arg, 0)).join(", ")})`;
  const text = expr.op === "?:"
    ? `${print(must(first, "condition"), level + 1)} ? ${print(must(second, "choice"), 0)} : ${
      print(must(third, "choice"), level)
    }`
    : `${print(must(first, "operand"), level)} ${expr.op} ${
      print(must(second, "operand"), level + 1)
    }`;
  return level < outer ? `(${text})` : text;
}
