/**
 * Structured control as labels and branches. Conditions are scalars of the whole program, so all threads go the same
 * way (`bra.uni`), and barriers may stand in branches and loops.
 *
 * What control results in or carries lives in fixed registers (carried.ts), which each edge fills with moves. A
 * loop whose test is cheap tests at its end, a copy of the test guards the first round:
 *
 *     while (test) body          @!test bra EXIT; ROUND: body; @test bra ROUND; EXIT:
 *
 * Others test in the middle: ROUND: test; @!go bra EXIT; body; bra ROUND; EXIT:
 */
import type { Item, Operand } from "../ptx/func.ts";
import { isRotated } from "../ir/rotated_loop.ts";
import { branchOf, type Loop, loopOf } from "../ir/flow.ts";
import type { Op, OpOf, Region, Value } from "../ir/func.ts";
import { must } from "../support/bug.ts";
import { computed, makeSlot, mannerFor, type Slot } from "./carried.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";
import { whole } from "./element.ts";
import { isInteger } from "./emitter.ts";
import { emitMoves } from "./moves.ts";

const bodyOf = (region: Region): readonly Op[] => region.ops.slice(0, -1);

/** A scalar condition: a predicate, or a constant. */
function conditionOf(cx: LowerContext, value: Value): Operand {
  return whole(cx.emitter, lowered(cx, value)(0), "bool");
}

/** Lets values be what others are now. */
function bind(cx: LowerContext, values: readonly Value[], sources: readonly Value[]): void {
  const elements = sources.map((source) => lowered(cx, source));
  const deferred = sources.map((source) => cx.deferred.get(source) ?? 0);
  values.forEach((value, i) => {
    cx.values.set(value, must(elements[i], "bound value"));
    cx.deferred.set(value, deferred[i] ?? 0);
  });
}

function bindSlots(cx: LowerContext, values: readonly Value[], slots: readonly Slot[]): void {
  values.forEach((value, i) => {
    cx.values.set(value, must(slots[i], "slot").elements);
    cx.deferred.delete(value);
  });
}

/** Fills the registers of slots. */
function fill(cx: LowerContext, slots: readonly Slot[], sources: readonly Value[]): void {
  const moves = slots.flatMap((slot, i) =>
    slot.moves(lowered(cx, must(sources[i], "carried value")))
  );
  emitMoves(cx.emitter, moves);
}

const registersOf = (slots: readonly Slot[]): Slot["registers"] =>
  slots.flatMap(({ registers }) => registers);

export function lowerIf(cx: LowerContext, op: OpOf<"if">): void {
  const e = cx.emitter;
  const { condition: value, then, otherwise, thenValues, otherwiseValues } = branchOf(op);
  const condition = conditionOf(cx, value);
  if (isInteger(condition)) {
    const isTaken = condition.value !== 0n;
    cx.lowerOps(bodyOf(isTaken ? then : otherwise));
    return bind(cx, op.results, isTaken ? thenValues : otherwiseValues);
  }
  const makeSlots = (): Slot[] =>
    op.results.map((result, i) => {
      const yielded = must(thenValues[i], "then value");
      const other = must(otherwiseValues[i], "else value");
      const manner = mannerFor(result, [yielded, other], cx.originOf(result) !== result);
      return makeSlot(cx, result, lowered(cx, yielded), manner);
    });
  let slots: readonly Slot[] | undefined;
  const branch = (region: Region, values: readonly Value[]): readonly Item[] =>
    e.nested("branch", () => {
      cx.lowerOps(bodyOf(region));
      slots ??= makeSlots();
      fill(cx, slots, values);
    });
  const [yes, no] = [branch(then, thenValues), branch(otherwise, otherwiseValues)];
  const filled = slots ?? [];
  e.settle(registersOf(filled));
  emitBranches(cx, condition, yes, no);
  bindSlots(cx, op.results, filled);
}

/** Moves, and additions that they may need. */
const FILLING: ReadonlySet<string> = new Set(["mov", "add"]);

const fillsOnly = (item: Item): boolean =>
  item.kind === "loc" ||
  (item.kind === "instruction" && FILLING.has(item.opcode) && item.guard === undefined);

/** A side that only fills the results' registers, which nobody has read yet, does so before the branch. */
function emitBranches(
  cx: LowerContext,
  condition: Operand,
  then: readonly Item[],
  otherwise: readonly Item[],
): void {
  const e = cx.emitter;
  if (then.length === 0 && otherwise.length === 0) return;
  const end = e.newLabel();
  const isFirst = otherwise.every(fillsOnly);
  if (isFirst || then.every(fillsOnly)) {
    e.append(isFirst ? otherwise : then);
    e.branch(end, condition, !isFirst);
    e.append(isFirst ? then : otherwise);
  } else {
    const other = e.newLabel();
    e.branch(other, condition, false);
    e.append(then);
    e.branch(end);
    e.label(other);
    e.append(otherwise);
  }
  e.label(end);
}

export function lowerWhile(cx: LowerContext, op: OpOf<"while">): void {
  const loop = loopOf(op);
  if (isRotated(loop.test)) lowerGuarded(cx, loop, op.results);
  else lowerPlain(cx, loop, op.results);
}

/** The test before the first round and after each one. The registers hold what the test lets through. */
function lowerGuarded(cx: LowerContext, loop: Loop, results: readonly Value[]): void {
  const e = cx.emitter;
  const { test, body, goesOn, initial, repeated, leaving } = loop;
  const runTest = (values: readonly Value[]): Operand => {
    bind(cx, test.params, values);
    cx.lowerOps(bodyOf(test));
    return conditionOf(cx, goesOn);
  };
  const enter = runTest(initial);
  if (isInteger(enter) && enter.value === 0n) return bind(cx, results, leaving);
  const slots = body.params.map((param, i) => {
    const value = must(leaving[i], "carried value");
    return makeSlot(
      cx,
      param,
      lowered(cx, value),
      mannerFor(param, cameFrom(loop, value), cx.originOf(param) !== param),
    );
  });
  fill(cx, slots, leaving);
  const [round, exit] = [e.newLabel(), e.newLabel()];
  e.branch(exit, enter, false);
  const guarded = e.nested("branch", () => {
    const rounds = e.nested("loop", () => {
      e.label(round);
      e.settle(registersOf(slots));
      bindSlots(cx, body.params, slots);
      cx.lowerOps(bodyOf(body));
      const again = saved(cx, runTest(repeated), slots);
      fill(cx, slots, leaving);
      e.branch(round, again);
    });
    e.append(rounds);
  });
  e.append(guarded);
  e.label(exit);
  e.settle(registersOf(slots));
  bindSlots(cx, results, slots);
}

/** A condition that stays what it is when the slots get their next values. */
function saved(cx: LowerContext, condition: Operand, slots: readonly Slot[]): Operand {
  const changes = condition.kind === "register" &&
    registersOf(slots).some(({ name }) => name === condition.name);
  if (!changes) return condition;
  const copy = cx.emitter.register("pred");
  emitMoves(cx.emitter, [{ to: copy, from: condition }]);
  return copy;
}

/** The values that a value of the test is: if it is a parameter, what enters and what comes round. */
function cameFrom({ test, initial, repeated }: Loop, value: Value): Value[] {
  const index = test.params.indexOf(value);
  if (index < 0) return [value];
  return [must(initial[index], "initial value"), must(repeated[index], "yielded value")];
}

/** The test in the middle. The registers hold what enters it. */
function lowerPlain(cx: LowerContext, loop: Loop, results: readonly Value[]): void {
  const e = cx.emitter;
  const { test, body, goesOn, initial, repeated, leaving } = loop;
  const slots = test.params.map((param, i) =>
    makeSlot(
      cx,
      param,
      lowered(cx, must(initial[i], "initial value")),
      mannerFor(param, cameFrom(loop, param), cx.originOf(param) !== param),
    )
  );
  fill(cx, slots, initial);
  const [round, exit] = [e.newLabel(), e.newLabel()];
  const rounds = e.nested("loop", () => {
    e.label(round);
    e.settle(registersOf(slots));
    bindSlots(cx, test.params, slots);
    cx.lowerOps(bodyOf(test));
    const elements = leaving.map((value) => computed(value, lowered(cx, value)));
    elements.forEach((one, i) => {
      cx.values.set(must(body.params[i], "parameter"), one);
      cx.values.set(must(results[i], "result"), one);
    });
    e.branch(exit, conditionOf(cx, goesOn), false);
    const rest = e.nested("branch", () => {
      cx.lowerOps(bodyOf(body));
      fill(cx, slots, repeated);
    });
    e.append(rest);
    e.branch(round);
  });
  e.append(rounds);
  e.label(exit);
}
