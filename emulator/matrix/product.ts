/**
 * Products across a warp: multiplicands and c are laid out as matrices of doubles, multiplied, and d is rounded once.
 *
 * Sums of f16, bf16, tf32 and fp8 products are doubles; integers are exact; f64 is a chain of fused multiply-adds
 * along k, starting with c.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import { fma64 } from "../floats/fma.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { wholeWarp } from "./aligned.ts";
import { type Format, FORMATS, fragmentReader } from "./formats.ts";
import type { Fragment } from "./fragments.ts";
import { SUM_FORMATS, type SumFormat } from "./sums.ts";
import { type Workspace, workspaceOf } from "./workspace.ts";

export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Products of this shape that the instruction computes side by side. */
  readonly count: number;
  readonly a: Format;
  readonly b: Format;
  readonly c: SumFormat;
  readonly d: SumFormat;
  readonly fragments: Readonly<Record<"a" | "b" | "c" | "d", Fragment>>;
}

/** Rows in the register file. */
export type ProductRows = Readonly<Record<"a" | "b" | "c" | "d", readonly number[]>>;

export function productRows(match: Match, context: HandlerContext): ProductRows {
  const rows = (wanted: string): readonly number[] => {
    const found = match.operands.find(({ name }) => name === wanted);
    const { operand, type } = must(found, `operand ${wanted} of ${match.opcode}`);
    return context.rows(operand, type);
  };
  return { a: rows("a"), b: rows("b"), c: rows("c"), d: rows("d") };
}

/** What computes sums += a * b in the workspace. */
function multiplier({ m, n, k, count, a, d }: Product, workspace: Workspace): () => void {
  if (d === SUM_FORMATS.f64) return () => multiplyDoubles(workspace, m, n, k);
  const { multiply, sums } = workspace;
  if (a === FORMATS["b1 xor a"]) {
    return () => {
      for (let i = 0; i < m * n; i++) sums[i] = (sums[i] ?? 0) + k / 2;
      multiply(0, 0, 0, m, n, k);
    };
  }
  return () => {
    for (let i = 0; i < count; i++) multiply(i * m * k, i * k * n, i * m * n, m, n, k);
  };
}

function multiplyDoubles({ a, b, sums }: Workspace, m: number, n: number, k: number): void {
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = sums[row * n + column] ?? 0;
      for (let i = 0; i < k; i++) sum = fma64(a[row * k + i] ?? 0, b[i * n + column] ?? 0, sum);
      sums[row * n + column] = sum;
    }
  }
}

/** The function that computes a product; `name` is the instruction's. */
export function multiplyAcross(
  name: string,
  product: Product,
  rows: ProductRows,
  context: HandlerContext,
): WarpFunction {
  const { machine } = context;
  const { fragments, c, d } = product;
  const workspace = workspaceOf(machine);
  const readA = fragmentReader(product.a, fragments.a, rows.a);
  const readB = fragmentReader(product.b, fragments.b, rows.b);
  const multiply = multiplier(product, workspace);
  return wholeWarp(name, context, (w) => {
    const { views } = machine;
    readA(views, w, workspace.a);
    readB(views, w, workspace.b);
    c.load(views, w, rows.c, fragments.c, workspace.sums);
    multiply();
    d.store(views, w, rows.d, fragments.d, workspace.sums);
  });
}
