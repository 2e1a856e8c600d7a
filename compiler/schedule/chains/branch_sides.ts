/**
 * Loops over chained dots of which each side of a branch has a loop of its own: where elements are masked, one side is
 * cheaper.
 */
import { copyOps } from "../../ir/copy_ops.ts";
import { branchOf, loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { zip } from "../../support/zip.ts";
import { copySlice, replacing } from "../backward_slice.ts";
import type { ScheduleBuilder } from "../builder.ts";
import type { ChainPlan } from "./chain_plan.ts";

/** A branch of a loop, and which of its sides is the cheaper, plain one. */
export interface Branch {
  readonly op: OpOf<"if">;
  readonly isThen: boolean;
}

/** How an iteration takes the branch: as it is written, or one of its sides. */
export type Side = "both" | "plain" | "other";

/** Whether there is an iteration with this state, and it takes this side of the branch, if there is one. */
export function continuesOn(
  build: ScheduleBuilder,
  plan: ChainPlan,
  branch: Branch | undefined,
  state: readonly Value[],
  side: Side,
): Value {
  const { test, continues } = loopOf(plan.loop);
  const runs = copySlice(plan.func, test, replacing(test, state), build.out)(continues);
  if (branch === undefined || side === "both") return runs;
  return build.both(runs, takesSide(build, plan, branch, state, side));
}

/** Whether an iteration of the plan's loop with this state takes a side. */
export function takesSide(
  build: ScheduleBuilder,
  { func, loop }: ChainPlan,
  { op, isThen }: Branch,
  state: readonly Value[],
  side: "plain" | "other",
): Value {
  const { body } = loopOf(loop);
  const copy = copySlice(func, body, replacing(body, state), build.out);
  const condition = copy(branchOf(op).condition);
  return isThen === (side === "plain")
    ? condition
    : build.value("not", [condition], condition.type);
}

/** Copies of an operation of an iteration that takes a side of the branch; `known` gets what replaces its results. */
export function copyOn(
  func: Func,
  op: Op,
  branch: Branch | undefined,
  side: Side,
  known: Map<Value, Value>,
): Op[] {
  return op !== branch?.op || side === "both"
    ? copyOps(func, [op], known)
    : copySide(func, branch, side, known);
}

/** Copies of the operations of a side; `known` gets its values as the results of the branch. */
function copySide(
  func: Func,
  { op, isThen }: Branch,
  side: "plain" | "other",
  known: Map<Value, Value>,
): Op[] {
  const { then, otherwise, thenValues, otherwiseValues } = branchOf(op);
  const [region, values] = isThen === (side === "plain")
    ? [then, thenValues]
    : [otherwise, otherwiseValues];
  const copies = copyOps(func, region.ops.slice(0, -1), known);
  for (const [result, value] of zip(op.results, values)) {
    known.set(result, known.get(value) ?? value);
  }
  return copies;
}
