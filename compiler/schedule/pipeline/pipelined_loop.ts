/**
 * The forms of a pipelined loop: loads of staged operands start some iterations before the dot that takes them, so
 * that memory works while the tensor cores do. With `cp.async` the copies go straight into a ring of slots, and a dot
 * is divided into slices along k (dot_slices.ts). While one slice multiplies, the operands of the next one are loaded:
 *
 *     for s < slots - 1: copy iteration s into slot s; commit
 *     wait for the copies of iteration 0; barrier; load slice 0
 *     while (test) {
 *       with all slices but the last: copy iteration + slots - 1 into the slot that the iteration before has read
 *       commit; wait for the copies of the next iteration; barrier
 *       with the last slice: load slice 0 of the next iteration
 *     }
 *     wait for all; barrier
 *
 * There is one barrier per iteration, before the last slice, so tensor cores work on both sides of it. The last
 * iteration loads from a slot after it whose elements are not used: zeros are copied there. Dots of one slice, and
 * several dots of a loop, take whole iterations:
 *
 *     while (test) {
 *       wait for the copies of this iteration; barrier
 *       load this iteration's slot; dot; …
 *       copy iteration + slots - 1; commit
 *     }
 *
 * After the first of several dots, copies are early enough for two slots.
 *
 * Without `cp.async` there are two slots; loads go into registers, and into the other slot after the dot.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { type DotSlices, loadSlice, multiplySlice } from "./dot_slices.ts";
import {
  copiesOf,
  copyIteration,
  copyPrologue,
  firstIteration,
  loadIteration,
  type Plan,
  storeIteration,
} from "./prefetch.ts";

/** Dots of whole iterations. Copies start after the only one, or after the first. */
export function pipelineByIterations(plan: Plan): Op[] {
  const { func, loop, staged, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  const ahead = copyPrologue(plan, before, "nothing");

  const initial = [before.int(0), before.int(slots - 1), ahead.runs, ...ahead.state] as const;
  const { inBody, yields } = carry(plan, initial);
  const [from, to, runs, ...state] = inBody;
  const late = new ScheduleBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.waitGroup(slots - 2);
    const iteration = { state, runs };
    const next = copyIteration(plan, late, iteration, to, "nothing");
    yields([late.advance(from, slots), late.advance(to, slots), next.runs, ...next.state]);
  });
  const [first, second] = body.ops.filter((op) => staged.some(({ dot }) => dot === op));
  if (first === undefined || second === undefined) appendToBody(loop, late.out);
  else body.ops.splice(body.ops.indexOf(first) + 1, 0, ...late.out);
  const after = new ScheduleBuilder(func, [], loop.span);
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/** A dot in slices along k. Copies start with all slices but the last, before which is the barrier. */
export function pipelineBySlices(plan: Plan, slices: DotSlices): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  const ahead = copyPrologue(plan, before, "zeros");
  before.waitGroup(slots - 2);
  const first = loadSlice(before, slices, before.int(0), 0);

  const initial = [
    before.int(0),
    before.int(slots - 1),
    ahead.runs,
    ...first,
    ...ahead.state,
  ] as const;
  const { inBody, yields } = carry(plan, initial);
  const [from, to, runs, left, right, ...state] = inBody;
  const build = new ScheduleBuilder(func, [], loop.span);
  const multiplyIteration = (dot: OpOf<"dot">): void => {
    const following = build.advance(from, slots);
    const copies = copiesOf(plan, build, { state, runs }, to, "zeros");
    const last = slices.count - 1;
    let operands: readonly [Value, Value] = [left, right];
    let { sum } = operandsOf(dot);
    for (let slice = 0; slice < last; slice++) {
      const next = loadSlice(build, slices, from, slice + 1);
      copies.start(slice, last);
      sum = multiplySlice(func, build, slices, slice, operands, sum);
      operands = next;
    }
    build.effect("commit_group", []);
    build.waitGroup(slots - 2);
    const next = loadSlice(build, slices, following, 0);
    multiplySlice(func, build, slices, last, operands, sum);
    yields([following, build.advance(to, slots), copies.next.runs, ...next, ...copies.next.state]);
  };
  for (const op of body.ops) {
    if (op === slices.dot) multiplyIteration(slices.dot);
    else build.out.push(op);
  }
  body.ops = build.out;
  const after = new ScheduleBuilder(func, [], loop.span);
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/** Two slots, filled from registers. */
export function pipelineThroughRegisters(plan: Plan): Op[] {
  const { func, loop, slots } = plan;
  const before = new ScheduleBuilder(func, [], loop.span);
  before.barrier();
  const first = loadIteration(plan, before, firstIteration(plan, before));
  storeIteration(plan, before, first.values, before.int(0));

  const initial = [before.int(0), before.int(1), first.next.runs, ...first.next.state] as const;
  const { inBody, yields } = carry(plan, initial);
  const [from, to, runs, ...state] = inBody;
  const late = new ScheduleBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.barrier();
    const { values, next } = loadIteration(plan, build, { state, runs });
    yields([build.advance(from, slots), build.advance(to, slots), next.runs, ...next.state]);
    storeIteration(plan, late, values, to);
  });
  appendToBody(loop, late.out);
  const after = new ScheduleBuilder(func, [], loop.span);
  after.barrier();
  return [...before.out, loop, ...after.out];
}

/** Puts operations after all others of an iteration. */
function appendToBody(loop: OpOf<"while">, ops: readonly Op[]): void {
  const { body, end } = loopOf(loop);
  body.ops = [...body.ops.slice(0, -1), ...ops, end];
}

/** The body with `head` in front, and loads from a slot instead of loads from memory. */
function replaceBody(plan: Plan, slot: Value, head: (build: ScheduleBuilder) => void): void {
  const { func, loop, staged } = plan;
  const { body } = loopOf(loop);
  const build = new ScheduleBuilder(func, [], loop.span);
  head(build);
  for (const op of body.ops) {
    for (const operand of staged) {
      if (operand.dot === op) build.load(operand, slot);
    }
    build.out.push(op);
  }
  body.ops = build.out;
}
