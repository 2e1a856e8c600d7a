/**
 * A loop whose dot is done by warp groups, with one operand that is a box of a tensor and one that threads must gather:
 * rows behind a table, pixels under a filter. The box comes by a tensor copy (tensor_loop.ts), the other operand by
 * `cp.async` (warp_group_loop.ts), into slots of one ring:
 *
 *     make the barriers ready; for s < slots - 2: copy iteration s into slot s; commit
 *     while (test) {
 *       wait until the own copies of this iteration are there; fence between the proxies
 *       wait for the barrier of this iteration's slot; barrier
 *       start the dot of the slot
 *       copy iteration + slots - 2 into the slot of the dot before the last one; commit
 *       wait for all dots but this iteration's
 *     }
 *     wait for all dots and copies; barrier; end the barriers
 *
 * Threads then compute the places of one operand only, and half of the copies take none of their instructions.
 */
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import type { Target } from "../targets.ts";
import { ScheduleBuilder } from "./builder.ts";
import { type GroupDot, groupDotOf, startGroupDot } from "./group_dot.ts";
import { addressesOf, carry, firstIteration, type Iteration, type Plan } from "./prefetch.ts";
import type { LoadedOperand } from "./staged_operand.ts";
import {
  advanceRing,
  readyBarriers,
  setBoxes,
  startBoxes,
  type TensorOperand,
} from "./tensor_loop.ts";

/** Slots of dots that may be under way while copies are started. */
const BUSY = 2;

type MixedOperand = TensorOperand | LoadedOperand;

const isBoxed = (operand: MixedOperand): operand is TensorOperand => "copied" in operand;

/** The dot of a loop, if one of its operands is a box and the other one is gathered, both in group layouts. */
export function planMixedDot(
  func: Func,
  loop: OpOf<"while">,
  boxed: readonly TensorOperand[],
  gathered: readonly LoadedOperand[],
  target: Target,
): GroupDot<MixedOperand> | undefined {
  if (boxed.length !== 1 || gathered.length !== 1) return undefined;
  const group = groupDotOf<MixedOperand>(func, loop, [...boxed, ...gathered], target);
  return group?.inRegisters === true ? undefined : group;
}

/** The loop, with what comes before and after it. */
export function pipelineMixedDot(
  plan: Plan,
  group: GroupDot<MixedOperand>,
  barriers: Value,
): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  setBoxes(func, group.staged.filter(isBoxed));
  const before = new ScheduleBuilder(func, [], loop.span);
  readyBarriers(before, barriers);
  let ahead = firstIteration(plan, before);
  for (let slot = 0; slot < slots - BUSY; slot++) {
    ahead = copyBoth(plan, before, ahead, before.int(slot), barriers);
  }

  const zero = before.int(0);
  const initial = [zero, zero, before.int(slots - BUSY), ahead.runs, ...ahead.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, phase, writing, runs, ...state] = inBody;
  const [from, parity, to] = [must(reading, "slot"), must(phase, "phase"), must(writing, "slot")];
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("wait_group", [], { pending: slots - BUSY - 1 });
    build.effect("async_proxy_fence", []);
    build.effect("mbarrier_wait", [barriers, from, parity]);
    build.barrier();
    startGroupDot(build, plan, group, from);
    const iteration = { state, runs: must(runs, "test") };
    const next = copyBoth(plan, build, iteration, to, barriers);
    build.effect("wait_dots", [], { pending: 1 });
    yields([...advanceRing(build, slots, from, parity, to), next.runs, ...next.state]);
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  after.waitGroup(0);
  after.once(after.true(), (inside) => inside.effect("mbarrier_end", [barriers]));
  return [...before.out, loop, ...after.out];
}

/**
 * Starts the copies of an iteration, and gives the one after it. One thread starts the box, for whose warp the others wait
 * at the barrier, so the box comes last; but first in a ring so short that it is due in the next iteration.
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
  plan.staged.forEach(({ load }, i) => {
    if (load.name !== "load") return;
    const [pointer, ...masks] = must(sources[i], "operands of a load");
    const buffer = must(plan.buffers[i], "buffer");
    const operands = [must(pointer, "pointer"), buffer, slot, next.runs, build.true(), ...masks];
    build.effect("async_copy", operands, { part: 0, parts: 1 });
  });
  build.effect("commit_group", []);
  if (!isDueNext) start();
  return next;
}
