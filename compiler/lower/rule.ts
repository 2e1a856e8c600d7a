/** What a lowering rule is, and queries that several of them share. */
import type { OpOf } from "../ir/func.ts";
import type { TileOp } from "../ir/ops.ts";
import type { AxisFacts, AxisInfo } from "../tile/axis.ts";
import { axisShifts, type LinearLayout, ofAxis } from "../linear/linear.ts";
import type { LowerContext } from "./context.ts";

/** Emits one operation and remembers its result in `cx.values`. */
export type Rule<N extends TileOp> = (cx: LowerContext, op: OpOf<N>, axisInfo: AxisFacts) => void;

/** The register bits that do not matter, because they step inside aligned runs of equal elements. */
export function equalRegisters(layout: LinearLayout | undefined, { constancy }: AxisInfo): number {
  if (layout === undefined) return 0;
  const shifts = axisShifts(layout.shape);
  const inRuns = layout.shape.reduce((mask, extent, axis) => {
    const run = Math.min(extent, constancy[axis] ?? 1);
    // The largest power of two in the run.
    return mask | (((run & -run) - 1) << ofAxis(shifts, axis));
  }, 0);
  return layout.register.reduce(
    (mask, basis, bit) => basis !== 0 && (basis & ~inRuns) === 0 ? mask | (1 << bit) : mask,
    0,
  );
}
