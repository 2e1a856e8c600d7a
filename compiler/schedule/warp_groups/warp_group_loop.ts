/**
 * A loop whose dot is done by warp groups (layout/warp_group.ts). Its operands are copied into a ring of slots, in the
 * layout that the instruction reads, and one dot stays under way while the next iteration begins:
 *
 *     for s < slots - 2: copy iteration s into slot s; commit
 *     while (test) {
 *       wait until the copies of this iteration are there; round them to TF32, or compute operands from them
 *       fence between the proxies; barrier
 *       start the dot of this iteration's slot
 *       copy iteration + slots - 2 into the slot of the dot before the last one; commit
 *       wait for all dots but this iteration's
 *     }
 *     wait for all dots and copies; barrier
 *
 * The barrier comes after each thread has waited for the dot before the last one, so the slot of that dot is free.
 *
 * A dot whose sums are added apart (mode `f32acc` of float8) is done when its instructions are, so that the copies of
 * one iteration more are on their way; they are started while its first instructions run.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import type { IrType } from "../../ir/types.ts";
import { growsByTable } from "../../layout/step_loads.ts";
import { groupLayout, isApart } from "../../layout/warp_group.ts";
import { copyBits } from "../../linear/threads.ts";
import type { Target } from "../../targets.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { type GroupDot, groupDotOf, settleGroupDot, startGroupDot } from "./group_dot.ts";
import { copyIteration, copyPrologue, type Plan } from "../pipeline/prefetch.ts";
import type { InBuffer, LoadedOperand, StagedOperand } from "../staged_operand.ts";

/** Slots with which one dot is under way, one waits, and the copies for one more are on their way. */
export const LEAST_SLOTS = 3;

/** As {@linkcode groupDotOf}, with the operands in the layouts that warp groups read. */
export function planGroupDot(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly LoadedOperand[],
  target: Target,
): GroupDot<LoadedOperand> | undefined {
  const operands = staged.flatMap((one) => {
    if (!canChange(one)) return [];
    // Pixels that a table of differences names have no axis of their own: 54 and 64 TFLOP/s (tests/gpu/results/texts.md).
    const inner = copiedAxis(one) ?? (growsByTable(loop, one.load) ? axisOfLanes(one) : undefined);
    return inGroupLayout(one, inner) ?? [];
  });
  return groupDotOf(func, loop, operands, target);
}

/** Those operands that threads can copy into the layouts that warp groups read, in these layouts. */
export function gatheredOperands(staged: readonly LoadedOperand[]): readonly LoadedOperand[] {
  return staged.flatMap((one) => canChange(one) ? inGroupLayout(one) ?? [] : []);
}

/** Whether the instruction has fewer bits than the elements. */
const isRounded = ({ element }: IrType): boolean => element === "float32";

/** Whether each thread can change what it has copied, where that is wanted: no other one has a copy of it. */
const canChange = ({ source: { type }, isComputed }: LoadedOperand): boolean =>
  (!isRounded(type) && isComputed !== true) ||
  (type.layout !== undefined && copyBits(type.layout) === 0);

/** The axis along which an operand is copied: that of a thread's elements. */
const copiedAxis = ({ source: { type } }: StagedOperand): 0 | 1 | undefined =>
  axisOf(type, type.layout?.register);

/** The axis along which neighbouring threads have elements. */
const axisOfLanes = ({ source: { type } }: StagedOperand): 0 | 1 | undefined =>
  axisOf(type, type.layout?.lane);

/** The axis of the first step of a layout's bits. */
function axisOf({ shape }: IrType, bits: readonly number[] = []): 0 | 1 | undefined {
  const first = bits.find((basis) => basis !== 0);
  return first === 1 ? 1 : first === shape[1] ? 0 : undefined;
}

/** A staged operand whose buffer has the layout that warp groups read, with lines along the axis that is copied. */
export function inGroupLayout<O extends StagedOperand>(
  operand: O,
  inner = copiedAxis(operand),
): O | undefined {
  const { type } = operand.source;
  const shared = inner === undefined ? undefined : groupLayout(type, inner);
  return shared === undefined ? undefined : {
    ...operand,
    plan: { ...operand.plan, columns: shared.columns, vectorBits: shared.vectorBits },
  };
}

/** What threads do with what they have copied into a slot, before the dot reads it. */
export interface ChangedCopies {
  /** `own`: the slot of an operand that is computed apart from its copies. */
  readonly change: (build: ScheduleBuilder, slot: Value, own: Value) => void;
  /** Slots of operands that are computed so, where they are fewer than those of copies. */
  readonly ownSlots?: number;
  /** Whether an operand is computed so. */
  readonly isApart: (operand: InBuffer) => boolean;
}

/** Slots with which one operand is computed while a dot reads another one, if threads wait for each other in between. */
export const LEAST_OWN_SLOTS = 2;

/** The loop, with what comes before and after it. */
export function pipelineGroupDot(
  plan: Plan,
  group: GroupDot<InBuffer>,
  changed?: ChangedCopies,
): Op[] {
  const { func, loop, slots } = plan;
  const ownSlots = changed?.ownSlots;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  // Slots of dots that may be under way while copies are started.
  const busy = isApart(group.dot) ? 1 : 2;
  const ahead = copyPrologue(plan, before, "nothing", slots - busy);

  const initial = {
    from: before.int(0),
    to: before.int(slots - busy),
    own: ownSlots === undefined ? undefined : before.int(0),
    runs: ahead.runs,
    state: ahead.state,
  };
  const { inBody: { from, to, own = from, runs, state }, yields } = carry(plan, initial);
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("wait_group", [], { pending: slots - busy - 1 });
    roundOwnCopies(build, plan, from);
    // The dot that has read the slot, which each thread has waited for.
    if (ownSlots !== undefined) build.barrier();
    changed?.change(build, from, own);
    build.effect("async_proxy_fence", []);
    build.barrier();
    const iteration = { state, runs };
    const [left, right] = group.staged.map((one) => changed?.isApart(one) === true ? own : from);
    const started = startGroupDot(build, plan, group, from, [left ?? from, right ?? from]);
    const next = copyIteration(plan, build, iteration, to, "nothing");
    // A dot that waits for itself does so while the copies are under way; of others the one before it is waited for.
    settleGroupDot(build, plan, group, started);
    yields({
      from: build.advance(from, slots),
      to: build.advance(to, slots),
      own: ownSlots === undefined ? undefined : build.advance(own, ownSlots),
      runs: next.runs,
      state: next.state,
    });
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/**
 * Rounds what the thread itself has copied into a slot, which it sees without a barrier: the instruction would cut off
 * the bits that TF32 has not, and sums would drift towards zero.
 */
function roundOwnCopies(build: ScheduleBuilder, { staged }: Plan, slot: Value): void {
  for (const { source: { type }, buffer } of staged) {
    if (!isRounded(type)) continue;
    const copied = build.value("local_load", [buffer, slot], type, { access: "vectors" });
    const rounded = build.value("round_tf32", [copied], type);
    build.effect("local_store", [rounded, buffer, slot]);
  }
}
