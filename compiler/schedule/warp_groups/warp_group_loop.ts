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
import { groupLayout, isApart } from "../../layout/warp_group.ts";
import { copyBits } from "../../linear/threads.ts";
import type { Target } from "../../targets.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { type GroupDot, groupDotOf, settleGroupDot, startGroupDot } from "./group_dot.ts";
import { copyIteration, copyPrologue, type Plan } from "../pipeline/prefetch.ts";
import type { InBuffer, LoadedOperand } from "../staged_operand.ts";

/** Slots with which one dot is under way, one waits, and the copies for one more are on their way. */
export const LEAST_SLOTS = 3;

/** As {@linkcode groupDotOf}, with the operands in the layouts that warp groups read. */
export function planGroupDot(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly LoadedOperand[],
  target: Target,
): GroupDot<LoadedOperand> | undefined {
  return groupDotOf(func, loop, gatheredOperands(staged), target);
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

/** The axis along which an operand is copied. */
function copiedAxis({ source: { type } }: LoadedOperand): 0 | 1 | undefined {
  const first = type.layout?.register.find((basis) => basis !== 0);
  return first === 1 ? 1 : first === type.shape[1] ? 0 : undefined;
}

/** A staged operand whose buffer has the layout that warp groups read, with lines along the axis that is copied. */
function inGroupLayout(operand: LoadedOperand): LoadedOperand | undefined {
  const { type } = operand.source;
  const inner = copiedAxis(operand);
  const shared = inner === undefined ? undefined : groupLayout(type, inner);
  return shared === undefined ? undefined : {
    ...operand,
    plan: { ...operand.plan, columns: shared.columns, vectorBits: shared.vectorBits },
  };
}

/** What threads do with what they have copied into a slot, before the dot reads it. */
export type ChangeCopies = (build: ScheduleBuilder, slot: Value) => void;

/** The loop, with what comes before and after it. */
export function pipelineGroupDot(
  plan: Plan,
  group: GroupDot<InBuffer<LoadedOperand>>,
  change: ChangeCopies = () => undefined,
): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  // Slots of dots that may be under way while copies are started.
  const busy = isApart(group.dot) ? 1 : 2;
  const ahead = copyPrologue(plan, before, "nothing", slots - busy);

  const initial = [before.int(0), before.int(slots - busy), ahead.runs, ...ahead.state] as const;
  const { inBody, yields } = carry(plan, initial);
  const [from, to, runs, ...state] = inBody;
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("wait_group", [], { pending: slots - busy - 1 });
    roundOwnCopies(build, plan, from);
    change(build, from);
    build.effect("async_proxy_fence", []);
    build.barrier();
    const iteration = { state, runs };
    const started = startGroupDot(build, plan, group, from);
    const next = copyIteration(plan, build, iteration, to, "nothing");
    // A dot that waits for itself does so while the copies are under way; of others the one before it is waited for.
    settleGroupDot(build, plan, group, started);
    yields([build.advance(from, slots), build.advance(to, slots), next.runs, ...next.state]);
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
