/**
 * Structured control as labels and branches. Conditions are scalars of the whole program, so all threads take the same
 * branch (`bra.uni`), and barriers may be in branches and loops.
 *
 * What control results in or carries lives in fixed registers (carried.ts), which each edge fills with moves. A
 * loop whose test is cheap tests at its end, a copy of the test guards the first iteration:
 *
 *     while (test) body          @!test bra EXIT; LOOP: body; @test bra LOOP; EXIT:
 *
 * Of an unrolled loop that is done several times in a row: LOOP: body; @!test bra LEFT; body; @test bra LOOP; …
 * Where the first iteration makes sums anew: @!test bra NONE; body; @!test bra EXIT; LOOP: body; @test bra LOOP; EXIT: wait for
 * its dots; bra END; NONE: zeros; END:
 * Others test in the middle: LOOP: test; @!go bra EXIT; body; bra LOOP; EXIT:
 */
import type { Span } from "../support/source.ts";
import type { Item, Operand } from "../ptx/func.ts";
import { isRotated } from "../ir/rotated_loop.ts";
import { branchOf, type Loop, loopOf, sourceOf } from "../ir/flow.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import type { Op, OpOf, Region, Value } from "../ir/func.ts";
import { zip } from "../support/zip.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { carryStrategy, computed, makeSlot, type Slot } from "./carried.ts";
import type { LowerContext } from "./context.ts";
import type { StartedDot } from "./dots/group_parts.ts";
import { finishLeft } from "./dots/warp_group_dot.ts";
import { lowered } from "./values.ts";
import { whole } from "./element.ts";
import { int, isInteger } from "./emitter.ts";
import { emitMoves } from "./moves.ts";

const bodyOf = (region: Region): readonly Op[] => region.ops.slice(0, -1);

/** A scalar condition: a predicate, or a constant. */
export function conditionOf(cx: LowerContext, value: Value): Operand {
  return whole(cx.emitter, lowered(cx, value)(0), "bool");
}

/** Lets values be what others are now. */
function bind(cx: LowerContext, values: readonly Value[], sources: readonly Value[]): void {
  // A source may be one of the values: all are read first.
  const bound = zip(values, sources).map(([value, source]) => ({
    value,
    elements: lowered(cx, source),
    deferred: cx.chainLengths.get(source) ?? 0,
  }));
  for (const { value, elements, deferred } of bound) {
    cx.values.set(value, elements);
    cx.chainLengths.set(value, deferred);
  }
}

function bindSlots(cx: LowerContext, values: readonly Value[], slots: readonly Slot[]): void {
  for (const [value, slot] of zip(values, slots)) {
    cx.values.set(value, slot.elements);
    cx.chainLengths.delete(value);
  }
}

/** Fills the registers of slots. */
function fill(cx: LowerContext, slots: readonly Slot[], sources: readonly Value[]): void {
  const moves = zip(slots, sources).flatMap(([slot, source]) => slot.moves(lowered(cx, source)));
  emitMoves(cx.emitter, moves);
}

const registersOf = (slots: readonly Slot[]): Slot["registers"] =>
  slots.flatMap(({ registers }) => registers);

export function lowerIf(cx: LowerContext, op: OpOf<"if">, axisInfo: AxisFacts): void {
  const e = cx.emitter;
  const { condition: value, then, otherwise, thenValues, otherwiseValues } = branchOf(op);
  const condition = conditionOf(cx, value);
  if (isInteger(condition)) {
    const isTaken = condition.value !== 0n;
    cx.lowerOps(bodyOf(isTaken ? then : otherwise));
    return bind(cx, op.results, isTaken ? thenValues : otherwiseValues);
  }
  const all = zip(op.results, zip(thenValues, otherwiseValues));
  const inPlace = all.filter(([, sources]) => staysInPlace(sources));
  const moved = all.filter(([, sources]) => !staysInPlace(sources));
  const makeSlots = (): Slot[] =>
    moved.map(([result, sources]) => {
      const strategy = carryStrategy(result, sources, cx.inductionBase(result) !== result);
      return makeSlot(cx, result, sources[0], strategy, axisInfo);
    });
  let slots: readonly Slot[] | undefined;
  const branch = (region: Region, side: 0 | 1): readonly Item[] =>
    e.nested("branch", () => {
      const body = bodyOf(region);
      const slices = { ...cx.slices };
      // What a side without operations passes on is of the statement that branches, not of the last one before.
      if (body.length === 0) e.from(op.span);
      cx.lowerOps(body);
      slots ??= makeSlots();
      fill(cx, slots, moved.map(([, sources]) => sources[side]));
      // The other side follows what is before the branch.
      Object.assign(cx.slices, slices);
    });
  const [yes, no] = [branch(then, 0), branch(otherwise, 1)];
  const filled = slots ?? [];
  e.settle(registersOf(filled));
  // Jumps belong to the statement that branches, and to the last one before the end of its side.
  const last = bodyOf(then).at(-1)?.span ?? op.span;
  emitBranches(cx, condition, yes, no, { branch: op.span, last });
  bindSlots(cx, moved.map(([result]) => result), filled);
  bind(cx, inPlace.map(([result]) => result), inPlace.map(([, [, untouched]]) => untouched));
}

/** Whether one side adds to the registers of a sum, and the other one leaves them alone. */
function staysInPlace([taken, untouched]: readonly [Value, Value]): boolean {
  const dot = madeBy(taken, "warp_group_dot");
  return dot !== undefined && !dot.attrs.apart && untouched.def === undefined &&
    operandsOf(dot).sum === untouched;
}

/** Moves, and additions that they may need. */
const FILLING: ReadonlySet<string> = new Set(["mov", "add"]);

const fillsOnly = (item: Item): boolean =>
  item.kind === "loc" ||
  (item.kind === "instruction" && FILLING.has(item.opcode) && item.guard === undefined);

/** A side that only fills the results' registers, which have not been read yet, does so before the branch. */
export function emitBranches(
  cx: LowerContext,
  condition: Operand,
  then: readonly Item[],
  otherwise: readonly Item[],
  spans?: { readonly branch: Span; readonly last: Span },
): void {
  const e = cx.emitter;
  if (then.length === 0 && otherwise.length === 0) return;
  const from = (span: Span | undefined): void => {
    if (span !== undefined) e.from(span);
  };
  const end = e.newLabel();
  const isFirst = otherwise.every(fillsOnly);
  if (isFirst || then.every(fillsOnly)) {
    e.append(isFirst ? otherwise : then);
    from(spans?.branch);
    e.branch(end, condition, !isFirst);
    e.append(isFirst ? then : otherwise);
  } else {
    const other = e.newLabel();
    from(spans?.branch);
    e.branch(other, condition, false);
    e.append(then);
    from(spans?.last);
    e.branch(end);
    e.label(other);
    e.append(otherwise);
  }
  e.label(end);
}

/** All threads agree about the condition, so none is left at a barrier. */
export function lowerLeave(cx: LowerContext, op: OpOf<"leave">): void {
  const condition = conditionOf(cx, operandsOf(op).condition);
  if (condition.kind === "register") {
    cx.emitter.emit("ret", [], { register: condition, negated: false });
  } else if (isInteger(condition) && condition.value !== 0n) cx.emitter.emit("ret", []);
}

export function lowerWhile(cx: LowerContext, op: OpOf<"while">, axisInfo: AxisFacts): void {
  const loop = loopOf(op);
  // What a program computes once stays in it: its registers are needed for the chain of dots.
  const kind = op.attrs.within !== undefined ? "branch" : "loop";
  const { isFollowed } = cx.unrolled;
  cx.unrolled.isFollowed = false;
  if (isRotated(loop.test)) lowerGuarded(cx, loop, op, axisInfo, kind);
  else lowerPlain(cx, loop, op.results, axisInfo);
  cx.unrolled.isFollowed = isFollowed;
}

/**
 * The test before the first iteration and after each one. The registers hold what the test lets through. Of `copies` of the
 * body all but the last one leave the loop where no iteration follows.
 */
function lowerGuarded(
  cx: LowerContext,
  loop: Loop,
  { results, attrs: { unrolled: copies = 1, anew = false } }: OpOf<"while">,
  axisInfo: AxisFacts,
  kind: "branch" | "loop",
): void {
  const e = cx.emitter;
  const { test, body, continues, initial, repeated, leaving } = loop;
  const runTest = (values: readonly Value[]): Operand => {
    bind(cx, test.params, values);
    // It is there twice: what it computes has no one home.
    cx.homes?.pause();
    cx.lowerOps(bodyOf(test));
    cx.homes?.resume();
    return conditionOf(cx, continues);
  };
  const enter = runTest(initial);
  if (isInteger(enter) && enter.value === 0n) return bind(cx, results, leaving);
  const slots = zip(body.params, leaving).map(([param, value]) =>
    makeSlot(
      cx,
      param,
      value,
      carryStrategy(param, cameFrom(loop, value), cx.inductionBase(param) !== param),
      axisInfo,
    )
  );
  const all = zip(slots, zip(body.params, leaving));
  const fresh = anew ? all.filter(([, [param]]) => isSum(body, param)) : [];
  const filled = all.filter((one) => !fresh.includes(one));
  // The test is done again for later iterations.
  const zeros = fresh.flatMap(([slot, [, value]]) => slot.moves(lowered(cx, value)));
  fill(cx, filled.map(([slot]) => slot), filled.map(([, [, value]]) => value));
  const [head, exit] = [e.newLabel(), e.newLabel()];
  const none = fresh.length === 0 ? exit : e.newLabel();
  e.branch(none, enter, false);
  const guarded = e.nested("branch", () => {
    /** An iteration; gives whether another one follows. */
    const iterate = (): Operand => {
      e.settle(registersOf(slots));
      bindSlots(cx, body.params, slots);
      cx.homes?.carried(head, registersOf(slots));
      cx.homes?.lowered(e.scope, body.params, head);
      cx.lowerOps(bodyOf(body));
      const again = saved(cx, runTest(repeated), slots);
      fill(cx, slots, leaving);
      return again;
    };
    const exits: (() => void)[] = [];
    if (fresh.length > 0) {
      // What it computes has its home in the loop.
      cx.homes?.pause();
      const first = e.nested("branch", () => {
        for (const [, [param]] of fresh) cx.fresh.add(param);
        e.branch(exit, iterate(), false);
      });
      e.append(first);
      cx.homes?.resume();
    }
    const iterations = e.nested(kind, () => {
      e.label(head);
      for (let copy = 1; copy < copies; copy++) {
        exits.push(followed(cx, loop, exit, iterate));
        // What it computes has its home in the first copy.
        cx.homes?.pause();
      }
      e.branch(head, iterate());
      exits.forEach(() => cx.homes?.resume());
    });
    e.append(iterations);
    for (const leave of exits) leave();
  });
  e.append(guarded);
  e.label(exit);
  if (fresh.length > 0) {
    // Where other code writes to sums while dots are under way, ptxas lets those wait for each other (C7515).
    e.emit("wgmma.wait_group.sync.aligned", [int(0)]);
    const end = e.newLabel();
    e.branch(end);
    e.label(none);
    emitMoves(e, zeros);
    e.label(end);
  }
  e.settle(registersOf(slots));
  bindSlots(cx, results, slots);
}

/** Whether a parameter is the sum of a dot of warp groups. */
function isSum({ ops }: Region, param: Value): boolean {
  return ops.some((op) => op.name === "warp_group_dot" && operandsOf(op).sum === param);
}

/** An iteration that a copy of it follows in code; gives what leaves the loop from there. */
function followed(
  cx: LowerContext,
  loop: Loop,
  exit: string,
  iterate: () => Operand,
): () => void {
  const e = cx.emitter;
  const left = e.newLabel();
  const copy = e.nested("branch", () => {
    cx.unrolled.isFollowed = true;
    e.branch(left, iterate(), false);
    cx.unrolled.isFollowed = false;
  });
  e.append(copy);
  const dots = takeUp(cx, loop);
  return () => {
    e.branch(exit);
    e.label(left);
    for (const { dot, sum } of dots) finishLeft(cx, dot, lowered(cx, sum));
  };
}

/** Lets the body find dots as an iteration has left them; gives these, with the parameters that are their sums. */
function takeUp(
  cx: LowerContext,
  { test, body, leaving, repeated }: Loop,
): readonly { readonly dot: StartedDot; readonly sum: Value }[] {
  return zip(body.params, leaving).flatMap(([sum, value]) => {
    const source = sourceOf({ from: repeated, to: test.params }, value);
    const dot = source && cx.unfinished.get(source);
    if (dot === undefined) return [];
    cx.unfinished.set(sum, dot);
    return { dot, sum };
  });
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

/**
 * The values that a value of the test is: if it is a parameter, its initial value and the value of the next iteration.
 */
function cameFrom({ test, initial, repeated }: Loop, value: Value): readonly Value[] {
  const index = test.params.indexOf(value);
  return index < 0 ? [value] : zip(initial, repeated)[index] ?? [];
}

/** The test in the middle. The registers hold what enters it. */
function lowerPlain(
  cx: LowerContext,
  loop: Loop,
  results: readonly Value[],
  axisInfo: AxisFacts,
): void {
  const e = cx.emitter;
  const { test, body, continues, initial, repeated, leaving } = loop;
  const slots = zip(test.params, initial).map(([param, value]) =>
    makeSlot(
      cx,
      param,
      value,
      carryStrategy(param, cameFrom(loop, param), cx.inductionBase(param) !== param),
      axisInfo,
    )
  );
  fill(cx, slots, initial);
  const [head, exit] = [e.newLabel(), e.newLabel()];
  const iteration = e.nested("loop", () => {
    e.label(head);
    e.settle(registersOf(slots));
    bindSlots(cx, test.params, slots);
    cx.homes?.carried(head, registersOf(slots));
    cx.homes?.lowered(e.scope, test.params, head);
    cx.lowerOps(bodyOf(test));
    const elements = leaving.map((value) => computed(value, lowered(cx, value)));
    for (const values of [body.params, results]) {
      for (const [value, one] of zip(values, elements)) cx.values.set(value, one);
      cx.homes?.lowered(e.scope, values, values === results ? undefined : head);
    }
    e.branch(exit, conditionOf(cx, continues), false);
    const rest = e.nested("branch", () => {
      cx.lowerOps(bodyOf(body));
      fill(cx, slots, repeated);
    });
    e.append(rest);
    e.branch(head);
  });
  e.append(iteration);
  e.label(exit);
}
