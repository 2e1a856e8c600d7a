/**
 * A loop whose dot is done by warp groups, with one operand that is a box of a tensor and one that threads must gather:
 * rows that a table names, pixels under a filter. The box comes by a tensor copy (tensor_loop.ts), the other operand by
 * `cp.async` (warp_group_loop.ts), into slots of one ring:
 *
 *     make the barriers ready; for s < slots - 2: copy iteration s into slot s; commit
 *     while (test) {
 *       wait until the own copies of this iteration are there; fence between the proxies
 *       wait for the barrier of this iteration's slot; barrier
 *       start the dot of the slot
 *       copy iteration + slots - 2 into the slot of the dot before the last one; commit
 *       wait for all dots but this iteration's, and for this one too if its sums are added apart
 *     }
 *     wait for all dots and copies; barrier; end the barriers
 *
 * Threads then compute the places of one operand only, and half of the copies take none of their instructions. Where a
 * warp beside the program's can start the boxes, mixed_beside.ts has the loop.
 */
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import type { Target } from "../../targets.ts";
import type { ScheduleBuilder } from "../builder.ts";
import { type GroupDot, groupDotOf, settleGroupDot, startGroupDot } from "./group_dot.ts";
import { addressesOf, type Iteration, type Plan } from "../pipeline/prefetch.ts";
import type { Position } from "./ring_position.ts";
import { pipelineRing } from "./slot_ring.ts";
import type { InBuffer, LoadedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";
import { setBoxes, startBoxes, type TensorOperand } from "./tensor_loop.ts";

/** Slots of dots that may be under way while copies are started. */
export const BUSY = 2;

/** A dot with one operand that is a box and one that is gathered. */
export interface MixedDot extends GroupDot<TensorOperand | LoadedOperand> {
  readonly box: TensorOperand;
  readonly gathered: LoadedOperand;
}

/** The same with buffers. */
export interface StagedMixedDot extends GroupDot<InBuffer<TensorOperand | LoadedOperand>> {
  readonly box: InBuffer<TensorOperand>;
  readonly gathered: InBuffer<LoadedOperand>;
}

/** The dot of a loop, if one of its operands is a box and the other one is gathered, both in group layouts. */
export function planMixedDot(
  func: Func,
  loop: OpOf<"while">,
  boxed: readonly TensorOperand[],
  loaded: readonly LoadedOperand[],
  target: Target,
): MixedDot | undefined {
  const [box, ...boxes] = boxed;
  const [gathered, ...others] = loaded;
  if (box === undefined || gathered === undefined) return undefined;
  if (boxes.length > 0 || others.length > 0) return undefined;
  const group = groupDotOf<TensorOperand | LoadedOperand>(func, loop, [box, gathered], target);
  return group?.inRegisters === false ? { ...group, box, gathered } : undefined;
}

/** Gives the operands slots, a first. */
export function stageMixedDot(group: MixedDot, area: StagingArea, slots: number): StagedMixedDot {
  if (group.box.index === 0) {
    const box = area.stage(group.box, slots);
    const gathered = area.stage(group.gathered, slots);
    return { ...group, box, gathered, staged: [box, gathered] };
  }
  const gathered = area.stage(group.gathered, slots);
  const box = area.stage(group.box, slots);
  return { ...group, box, gathered, staged: [gathered, box] };
}

/** The loop, with what comes before and after it. */
export function pipelineMixedDot(
  plan: Plan,
  group: StagedMixedDot,
  barriers: Value,
): Op[] {
  setBoxes(plan.func, [group.box]);
  return pipelineRing(plan, group.dot, barriers, {
    busy: BUSY,
    copy: (build, iteration, slot) => copyBoth(plan, build, iteration, slot, barriers),
    multiply: (build, { from, parity, to }, iteration) => {
      const started = startMixedDot(build, plan, group, barriers, { slot: from, parity });
      const next = copyBoth(plan, build, iteration, to, barriers);
      settleGroupDot(build, plan, group, started);
      return next;
    },
    finish: (build) => build.waitGroup(0),
  });
}

/** Starts the dot of a slot when both of its operands are there. */
export function startMixedDot(
  build: ScheduleBuilder,
  plan: Plan,
  group: StagedMixedDot,
  full: Value,
  { slot, parity }: Position,
): Value {
  build.effect("wait_group", [], { pending: plan.slots - BUSY - 1 });
  build.effect("async_proxy_fence", []);
  build.effect("mbarrier_wait", [full, slot, parity]);
  build.barrier();
  return startGroupDot(build, plan, group, slot);
}

/**
 * Starts the copies of an iteration, and gives the one after it. One thread starts the box, for whose warp the others
 * wait at the barrier, so the box comes last; but first in a ring so short that it is due in the next iteration.
 */
function copyBoth(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
  slot: Value,
  barriers: Value,
): Iteration {
  const { sources, next } = addressesOf(plan, build, iteration);
  const isDueNext = plan.slots - BUSY === 1;
  const start = (): void => startBoxes(plan, build, sources, next.runs, slot, barriers);
  if (isDueNext) start();
  for (const { load, buffer, pointer, others: masks } of sources) {
    if (load.name !== "load") continue;
    const operands = [pointer, buffer, slot, next.runs, build.true(), ...masks];
    build.effect("async_copy", operands, { part: 0, parts: 1 });
  }
  build.effect("commit_group", []);
  if (!isDueNext) start();
  return next;
}
