/** Carries out a change of layout: renames registers, or exchanges through swizzled shared memory. */
import type { SharedPlan } from "../layout/conversion.ts";
import { conversionOf } from "../layout/exchanges.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";
import { SHARED_SYMBOL } from "./shared.ts";
import { int } from "./emitter.ts";
import { readStaged, type Staged, writeStaged } from "./shared_tile.ts";
import { layoutOf, tileBytes } from "../layout/tiles.ts";

export function lowerConvertLayout(cx: LowerContext, op: OpOf<"convert_layout">): void {
  const { value: operand } = operandsOf(op);
  const result = resultOf(op);
  const plan = conversionOf(op);
  switch (plan.kind) {
    case "none":
      cx.values.set(result, lowered(cx, operand));
      return;
    case "registers":
      cx.values.set(result, (register) => lowered(cx, operand)(plan.sources[register] ?? register));
      return;
    case "shared":
      exchange(cx, operand, result, plan);
  }
}

function exchange(cx: LowerContext, operand: Value, result: Value, plan: SharedPlan): void {
  const e = cx.emitter;
  const barrier = (): void =>
    plan.withinWarp ? e.emit("bar.warp.sync", [int(0xffffffffn)]) : e.emit("bar.sync", [int(0)]);

  // The buffer may still be read by an earlier exchange.
  if (cx.shared.read !== "nothing") e.emit("bar.sync", [int(0)]);
  cx.shared.read = "anything";
  cx.shared.bytes = Math.max(cx.shared.bytes, tileBytes(operand.type));

  const staged: Staged = {
    plan,
    element: operand.type.element,
    start: () => e.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]),
  };
  writeStaged(cx, layoutOf(operand), lowered(cx, operand), staged);
  barrier();
  const read = readStaged(cx, layoutOf(result), staged);
  read.finish();
  cx.values.set(result, read.values);
}
