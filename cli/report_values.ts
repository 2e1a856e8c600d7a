/** Values of contract expressions: the same integers that wrappers compute. */
import type { ContractExpr, ContractOperator } from "../compiler/contract/types.ts";
import { bug } from "../compiler/support/bug.ts";
import { cdiv, exact, nextPow2, quotient, remainder, type Values } from "../ffi/mod.ts";

const AXES = ["gridX", "gridY", "gridZ"] as const;

/** Operators that need all of their operands; comparisons give 0 or 1. */
const OPERATORS: Readonly<
  Record<
    Exclude<ContractOperator, "&&" | "||" | "?:">,
    (a: number, b: number) => number
  >
> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": quotient,
  "%": remainder,
  "min": Math.min,
  "max": Math.max,
  "cdiv": cdiv,
  "next_pow2": (a) => nextPow2(a),
  "neg": (a) => -a,
  "==": (a, b) => Number(a === b),
  "!=": (a, b) => Number(a !== b),
  "<": (a, b) => Number(a < b),
  "<=": (a, b) => Number(a <= b),
  ">": (a, b) => Number(a > b),
  ">=": (a, b) => Number(a >= b),
  "!": (a) => Number(a === 0),
};

/** The value of an expression; constants that came from macros are themselves. Throws where it is not exact. */
export function evaluate(expr: ContractExpr, values: Values): number {
  switch (expr.op) {
    case "const":
      return expr.value;
    case "param":
      return values[expr.name] ?? bug(`no value of ${expr.name}`);
    case "grid":
      return values[AXES[expr.axis] ?? "gridX"] ?? bug("no grid");
    default:
  }
  const [a = 0, b = 0, c = 0] = expr.args.map((arg) => () => evaluate(arg, values)).map((value, i) =>
    // The second and third operand of these may have no value when they are not asked for.
    i === 0 || !LAZY.has(expr.op) ? value() : value
  );
  return exact(0);
}
