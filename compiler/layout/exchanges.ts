/** Which operations move elements between threads of different warps, and how. */
import type { Op, OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { bytesOf } from "../ir/types.ts";
import { type ConversionPlan, planConversion } from "./conversion.ts";
import { axisBits } from "./reduce.ts";
import { layoutOf } from "./tiles.ts";

/** The plan of a `convert_layout` operation. */
export function conversionOf(op: OpOf<"convert_layout">): ConversionPlan {
  const { value } = operandsOf(op);
  return planConversion(layoutOf(value), layoutOf(resultOf(op)), bytesOf(value.type.element));
}

/** Contains a barrier of the whole block; of a block of one warp, a warp barrier is one. */
export function hasBlockBarrier(op: Op): boolean {
  if (hasTrait(op, "blocks")) return true;
  if (op.name === "reduce") {
    const bits = axisBits(layoutOf(operandsOf(op).value), op.attrs.axis);
    return bits.some(({ input }) => input === "warp");
  }
  if (op.name !== "convert_layout") return false;
  const plan = conversionOf(op);
  const warps = layoutOf(resultOf(op)).warp;
  return plan.kind === "shared" && (!plan.withinWarp || warps.length === 0);
}
