/** The dot of a loop that warp groups do, however its operands come into shared memory. */
import { copyOps } from "../../ir/copy_ops.ts";
import { loopOf } from "../../ir/flow.ts";
import type { Func, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { bytesOf } from "../../ir/types.ts";
import { countUses } from "../../ir/walk.ts";
import { isComputedLeft, suitsComputedLeft } from "../../layout/operands/computed_left.ts";
import { renamesRegisters } from "../../layout/operands/computed_tile.ts";
import { areRowsDealt, suitsRegisters } from "../../layout/operands/register_operand.ts";
import {
  isApart,
  suitsComputed,
  suitsMade,
  suitsWarpGroups,
  WARP_BITS,
} from "../../layout/warp_group.ts";
import { axisShifts, ofAxis, product } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import type { Target } from "../../targets.ts";
import type { ScheduleBuilder } from "../builder.ts";
import { depthAxis } from "../pipeline/dot_slices.ts";
import type { Plan } from "../pipeline/prefetch.ts";
import type { InBuffer, StagedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";

/** A dot that warp groups can do, and its operands. */
export interface GroupDot<O extends StagedOperand> {
  readonly dot: OpOf<"dot">;
  readonly staged: readonly [a: O, b: O];
  /** Threads read a from its slot (layout/operands/register_operand.ts). */
  readonly inRegisters: boolean;
  /** Threads compute a from its slot (computed_left.ts). */
  readonly isComputed?: true;
}

/** The dot of a loop, if it is the only one, both of its operands are staged, and it alone adds to its sum. */
export function groupDotOf<O extends StagedOperand>(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly O[],
  target: Target,
): GroupDot<O> | undefined {
  const [a, b] = [0, 1].map((index) => staged.find((operand) => operand.index === index));
  if (a === undefined || b === undefined || staged.length !== 2 || a.dot !== b.dot) {
    return undefined;
  }
  const { dot } = a;
  const numWarps = 1 << a.layout.warp.length;
  const alongK = [isAlongK(a), isAlongK(b)] as const;
  const inRegisters = suitsRegisters(dot, numWarps, target, alongK);
  const suits = inRegisters || suitsComputedLeft(dot, numWarps, target, alongK[1]) ||
    suitsWarpGroups(dot, numWarps, target, alongK) ||
    suitsComputed(dot, numWarps, target) || suitsMade(dot, numWarps, target);
  const isDivided = inRegisters
    ? areRowsDealt(dot)
    : isGrouped(dot) || (isComputedLeft(dot) && areRowsDealt(dot, bytesOf(a.source.type.element)));
  if (!suits || !isDivided || !isAccumulated(func, loop, dot)) return undefined;
  return { dot, staged: [a, b], inRegisters };
}

/** Gives the operands slots. */
export function stageGroupDot<O extends StagedOperand>(
  group: GroupDot<O>,
  area: StagingArea,
  slots: number,
): GroupDot<InBuffer<O>> {
  const [a, b] = group.staged;
  return { ...group, staged: [area.stage(a, slots), area.stage(b, slots)] };
}

/** Whether the lines of an operand in its group layout go along k. */
function isAlongK(operand: StagedOperand): boolean {
  const shift = ofAxis(axisShifts(operand.source.type.shape), depthAxis(operand));
  return operand.plan.columns[0] === 1 << shift;
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
export function isGrouped(dot: OpOf<"dot">): boolean {
  const { shape, layout } = resultOf(dot).type;
  const n = ofAxis(shape, 1);
  return WARP_BITS.every((bit, i) => layout?.warp[i] === n << bit);
}

/**
 * Starts the dot in place of the one on registers, from a slot or from one for each operand. One that is apart must be finished
 * in the same iteration.
 */
export function startGroupDot(
  build: ScheduleBuilder,
  { loop }: Plan,
  group: GroupDot<InBuffer>,
  slot: Value,
  [leftSlot, rightSlot]: readonly [Value, Value] = [slot, slot],
  vectors: readonly InBuffer[] = [],
): Value {
  const { dot, staged: [left, right], inRegisters } = group;
  const result = resultOf(dot);
  if (group.isComputed === true) {
    const started = startComputed(build, loop, group, slot, vectors);
    carryInPlace(loop, result, started);
    return started;
  }
  const operands = [operandsOf(dot).sum, left.buffer, leftSlot, right.buffer, rightSlot];
  const attrs = {
    a_depth: depthAxis(left),
    b_depth: depthAxis(right),
    apart: isApart(dot),
    ...inRegisters ? { registers: true } : {},
  };
  const started = build.value("warp_group_dot", operands, result.type, attrs);
  carryInPlace(loop, result, started);
  return started;
}

/** Bytes of a register. */
const WORD = 4;

/** Starts a dot with a computed from what threads read from its slot; gives its result. */
function startComputed(
  build: ScheduleBuilder,
  loop: OpOf<"while">,
  { dot, staged: [left, right] }: GroupDot<InBuffer>,
  slot: Value,
  vectors: readonly InBuffer[],
): Value {
  const { a, sum } = operandsOf(dot);
  const known = new Map([left, ...vectors].map((one) => {
    const { source: { type }, buffer } = one;
    // Two rows of bytes at once, for elements along k of which each has a byte of its own.
    const isOfPairs = one === left && !isAlongK(left) && bytesOf(type.element) === 1 &&
      product(type.shape) === product(a.type.shape);
    const access = isOfPairs ? "pairs" : "vectors";
    // Words are as many registers as all sums of some tiles: those of a step are read in it.
    const attrs = { access, at_once: one !== left || bytesOf(type.element) < WORD } as const;
    const read = build.value("local_load", [buffer, slot], type, attrs);
    // Of bytes that are read one by one several are computed at once.
    const isApart = one === left && bytesOf(type.element) === 1 && one.plan.vectorBits === 0;
    return [one.source, isApart ? build.value("pack", [read], type) : read] as const;
  }));
  for (const op of loopOf(loop).body.ops) {
    if (known.has(a)) break;
    const isChanged = op.operands.some((value) => known.has(value));
    const isComputed = hasTrait(op, "elementwise") || hasTrait(op, "reshapes");
    if (isChanged && (isComputed || renamesRegisters(op))) {
      build.out.push(...copyOps(build.func, [op], known));
    }
  }
  const operands = [sum, must(known.get(a), "computed operand"), right.buffer, slot];
  const type = resultOf(dot).type;
  const steps = { b_depth: depthAxis(right), in_steps: true };
  return build.value("register_group_dot", operands, type, steps);
}

/** Finishes a dot that is apart; others are waited for in the next iteration. */
export function finishGroupDot(
  build: ScheduleBuilder,
  { loop }: Plan,
  { dot }: GroupDot<StagedOperand>,
  started: Value,
): void {
  if (!isApart(dot)) return;
  carryInPlace(loop, started, build.value("finish_dot", [started], started.type));
}

/** Finishes a dot that is apart; of others the one before it is waited for. */
export function settleGroupDot(
  build: ScheduleBuilder,
  plan: Plan,
  group: GroupDot<StagedOperand>,
  started: Value,
): void {
  if (isApart(group.dot)) finishGroupDot(build, plan, group, started);
  else build.effect("wait_dots", [], { pending: 1 });
}

/** Lets the next iteration find a value in place of another one. */
function carryInPlace(loop: OpOf<"while">, before: Value, after: Value): void {
  const { end } = loopOf(loop);
  end.operands.splice(end.operands.indexOf(before), 1, after);
}
