/**
 * The loop of mixed_loop.ts where a warp beside those of the program (`produce`) can start the boxes, as in
 * chains/chain_loop.ts: the warps of the program need no instruction for them, of which else one has all and the others
 * wait for it.
 *
 *     make the barriers ready
 *     produce { while (test) { wait until the slot is empty; copy the box } }
 *     for s < slots - 2: gather iteration s into slot s; commit
 *     while (test) {
 *       wait until the own copies of this iteration are there; fence between the proxies
 *       wait until this iteration's slot is full; barrier
 *       start the dot of the slot
 *       gather iteration + slots - 2 into the slot of the dot before the last one; commit
 *       wait for dots as mixed_loop.ts does; arrive at the empty barrier
 *     }
 *     wait for all dots and copies; barrier; end the barriers
 *
 * An iteration arrives for the slot of the dot before it, but at the barrier of its own slot, which it has at hand. So
 * box j waits at the barrier of slot j + 1, and boxes are started up to slots - 1 iterations ahead.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, Value } from "../../ir/func.ts";
import { copyLoop } from "./beside_loop.ts";
import type { ScheduleBuilder } from "../builder.ts";
import { settleGroupDot } from "./group_dot.ts";
import { BUSY, type StagedMixedDot, startMixedDot } from "./mixed_loop.ts";
import {
  type AddressState,
  copyIteration,
  type Iteration,
  pick,
  type Plan,
} from "../pipeline/prefetch.ts";
import { nextPosition } from "./ring_position.ts";
import { pipelineRing } from "./slot_ring.ts";
import type { InBuffer } from "../staged_operand.ts";
import { setBoxes, type TensorOperand } from "./tensor_loop.ts";

/** What the loop carries for the copies of each operand goes to those who start them. */
export interface MixedStates {
  readonly box: AddressState;
  readonly gathered: AddressState;
}

/** Barriers of all slots: what says that a box is there, and that dots have read it. */
export interface SlotBarriers {
  readonly full: Value;
  readonly empty: Value;
}

/** The loop, with what comes before and after it. */
export function pipelineMixedBeside(
  plan: Plan,
  group: StagedMixedDot,
  { full, empty }: SlotBarriers,
  states: MixedStates,
  numWarps: number,
): Op[] {
  const { box } = group;
  setBoxes(plan.func, [box]);
  const copying: Plan = { ...plan, staged: [box], carried: states.box };
  const gathering: Plan = { ...plan, staged: [group.gathered], carried: states.gathered };
  const gather = (build: ScheduleBuilder, iteration: Iteration, slot: Value): Iteration =>
    copyIteration(gathering, build, iteration, slot, "nothing");
  return pipelineRing(gathering, group.dot, full, {
    busy: BUSY,
    ready: (build) => {
      build.once(build.true(), (inside) => {
        inside.effect("mbarrier_init", [full], { arrivals: 1 });
        inside.effect("mbarrier_init", [empty], { arrivals: numWarps });
      });
      build.produce((inside) => produceBoxes(copying, box, { full, empty }, inside));
    },
    copy: gather,
    multiply: (build, { from, parity, to }, iteration) => {
      const started = startMixedDot(build, plan, group, full, { slot: from, parity });
      const next = gather(build, iteration, to);
      settleGroupDot(build, plan, group, started);
      build.effect("mbarrier_arrive", [empty, from]);
      return next;
    },
    others: [empty],
    finish: (build) => build.waitGroup(0),
  });
}

/** All boxes, in the order of the iterations. */
function produceBoxes(
  plan: Plan,
  { load, bytes, buffer }: InBuffer<TensorOperand>,
  { full, empty }: SlotBarriers,
  build: ScheduleBuilder,
): void {
  const zero = build.int(0);
  const { loop, carried } = plan;
  const initial = pick(loopOf(loop).initial, carried.entering);
  const copied = { loop, carried, initial, known: new Map<Value, Value>() };
  copyLoop(build, copied, { slot: zero, parity: zero }, (inside, copyOf, at) => {
    const next = nextPosition(inside, plan, at);
    const previous = inside.value("xor", [next.parity, inside.int(1)], next.parity.type);
    inside.effect("mbarrier_wait", [empty, next.slot, previous]);
    inside.effect("mbarrier_expect", [full, at.slot], { bytes });
    const [, ...coordinates] = load.operands.map(copyOf);
    const { map } = load.attrs;
    inside.effect("tensor_copy", [buffer, full, at.slot, ...coordinates], { map });
    return next;
  });
}
