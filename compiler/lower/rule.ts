/** What a lowering rule is, and the accessors all rules use. */
import type { Op, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import type { AxisFacts, AxisInfo } from "../tile/axis.ts";
import { axisShifts, type LinearLayout } from "../linear/linear.ts";
import type { LowerContext } from "./context.ts";

/** Emits one operation and remembers its result in `cx.values`. */
export type Rule = (cx: LowerContext, op: Op, axisInfo: AxisFacts) => void;

/** An operand that the operation's row demands. */
export const operand = (op: Op, index: number): Value =>
  must(op.operands[index], `operand ${index} of ${op.name}`);

/** The only result of an operation. */
export const resultOf = (op: Op): Value => must(op.results[0], `result of ${op.name}`);

/** The register bits that do not matter, because they step inside aligned runs of equal elements. */
export function equalRegisters(layout: LinearLayout | undefined, { constancy }: AxisInfo): number {
  if (layout === undefined) return 0;
  const shifts = axisShifts(layout.shape);
  const inRuns = layout.shape.reduce((mask, extent, axis) => {
    const run = Math.min(extent, constancy[axis] ?? 1);
    // The largest power of two in the run.
    return mask | (((run & -run) - 1) << must(shifts[axis], "shift of an axis"));
  }, 0);
  return layout.register.reduce(
    (mask, basis, bit) => basis !== 0 && (basis & ~inRuns) === 0 ? mask | (1 << bit) : mask,
    0,
  );
}
