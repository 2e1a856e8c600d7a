/** Layout conversions: rename registers, or exchange elements through swizzled shared memory. */
import type { SharedPlan } from "../layout/conversion.ts";
import { conversionOf } from "../layout/exchanges.ts";
import type { OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";
import { beginExchange, blockBarrier } from "./shared.ts";
import { int } from "./emitter.ts";
import { readSharedTile, type SharedTile, writeSharedTile } from "./shared_tile.ts";
import { layoutOf } from "../layout/tiles.ts";

export function lowerConvertLayout(cx: LowerContext, op: OpOf<"convert_layout">): void {
  const { value: source } = operandsOf(op);
  const result = resultOf(op);
  const plan = conversionOf(op);
  switch (plan.kind) {
    case "none":
      cx.values.set(result, lowered(cx, source));
      return;
    case "registers":
      cx.values.set(result, (register) => lowered(cx, source)(plan.sources[register] ?? register));
      return;
    case "shared":
      exchange(cx, op, plan);
  }
}

function exchange(cx: LowerContext, op: OpOf<"convert_layout">, plan: SharedPlan): void {
  const { value: source } = operandsOf(op);
  const result = resultOf(op);
  const e = cx.emitter;
  const barrier = (): void =>
    plan.withinWarp ? e.emit("bar.warp.sync", [int(0xffffffffn)]) : blockBarrier(cx);

  const start = beginExchange(cx, op);
  const tile: SharedTile = { plan, element: source.type.element, start: () => start };
  writeSharedTile(cx, layoutOf(source), lowered(cx, source), tile);
  barrier();
  const read = readSharedTile(cx, layoutOf(result), tile);
  read.finish();
  cx.values.set(result, read.values);
}
