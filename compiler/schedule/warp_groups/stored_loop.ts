/**
 * A loop whose dot is done by warp groups (layout/warp_group.ts), with operands that neither `cp.async` nor tensor
 * copies can bring: rows of unknown alignment. They are loaded in accesses as narrow as they must be, and stored into a
 * ring of slots in the layout that the instruction reads:
 *
 *     load iteration 0; store it into slot 0; load iteration 1
 *     while (test) {
 *       fence between the proxies; barrier
 *       start the dot of this iteration's slot
 *       store the next iteration into the slot of the dot before the last one; load the one after it
 *       wait for all dots but this iteration's
 *     }
 *     wait for all dots; barrier
 *
 * What is loaded has a whole iteration to arrive. Stored in the iteration in which it is loaded, it would keep all
 * warps waiting at once.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op } from "../../ir/func.ts";
import { bytesOf } from "../../ir/types.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { type GroupDot, startGroupDot } from "./group_dot.ts";
import { firstIteration, loadIteration, type Plan, storeIteration } from "../pipeline/prefetch.ts";
import type { InBuffer, LoadedOperand, StagedOperand } from "../staged_operand.ts";

/** What the instruction takes as it is, in either order: elements of two bytes. */
const ELEMENT_BYTES = 2;

/** The operands of a dot, to be stored in accesses of what threads have side by side; undefined where that does not do. */
export function planStoredDot(
  group: GroupDot<LoadedOperand>,
): GroupDot<LoadedOperand> | undefined {
  const { staged: [a, b] } = group;
  const isPlain = ({ source: { type } }: LoadedOperand): boolean =>
    bytesOf(type.element) === ELEMENT_BYTES;
  return isPlain(a) && isPlain(b) ? { ...group, staged: [asStored(a), asStored(b)] } : undefined;
}

export function asStored<O extends StagedOperand>(operand: O): O {
  const { plan, source: { type } } = operand;
  const held = plan.columns.findIndex((column) => type.layout?.register.includes(column) !== true);
  return { ...operand, plan: { ...plan, vectorBits: Math.min(held, plan.vectorBits) } };
}

/** The loop, with what comes before and after it. */
export function pipelineStoredDot(plan: Plan, group: GroupDot<InBuffer<LoadedOperand>>): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  // Other threads may still read what the memory held before.
  before.barrier();
  const first = loadIteration(plan, before, firstIteration(plan, before));
  storeIteration(plan, before, first.values, before.int(0));
  const second = loadIteration(plan, before, first.next);

  const { runs: following, state: start } = second.next;
  const initial = [before.int(0), before.int(1), following, ...second.values, ...start] as const;
  const { inBody, yields } = carry(plan, initial);
  const [from, to, runs, ...more] = inBody;
  const [stored, state] = [more.slice(0, second.values.length), more.slice(second.values.length)];
  const build = new ScheduleBuilder(func, [], loop.span);
  for (const op of body.ops) {
    if (op !== group.dot) {
      build.out.push(op);
      continue;
    }
    build.effect("async_proxy_fence", []);
    build.barrier();
    startGroupDot(build, plan, group, from);
    storeIteration(plan, build, stored, to);
    const { values, next } = loadIteration(plan, build, { state, runs });
    build.effect("wait_dots", [], { pending: 1 });
    const advanced = [build.advance(from, slots), build.advance(to, slots)] as const;
    yields([...advanced, next.runs, ...values, ...next.state]);
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.effect("wait_dots", [], { pending: 0 });
  after.barrier();
  return [...before.out, loop, ...after.out];
}
