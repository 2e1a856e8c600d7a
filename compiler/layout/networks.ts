/**
 * Exchanges along an axis that belong together: networks that sort. They exchange elements most often with near ones, so
 * each thread gets neighbours, and these exchanges rename registers.
 */
import type { Func, OpOf } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { walkOps } from "../ir/walk.ts";
import { type LinearLayout, product } from "../linear/linear.ts";
import type { Threads } from "./anchors.ts";
import { blockedLayout, orderFrom } from "./blocked.ts";

/** So many exchanges along an axis sort; fewer are worth no conversion to another layout. */
const LEAST = 6;

const keyOf = (op: OpOf<"exchange">): string =>
  `${operandsOf(op).value.type.shape}|${op.attrs.axis}`;

/** Which exchanges of a function belong to networks. */
export function networksOf(func: Func): (op: OpOf<"exchange">) => boolean {
  const counts = new Map<string, number>();
  walkOps(func.body, (op) => {
    if (op.name === "exchange") counts.set(keyOf(op), (counts.get(keyOf(op)) ?? 0) + 1);
  });
  return (op) => (counts.get(keyOf(op)) ?? 0) >= LEAST;
}

/** Each thread has neighbours along the axis. */
export function runsLayout(
  { shape, axis, numWarps, numCtas }: Threads & {
    readonly shape: readonly number[];
    readonly axis: number;
  },
): LinearLayout {
  const own = product(shape) / (32 * numWarps * numCtas);
  return blockedLayout({
    shape,
    numWarps,
    numCtas,
    order: orderFrom(axis, shape.length),
    vector: Math.max(1, Math.min(own, shape[axis] ?? 1)),
  });
}
