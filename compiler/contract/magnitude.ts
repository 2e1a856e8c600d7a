/** How large a contract expression can get, from the types of the parameters alone. */
import { must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { ContractExpr } from "./types.ts";

/** Inclusive limits. */
export interface Limits {
  readonly min: bigint;
  readonly max: bigint;
}

/** CUDA's limit on the grid's first axis; the others are smaller. */
const MAX_GRID = (1n << 31n) - 1n;

/** All values of an integer type. */
export function limitsOfType(type: ScalarName): Limits {
  const { bits, signed } = SCALARS[type];
  const size = 1n << BigInt(signed ? bits - 1 : bits);
  return { min: signed ? -size : 0n, max: size - 1n };
}

/** The smallest. */
export const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => a < b ? a : b);
/** The largest. */
export const most = (values: readonly bigint[]): bigint => values.reduce((a, b) => a > b ? a : b);
/** The limits of values. */
export const hull = (values: readonly bigint[]): Limits => ({
  min: least(values),
  max: most(values),
});

/** The limits of an expression; undefined where no rule applies. */
export function limitsOf(
  expr: ContractExpr,
  typeOf: (param: string) => ScalarName | undefined,
): Limits | undefined {
  return limitsWith(expr, (leaf) => {
    if (leaf.op === "grid") return { min: 0n, max: MAX_GRID };
    const type = typeOf(leaf.name);
    return type && limitsOfType(type);
  });
}

/** The limits of an expression whose names have known ones; undefined where no rule applies. */
export function limitsWith(
  expr: ContractExpr,
  limitsOfLeaf: (leaf: Extract<ContractExpr, { op: "param" | "grid" }>) => Limits | undefined,
): Limits | undefined {
  switch (expr.op) {
    case "const":
      return { min: BigInt(expr.value), max: BigInt(expr.value) };
    case "param":
    case "grid":
      return limitsOfLeaf(expr);
  }
  const args: Limits[] = [];
  for (const arg of expr.args) {
    const limits = limitsWith(arg, limitsOfLeaf);
    if (limits === undefined) return undefined;
    args.push(limits);
  }
  const a = must(args[0], "argument");
  const b = args[1] ?? a;
  switch (expr.op) {
    case "+":
      return { min: a.min + b.min, max: a.max + b.max };
    case "-":
      return { min: a.min - b.max, max: a.max - b.min };
    case "neg":
      return { min: -a.max, max: -a.min };
    case "*":
      return hull([a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max]);
    case "min":
      return { min: least(args.map((arg) => arg.min)), max: least(args.map((arg) => arg.max)) };
    case "max":
      return { min: most(args.map((arg) => arg.min)), max: most(args.map((arg) => arg.max)) };
    case "/":
      return b.min > 0n
        ? hull([a.min / b.min, a.min / b.max, a.max / b.min, a.max / b.max])
        : undefined;
    case "cdiv": {
      if (b.min !== b.max || b.min <= 0n) return undefined;
      const up = (value: bigint): bigint =>
        value > 0n ? (value + b.min - 1n) / b.min : value / b.min;
      return { min: up(a.min), max: up(a.max) };
    }
    default:
      return undefined;
  }
}
