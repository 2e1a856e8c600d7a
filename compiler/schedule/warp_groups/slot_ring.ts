/**
 * A loop around one dot whose operands come into a ring of slots, each with a barrier for its tensor copies:
 *
 *     make the barriers ready
 *     for s < slots - busy: copy iteration s into slot s
 *     barrier
 *     while (test) {
 *       multiply this iteration's slot; copy iteration + slots - busy into the slot that is free then
 *     }
 *     wait for all dots and copies; barrier; end the barriers, if their memory is used again
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { nextPosition } from "./ring_position.ts";
import { firstIteration, type Iteration, type Plan } from "../pipeline/prefetch.ts";

/** Where an iteration is: the slot of its dot, the parity of its barrier's phase, and the slot of the copies that it starts. */
interface RingPosition {
  readonly from: Value;
  readonly parity: Value;
  readonly to: Value;
}

/** How an iteration of a ring is done. */
interface RingSteps {
  /** Slots of dots that may be under way while copies are started. */
  readonly busy: number;
  /** Makes the barriers ready in place of {@linkcode readyBarriers}. */
  readonly ready?: (build: ScheduleBuilder) => void;
  /** Starts the copies of an iteration; gives the one after it. */
  readonly copy: (build: ScheduleBuilder, iteration: Iteration, slot: Value) => Iteration;
  /** What takes the place of the dot, with the copies of an iteration; gives the one after that. */
  readonly multiply: (
    build: ScheduleBuilder,
    at: RingPosition,
    iteration: Iteration,
  ) => Iteration;
  /** Barriers that end with those of the copies. */
  readonly others?: readonly Value[];
  /** Waits, after all dots, until no thread needs the slots. */
  readonly finish: (build: ScheduleBuilder) => void;
}

/** What else of the function uses the memory of a ring: something before its loop, something after it. */
export interface Reuse {
  readonly before: boolean;
  readonly after: boolean;
}

const USED: Reuse = { before: true, after: true };

/** The loop, with what comes before and after it. */
export function pipelineRing(
  plan: Plan,
  dot: OpOf<"dot">,
  barriers: Value,
  { busy, ready, copy, multiply, others = [], finish }: RingSteps,
  reuse = USED,
): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  if (ready === undefined) readyBarriers(before, barriers, reuse);
  else ready(before);
  let ahead = firstIteration(plan, before);
  for (let slot = 0; slot < slots - busy; slot++) ahead = copy(before, ahead, before.int(slot));
  if (ready === undefined) before.barrier();

  const zero = before.int(0);
  const start: RingPosition = { from: zero, parity: zero, to: before.int(slots - busy) };
  const { inBody: { at, runs, state }, yields } = carry(plan, {
    at: start,
    runs: ahead.runs,
    state: ahead.state,
  });
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== dot) {
      build.out.push(op);
      continue;
    }
    const next = multiply(build, at, { state, runs });
    yields({ at: advanceRing(build, slots, at), runs: next.runs, state: next.state });
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  if (reuse.after) {
    finish(after);
    after.once(after.true(), (inside) => {
      for (const ended of [barriers, ...others]) inside.effect("mbarrier_end", [ended]);
    });
  }
  return [...before.out, loop, ...after.out];
}

/** Makes the barriers of a ring ready for the thread that starts copies; the others have to wait for it. */
export function readyBarriers(build: ScheduleBuilder, barriers: Value, reuse: Reuse): void {
  if (reuse.before) {
    // Other threads may still read what the memory held before, and copies write through another proxy.
    build.effect("async_proxy_fence", []);
    build.barrier();
  }
  build.once(
    build.true(),
    (inside) => inside.effect("mbarrier_init", [barriers], { arrivals: 1 }),
  );
}

/** The position of the next iteration. */
export function advanceRing(
  build: ScheduleBuilder,
  slots: number,
  { from, parity, to }: RingPosition,
): RingPosition {
  const next = nextPosition(build, { slots }, { slot: from, parity });
  return { from: next.slot, parity: next.parity, to: build.advance(to, slots) };
}
