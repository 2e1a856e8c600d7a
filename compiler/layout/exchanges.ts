/** Which operations move elements between threads of different warps, and how. */
import { intAttr } from "../ir/attrs.ts";
import type { Op } from "../ir/func.ts";
import { bytesOf } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { type ConversionPlan, planConversion } from "./conversion.ts";
import { axisBits } from "./reduce.ts";
import { layoutOf } from "./tiles.ts";

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
