/**
 * A loop whose dot is done by warp groups (layout/warp_group.ts). Its operands are copied into a ring of slots, in the
 * layout that the instruction reads, and one dot stays under way while the next iteration begins:
 *
 *     for s < slots - 2: copy iteration s into slot s; commit
 *     while (test) {
 *       wait until the copies of this iteration are there; fence between the proxies; barrier
 *       start the dot of this iteration's slot
 *       copy iteration + slots - 2 into the slot of the dot before the last one; commit
 *       wait for all dots but this iteration's
 *     }
 *     wait for all dots and copies; barrier
 *
 * The barrier comes after each thread has waited for the dot before the last one, so the slot of that dot is free.
 */
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { countUses, terminatorOf } from "../ir/walk.ts";
import { groupLayout, suitsWarpGroups, WARP_BITS } from "../layout/warp_group.ts";
import { must } from "../support/bug.ts";
import type { Target } from "../targets.ts";
import { ScheduleBuilder } from "./builder.ts";
import { depthAxis } from "./dot_slices.ts";
import { carry, copyIteration, copyPrologue, type Plan } from "./prefetch.ts";
import type { LoadedOperand } from "./staged_operand.ts";

/** Slots with which one dot is under way, one waits, and the copies for one more are on their way. */
export const LEAST_SLOTS = 3;

/** A dot that warp groups can do, with its operands in the layouts that they read. */
export interface GroupDot {
  readonly dot: OpOf<"dot">;
  readonly staged: readonly [a: LoadedOperand, b: LoadedOperand];
}

/** The dot of a loop, if it is the only one, both of its operands are staged, and it alone adds to its sum. */
export function planGroupDot(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly LoadedOperand[],
  target: Target,
): GroupDot | undefined {
  const [a, b] = [0, 1].map((index) => staged.find((operand) => operand.index === index));
  if (a === undefined || b === undefined || staged.length !== 2 || a.dot !== b.dot) {
    return undefined;
  }
  const { dot } = a;
  const numWarps = 1 << a.layout.warp.length;
  if (!suitsWarpGroups(dot, numWarps, target) || !isGrouped(dot)) return undefined;
  if (!isAccumulated(func, loop, dot)) return undefined;
  const [left, right] = [inGroupLayout(a), inGroupLayout(b)];
  return left === undefined || right === undefined ? undefined : { dot, staged: [left, right] };
}

/** Whether the loop carries the sum of a dot from one iteration to the next, and nothing else uses it. */
function isAccumulated(func: Func, loop: OpOf<"while">, dot: OpOf<"dot">): boolean {
  const { test, body, leaving, repeated } = loopOf(loop);
  const { sum } = operandsOf(dot);
  const result = resultOf(dot);
  const entered = leaving[body.params.indexOf(sum)];
  const isSame = entered !== undefined && repeated[test.params.indexOf(entered)] === result;
  const uses = countUses(func);
  return isSame && uses.get(sum) === 1 && uses.get(result) === 1;
}

/** Whether the warps of the result's layout are those of groups. */
function isGrouped({ results: [result] }: Op): boolean {
  const { shape, layout } = must(result, "result of a dot").type;
  const n = must(shape[1], "columns");
  return WARP_BITS.every((bit, i) => layout?.warp[i] === n << bit);
}

/** A staged operand whose buffer has the layout that warp groups read, with lines along the axis that is copied. */
function inGroupLayout(operand: LoadedOperand): LoadedOperand | undefined {
  const { type } = operand.source;
  const last = must(type.shape[1], "extent");
  const first = type.layout?.register.find((basis) => basis !== 0);
  const inner = first === 1 ? 1 : first === last ? 0 : undefined;
  const shared = inner === undefined ? undefined : groupLayout(type, inner);
  return shared === undefined ? undefined : {
    ...operand,
    plan: { ...operand.plan, columns: shared.columns, vectorBits: shared.vectorBits },
  };
}

/** The loop, with what comes before and after it. */
export function pipelineGroupDot(plan: Plan, group: GroupDot): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  const ahead = copyPrologue(plan, before, "nothing", slots - 2);

  const initial = [before.int(0), before.int(slots - 2), ahead.runs, ...ahead.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, runs, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("wait_group", [], { pending: slots - LEAST_SLOTS });
    build.effect("async_proxy_fence", []);
    build.barrier();
    startDot(build, plan, group, from);
    const iteration = { state, runs: must(runs, "test") };
    const next = copyIteration(plan, build, iteration, to, "nothing");
    build.effect("wait_dots", [], { pending: 1 });
    yields([build.advance(from, slots), build.advance(to, slots), next.runs, ...next.state]);
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/** Starts the dot in place of the one on registers. */
function startDot(
  build: ScheduleBuilder,
  { loop, buffers: [a, b] }: Plan,
  { dot, staged: [left, right] }: GroupDot,
  slot: Value,
): void {
  const { body } = loopOf(loop);
  const result = resultOf(dot);
  const operands = [operandsOf(dot).sum, must(a, "buffer"), slot, must(b, "buffer"), slot];
  const attrs = { a_depth: depthAxis(left), b_depth: depthAxis(right) };
  const started = build.value("warp_group_dot", operands, result.type, attrs);
  const end = terminatorOf(body);
  end.operands.splice(end.operands.indexOf(result), 1, started);
}
