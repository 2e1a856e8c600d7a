/**
 * The loop of warp_group_loop.ts with one operand that copies bring and one that the loop makes of anything: of words in which
 * several numbers are packed, of several tiles, of a tile in another shape. Threads store what they have made into slots of its
 * own, in the layout that the dot reads:
 *
 *     load what the operand of iteration 0 is made of
 *     while (test) {
 *       load that of the next iteration, where it takes few registers
 *       make the operand; wait until the copies of this iteration are there; barrier; store the operand
 *       fence between the proxies; barrier; start the dot; copy a later iteration
 *       wait for all dots but this iteration's
 *     }
 *
 * It is made while the dot before is under way, and where two blocks fit a multiprocessor, while the other one multiplies.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { isMadeIn } from "../../layout/warp_group.ts";
import { must } from "../../support/bug.ts";
import type { TargetContext } from "../../tile/pass.ts";
import type { ScheduleBuilder } from "../builder.ts";
import {
  GROUP_STAGES,
  isCopyable,
  slotsBesideOwn,
  stagesOf,
  stateOf,
} from "../pipeline/loop_loads.ts";
import { loadIntoRegisters } from "../loads_ahead/in_registers.ts";
import { addressState } from "../pipeline/prefetch.ts";
import type { InBuffer, LoadedOperand, StagedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";
import { groupDotOf } from "./group_dot.ts";
import { loadsAhead } from "./operand_loads.ts";
import { asStored } from "./stored_loop.ts";
import {
  gatheredOperands,
  inGroupLayout,
  LEAST_OWN_SLOTS,
  LEAST_SLOTS,
  pipelineGroupDot,
} from "./warp_group_loop.ts";

/** How to pipeline a loop with such operands; undefined where there are none, or copies cannot bring the other one. */
export function pipelineMade(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly StagedOperand[],
  loaded: readonly LoadedOperand[],
  context: TargetContext,
): ((area: StagingArea) => () => readonly Op[]) | undefined {
  const inLoop = new Set(loopOf(loop).body.ops);
  const [made, ...others] = candidates.filter(({ source }) => isMadeIn(inLoop, source));
  const [copied, ...more] = gatheredOperands(loaded);
  if (made === undefined || copied === undefined || others.length + more.length > 0) {
    return undefined;
  }
  const laidOut = inGroupLayout(made);
  const stored = laidOut && asStored(laidOut);
  const group = stored &&
    groupDotOf<StagedOperand>(func, loop, [stored, copied], context.target);
  const carried = stateOf(loop, [copied]);
  if (group === undefined || carried === undefined || !isCopyable(copied, context.axisInfo())) {
    return undefined;
  }
  const loads = loadsAhead(loop, made.source, [copied.load]);
  const ofLoads = loads.length > 0
    ? addressState(loop, loads.flatMap(({ operands }) => operands))
    : undefined;
  const wanted = stagesOf(loop, context) ?? GROUP_STAGES;
  const slots = slotsBesideOwn(group.dot, [copied.bytes, made.bytes * LEAST_OWN_SLOTS], context, [
    LEAST_SLOTS,
    wanted,
  ]);
  if (slots < LEAST_SLOTS) return undefined;
  return (area) => {
    const operand = area.stage(must(stored, "stored operand"), LEAST_OWN_SLOTS);
    const other = area.stage(copied, slots);
    const [a, b] = made.index === 0 ? [operand, other] : [other, operand];
    const dot = { ...group, staged: [a, b] as const };
    const change = (build: ScheduleBuilder, _: Value, own: Value): void => {
      build.effect("local_store", [operand.source, operand.buffer, own]);
    };
    const isApart = ({ index }: InBuffer): boolean => index === made.index;
    const changed = { change, isApart, ownSlots: LEAST_OWN_SLOTS };
    return () => {
      const before = ofLoads === undefined
        ? []
        : loadIntoRegisters(func, { loop, loads, carried: ofLoads }).filter((op) => op !== loop);
      const plan = { func, loop, staged: [other], carried, slots };
      return [...before, ...pipelineGroupDot(plan, dot, changed)];
    };
  };
}
