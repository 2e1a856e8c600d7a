/**
 * Chained dots: `f(a @ b) @ c`, as in attention. The accumulators of one dot are, element for element, what
 * the next one takes as fragments of its left operand (m16n8 of c and d, m16n8k16 of a: PTX ISA 9.0, 9.7.14.5), if
 * both give each warp the same rows. Then the layout conversion between them is a renaming of registers, and what
 * happens along the rows in between, maximum and sum, stays within a warp too.
 */
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait } from "../ir/table.ts";
import { walkOps } from "../ir/walk.ts";
import type { PhiWeb } from "./phi_webs.ts";

/** The dots whose result reaches the left operand of another one through element-wise operations, and those. */
export function chainedDots(
  func: Func,
  webs: ReadonlyMap<Value, PhiWeb>,
): ReadonlySet<OpOf<"dot">> {
  const chained = new Set<OpOf<"dot">>();
  walkOps(func.body, (op) => {
    if (op.name !== "dot") return;
    const sources = dotsReaching(operandsOf(op).a, webs);
    if (sources.length > 0) [op, ...sources].forEach((one) => chained.add(one));
  });
  return chained;
}

/** Whether a dot of a loop begins with zero in each iteration: what follows from it is computed there. */
export function isStanding(dot: OpOf<"dot">): boolean {
  const { sum } = operandsOf(dot);
  const source = sum.def?.name === "splat" ? operandsOf(sum.def).value : sum;
  return source.def?.name === "constant" && Number(source.def.attrs.value) === 0;
}

/** Those of a function. */
export function standingDots({ body }: Func): readonly OpOf<"dot">[] {
  const found: OpOf<"dot">[] = [];
  walkOps(body, (op) => {
    if (op.name !== "while") return;
    for (const one of loopOf(op).body.ops) {
      if (one.name === "dot" && isStanding(one)) found.push(one);
    }
  });
  return found;
}

/**
 * Products for each element that threads compute between dots. Where there are 128, as in attention of 64 columns, a block of
 * eight warps whose boxes others copy was 0.88 to 1.04 times as fast as `mma`; where there are 256, 1.2 to 2.7 times (H200).
 * Without powers and the like in between, 1.4 times where there are 128 (`relu(x @ a) @ b` of 64 columns, H100).
 */
const LEAST_PRODUCTS = 256;
const LEAST_PLAIN_PRODUCTS = 128;

/** Whether dots take the time, rather than what threads compute for those that others lead to. */
export function multipliesMuch(
  dots: readonly OpOf<"dot">[],
  webs: ReadonlyMap<Value, PhiWeb>,
): boolean {
  let [products, elements, isPlain] = [0, 0, true];
  for (const dot of dots) {
    const { a, b } = operandsOf(dot);
    const [m = 1, k = 1] = a.type.shape;
    products += m * k * (b.type.shape[1] ?? 1);
    const between = operationsReaching(a, webs);
    if (!between.some(({ name }) => name === "dot")) continue;
    elements += m * k;
    isPlain &&= between.every(({ name }) => name !== "math" && name !== "div");
  }
  return products >= (isPlain ? LEAST_PLAIN_PRODUCTS : LEAST_PRODUCTS) * elements;
}

const dotsReaching = (value: Value, webs: ReadonlyMap<Value, PhiWeb>): OpOf<"dot">[] =>
  operationsReaching(value, webs).filter((op) => op.name === "dot");

/** Dots and other operations that a value is computed from, element by element. */
function operationsReaching(value: Value, webs: ReadonlyMap<Value, PhiWeb>): Op[] {
  const sourcesOf = (at: Value): readonly Value[] => {
    const { def } = at;
    return webs.get(at)?.sources ??
      (def !== undefined && hasTrait(def, "elementwise") ? def.operands : []);
  };
  return sourcesFirst(value, () => false, sourcesOf).flatMap((at) =>
    !webs.has(at) && at.def !== undefined ? [at.def] : []
  );
}
