/**
 * A model of what one block of a matrix product costs: the clocks of a multiprocessor, as an expression over the kernel's
 * scalar parameters. Wrappers choose by it among configurations where no timing is near (`ffi/kernel/tuning/choice.ts`).
 *
 *     for (int k = K; k > 0; k -= 32) { … 128 x 32 and 32 x 256 halves, one dot … }     1500 + cdiv(K, 32) * 1192
 *
 * It counts what differs between tile sizes: multiply-adds, and the bytes that tiles load from L2. What is done once for
 * each element of a tensor, whatever the tiles, is left out. Where the code does not show how often a loop runs, there is
 * no model.
 */
import type { Func, Op, OpOf, Region, Value } from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";
import { constantOf, operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { AffineAnalysis } from "./affine.ts";
import { apply, constant } from "./expr.ts";
import { polyExpr, subPoly } from "./poly.ts";
import type { ContractExpr } from "./types.ts";

/** Start of a block, the first loads and the last stores, while nothing is multiplied. */
const BLOCK_CLOCKS = 1500;
/** Barrier and waits of an iteration. */
const ITERATION_CLOCKS = 40;
/** What L2 delivers to a multiprocessor in a clock. */
const L2_BYTES = 64;
/** Of multiplying and loading, the shorter one is hidden but for one part of so many. */
const HIDDEN = 4;
/**
 * Multiply-adds in a clock of a multiprocessor: NVIDIA H100 Tensor Core GPU Architecture, "Peak rates". Only the ratios
 * to L2_BYTES matter, and these differ little between generations.
 */
const PRODUCTS: Partial<Record<number, number>> = { 1: 2048, 2: 1024, 4: 128, 8: 128 };
const TF32_PRODUCTS = 512;

/** The model of a function with dots; undefined where it has none, or the code does not show its iterations. */
export function blockClocks(func: Func): ContractExpr | undefined {
  let hasDot = false;
  walkOps(func.body, ({ name }) => hasDot ||= name === "dot");
  return hasDot ? regionClocks(func.body, new AffineAnalysis(func), BLOCK_CLOCKS) : undefined;
}

/** `own` are those of the region itself. */
function regionClocks(
  { ops }: Region,
  analysis: AffineAnalysis,
  own: number,
): ContractExpr | undefined {
  let products = 0;
  let bytes = 0;
  const inner: ContractExpr[] = [];
  for (const op of ops) {
    if (op.name === "dot") products += productClocks(op);
    bytes += movedBytes(op);
    for (const region of op.regions) {
      const each = op.name === "while" ? ITERATION_CLOCKS : 0;
      const clocks = regionClocks(region, analysis, each);
      if (clocks === undefined) return undefined;
      // Tests of loops, and loops that only count, are not what differs.
      if (clocks.op === "const" && clocks.value === each) continue;
      const count = op.name === "while" ? iterationsOf(op, analysis) : constant(1);
      if (count === undefined) return undefined;
      inner.push(apply("*", count, clocks));
    }
  }
  const moving = bytes / L2_BYTES;
  const all = own + Math.max(products, moving) + Math.min(products, moving) / HIDDEN;
  return inner.reduce((sum, clocks) => apply("+", sum, clocks), constant(Math.round(all)));
}

function productClocks(op: OpOf<"dot">): number {
  const { a, b } = operandsOf(op);
  const [, , ...batch] = a.type.shape;
  const [m = 1, k = 1] = a.type.shape;
  const n = b.type.shape[1] ?? 1;
  const all = batch.reduce((size, extent) => size * extent, m * n * k);
  const bytes = bytesOf(a.type.element);
  const rate = op.attrs.mode === "tf32" && bytes === 4 ? TF32_PRODUCTS : PRODUCTS[bytes] ?? 1;
  return all / rate;
}

/** Of tiles; single elements are few. */
function movedBytes(op: Op): number {
  const value = op.name === "load"
    ? resultOf(op)
    : op.name === "store"
    ? operandsOf(op).value
    : undefined;
  if (value === undefined) return 0;
  return value.type.shape.reduce((size, extent) => size * extent, bytesOf(value.type.element));
}

/** How often a loop with a counter that changes by a constant runs, by the launch's numbers alone. */
function iterationsOf(loop: OpOf<"while">, analysis: AffineAnalysis): ContractExpr | undefined {
  const { test, body, continues, initial, repeated, leaving } = loopOf(loop);
  const { def } = continues;
  if (def === undefined || !isOrder(def)) return undefined;
  const sides = operandsOf(def);
  const position = test.params.findIndex((param) => param === sides.left || param === sides.right);
  const counter = test.params[position];
  const limit = sides.left === counter ? sides.right : sides.left;
  const start = initial[position];
  const step = stepOf(repeated[position], body.params[leaving.findIndex((one) => one === counter)]);
  if (start === undefined || step === undefined) return undefined;
  const [from, to] = [analysis.int(start), analysis.int(limit)];
  if (from === undefined || to === undefined) return undefined;
  const way = step > 0n ? subPoly(to.poly, from.poly) : subPoly(from.poly, to.poly);
  const isKnown = [...way.values()].every(({ atoms }) =>
    atoms.every(({ kind }) => kind === "param" || kind === "opaque")
  );
  if (!isKnown) return undefined;
  const size = step > 0n ? step : -step;
  return apply("max", apply("cdiv", polyExpr(way), constant(size)), constant(0));
}

function isOrder(op: Op): op is OpOf<"lt" | "le" | "gt" | "ge" | "ne"> {
  return ["lt", "le", "gt", "ge", "ne"].includes(op.name);
}

/** What is added to a counter in each iteration. */
function stepOf(next: Value | undefined, counter: Value | undefined): bigint | undefined {
  const def = next?.def;
  if (counter === undefined || (def?.name !== "add" && def?.name !== "sub")) return undefined;
  const { left, right } = operandsOf(def);
  const by = constantOf(left === counter ? right : left);
  if (typeof by !== "bigint" || by === 0n || (left !== counter && right !== counter)) {
    return undefined;
  }
  if (def.name === "add") return by;
  return left === counter ? -by : undefined;
}
