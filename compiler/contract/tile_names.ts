/**
 * Gives inferred grids the names of compile-time parameters back: `cdiv(M, 64)` becomes `cdiv(M, TM)`,
 * so that all configurations of a kernel show one formula.
 */
import { useSite } from "../support/source.ts";
import type { Func, Op } from "../ir/func.ts";
import { walkOps } from "../ir/walk.ts";
import { constant, isOperation } from "./expr.ts";
import type { Shown } from "./infer.ts";
import type { ContractExpr } from "./types.ts";

/** The grid with named tile sizes. `sizes`: the integer values of compile-time parameters. */
export function nameTiles(
  grid: readonly (Shown | undefined)[],
  func: Func,
  sizes: ReadonlyMap<string, number>,
): readonly (Shown | undefined)[] {
  return grid.map((shown, axis) =>
    shown && { ...shown, expr: named(shown.expr, func, axis, sizes) }
  );
}

function named(
  expr: ContractExpr,
  func: Func,
  axis: number,
  sizes: ReadonlyMap<string, number>,
): ContractExpr {
  if (!isOperation(expr) || expr.op !== "cdiv") return expr;
  const [extent, tile] = expr.args;
  if (extent === undefined || tile?.op !== "const") return expr;
  const candidates = [...sizes].filter(([, value]) => value === tile.value).map(([name]) => name);
  const [only, another] = candidates;
  const name = another === undefined ? only : spelledWith(func, axis, candidates);
  return name === undefined ? expr : { op: "cdiv", args: [extent, constant(tile.value, name)] };
}

/** Of several parameters with one value, the one that the text scales the program id with. */
function spelledWith(func: Func, axis: number, candidates: readonly string[]): string | undefined {
  let found: string | undefined;
  walkOps(func.body, (op) => {
    if (found !== undefined || !scalesProgramId(op, axis)) return;
    const { file, start, end } = useSite(op.span);
    const words: readonly string[] = file.text.slice(start, end).match(/[A-Za-z_]\w*/g) ?? [];
    const mentioned = candidates.filter((name) => words.includes(name));
    if (mentioned.length === 1) found = mentioned[0];
  });
  return found;
}

function scalesProgramId(op: Op, axis: number): boolean {
  return (op.name === "mul" || op.name === "shl") &&
    op.operands.some(({ def }) => def?.name === "program_id" && def.attrs.axis === axis);
}
