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
import type { Op, Region, Value } from "../ir/func.ts";
import { terminatorOf } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { computed, makeSlot, mannerFor, type Slot } from "./carried.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";
import { whole } from "./element.ts";
import { isInteger } from "./emitter.ts";
import { emitMoves } from "./moves.ts";
import { operand } from "./rule.ts";
import { eitherRead } from "./shared.ts";

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

export function lowerIf(cx: LowerContext, op: Op): void {
  const e = cx.emitter;
  const condition = conditionOf(cx, operand(op, 0));
  const [then, otherwise] = [must(op.regions[0], "then"), must(op.regions[1], "else")];
  if (isInteger(condition)) {
    const taken = condition.value !== 0n ? then : otherwise;
    cx.lowerOps(bodyOf(taken));
    return bind(cx, op.results, terminatorOf(taken).operands);
  }
  const ends = op.regions.map((region) => terminatorOf(region).operands);
  const readBefore = cx.shared.read;
  let slots: Slot[] = [];
  const branches = [then, otherwise].map((region, index) => {
    cx.shared.read = readBefore;
    const items = e.nested("branch", () => {
      cx.lowerOps(bodyOf(region));
      const values = must(ends[index], "yielded values");
      if (index === 0) {
        slots = op.results.map((result, i) =>
          makeSlot(
            cx,
            result,
            lowered(cx, must(values[i], "yielded value")),
            mannerFor(
              result,
              ends.map((end) => must(end[i], "yielded value")),
              cx.originOf(result) !== result,
            ),
          )
        );
      }
      fill(cx, slots, values);
    });
    return { items, read: cx.shared.read };
  });
  e.settle(registersOf(slots));
  const [yes, no] = [must(branches[0], "then"), must(branches[1], "else")];
  cx.shared.read = eitherRead(yes.read, no.read);
  emitBranches(cx, condition, yes.items, no.items);
  bindSlots(cx, op.results, slots);
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

export function lowerWhile(cx: LowerContext, op: Op): void {
  const test = must(op.regions[0], "test");
  const readBefore = cx.shared.read;
  // A round may find the buffer as the round before left it.
  cx.shared.read = "anything";
  if (isCheap(test)) lowerGuarded(cx, op);
  else lowerPlain(cx, op);
  const isUsed = cx.shared.bytes > 0 || cx.stages.bytes > 0;
  cx.shared.read = isUsed ? "anything" : readBefore;
}

/** Not worth a branch more per round: a few operations on scalars. */
const CHEAP_OPS = 16;

function isCheap(test: Region): boolean {
  return test.ops.length <= CHEAP_OPS &&
    test.ops.every((op) =>
      op.regions.length === 0 && op.results.every(({ type }) => type.shape.length === 0)
    );
}

/** The test before the first round and after each one. The registers hold what the test lets through. */
function lowerGuarded(cx: LowerContext, op: Op): void {
  const e = cx.emitter;
  const [test, body] = [must(op.regions[0], "test"), must(op.regions[1], "body")];
  const [condition, end] = [terminatorOf(test), terminatorOf(body)];
  const leaving = condition.operands.slice(1);
  const runTest = (values: readonly Value[]): Operand => {
    bind(cx, test.params, values);
    cx.lowerOps(bodyOf(test));
    return conditionOf(cx, operand(condition, 0));
  };
  const enter = runTest(op.operands);
  if (isInteger(enter) && enter.value === 0n) return bind(cx, op.results, leaving);
  const slots = body.params.map((param, i) => {
    const value = must(leaving[i], "carried value");
    return makeSlot(
      cx,
      param,
      lowered(cx, value),
      mannerFor(param, cameFrom(op, value), cx.originOf(param) !== param),
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
      const again = saved(cx, runTest(end.operands), slots);
      fill(cx, slots, leaving);
      e.branch(round, again);
    });
    e.append(rounds);
  });
  e.append(guarded);
  e.label(exit);
  e.settle(registersOf(slots));
  bindSlots(cx, op.results, slots);
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
function cameFrom(op: Op, value: Value): Value[] {
  const [test, body] = [must(op.regions[0], "test"), must(op.regions[1], "body")];
  const index = test.params.indexOf(value);
  return index < 0
    ? [value]
    : [operand(op, index), must(terminatorOf(body).operands[index], "yielded value")];
}

/** The test in the middle. The registers hold what enters it. */
function lowerPlain(cx: LowerContext, op: Op): void {
  const e = cx.emitter;
  const [test, body] = [must(op.regions[0], "test"), must(op.regions[1], "body")];
  const [condition, end] = [terminatorOf(test), terminatorOf(body)];
  const slots = test.params.map((param, i) =>
    makeSlot(
      cx,
      param,
      lowered(cx, operand(op, i)),
      mannerFor(param, cameFrom(op, param), cx.originOf(param) !== param),
    )
  );
  fill(cx, slots, op.operands);
  const [round, exit] = [e.newLabel(), e.newLabel()];
  const rounds = e.nested("loop", () => {
    e.label(round);
    e.settle(registersOf(slots));
    bindSlots(cx, test.params, slots);
    cx.lowerOps(bodyOf(test));
    const leaving = condition.operands.slice(1).map((value) => computed(value, lowered(cx, value)));
    leaving.forEach((elements, i) => {
      cx.values.set(must(body.params[i], "parameter"), elements);
      cx.values.set(must(op.results[i], "result"), elements);
    });
    e.branch(exit, conditionOf(cx, operand(condition, 0)), false);
    const rest = e.nested("branch", () => {
      cx.lowerOps(bodyOf(body));
      fill(cx, slots, end.operands);
    });
    e.append(rest);
    e.branch(round);
  });
  e.append(rounds);
  e.label(exit);
}
