/** Carries out a change of layout: renames registers, or exchanges through swizzled shared memory. */
import { type ConversionPlan, planConversion, type SharedPlan } from "../layout/conversion.ts";
import type { LinearLayout } from "../linear/linear.ts";
import { axisBits } from "../layout/reduce.ts";
import { intAttr } from "../ir/attrs.ts";
import type { Op, Value } from "../ir/func.ts";
import { bytesOf } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { type LowerContext, lowered, SHARED_SYMBOL } from "./context.ts";
import { int } from "./emitter.ts";
import { readStaged, type Staged, stagedBytes, writeStaged } from "./staging.ts";

export function layoutOf(value: Value): LinearLayout {
  return must(value.type.layout, "layout of a tile");
}

/** The plan of a `convert_layout` operation. */
export function conversionOf(op: Op): ConversionPlan {
  const operand = must(op.operands[0], "operand");
  const result = must(op.results[0], "result");
  return planConversion(
    layoutOf(operand),
    layoutOf(result),
    bytesOf(operand.type.element),
  );
}

/** Contains a barrier of the whole block; of a block of one warp, a warp barrier is one. */
export function hasBlockBarrier(op: Op): boolean {
  if (["barrier", "fence", "rotate", "gather", "histogram"].includes(op.name)) {
    return true;
  }
  if (op.name === "reduce") {
    const operand = must(op.operands[0], "operand");
    return axisBits(layoutOf(operand), intAttr(op, "axis")).some(({ input }) => input === "warp");
  }
  if (op.name !== "convert_layout") return false;
  const plan = conversionOf(op);
  const warps = layoutOf(must(op.results[0], "result")).warp;
  return plan.kind === "shared" && (!plan.withinWarp || warps.length === 0);
}

export function lowerConvertLayout(cx: LowerContext, op: Op): void {
  const operand = must(op.operands[0], "operand");
  const result = must(op.results[0], "result");
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
  cx.shared.bytes = Math.max(cx.shared.bytes, stagedBytes(operand.type));

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
