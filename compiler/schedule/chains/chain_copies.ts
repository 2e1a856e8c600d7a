/**
 * The copies of the boxes of a loop of chained dots, by one thread beside those of the program (chain_loop.ts), in the
 * order in which they are needed. Where tables say which boxes an iteration takes, they are read an iteration early.
 * Where blocks do several programs in turn, the thread goes on to the next one while results of this one are computed
 * and stored.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Value } from "../../ir/func.ts";
import { zip } from "../../support/zip.ts";
import { copySlice, parametersNeeded } from "../backward_slice.ts";
import { type CopiedLoop, type Copier, copyLoop } from "../warp_groups/beside_loop.ts";
import { ScheduleBuilder } from "../builder.ts";
import { nextTurn, positionOfTurn } from "./chain_dots.ts";
import {
  boxesOf,
  type ChainPlan,
  ringOf,
  type Rings,
  type TensorBox,
  vectorsBeside,
} from "./chain_plan.ts";
import { copyOfIteration, type Iteration, pick } from "../pipeline/prefetch.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";

/** All copies of a block. */
export function produceBoxes(plan: ChainPlan, rings: Rings, build: ScheduleBuilder): void {
  const { loop, boxes, carried, programs } = plan;
  const zero = build.int(0);
  const start: Position = { slot: zero, parity: zero };
  const outside = boxes.filter((box) => box.kind === "tensor").filter(({ isRing }) => !isRing);
  const isAhead = (programs === undefined || plan.guarded.length > 0) && readsTables(plan);
  const produce = isAhead ? produceAhead : produceIterations;
  if (programs === undefined) {
    for (const box of outside) copyBox(plan, rings, build, box, zero, (value) => value);
    const initial = pick(loopOf(loop).initial, carried.entering);
    produce(plan, rings, build, initial, start, new Map());
    return;
  }
  const around: CopiedLoop = {
    ...programs,
    initial: pick(loopOf(programs.loop).initial, programs.carried.entering),
    known: new Map(),
  };
  copyLoop(build, around, { turn: zero, at: start }, (inside, copyOf, { turn, at }) => {
    const inSlots = positionOfTurn(inside, turn);
    for (const box of outside) refillBox(plan, rings, inside, box, inSlots, copyOf);
    const known = new Map(programs.outer.map((value) => [value, copyOf(value)]));
    const initial = pick(loopOf(loop).initial, carried.entering).map(copyOf);
    const end = produce(plan, rings, inside, initial, at, known);
    return { turn: nextTurn(inside, turn), at: end };
  });
}

/**
 * All copies where the first iteration is apart from the others: boxes from outside that its first dot does not read
 * come among those of the iteration. Where there is none, nothing but the copying warp waits for the other boxes.
 */
export function produceApart(plan: ChainPlan, rings: Rings, build: ScheduleBuilder): void {
  const { func, loop, boxes, carried, dots } = plan;
  const { test, body, initial, continues, leaving, repeated } = loopOf(loop);
  const zero = build.int(0);
  const start: Position = { slot: zero, parity: zero };
  const readFirst = new Set(dots.slice(0, 1).flatMap(boxesOf));
  const tensors = boxes.flatMap((box) => box.kind === "tensor" ? [box] : []);
  const isEarly = (box: TensorBox): boolean => !box.isRing && readFirst.has(box);
  const early = tensors.filter(isEarly);
  for (const box of early) copyBox(plan, rings, build, box, zero, (value) => value);
  const state = pick(initial, carried.entering);
  const inTest = new Map(zip(pick(test.params, carried.entering), state));
  const copyTest = copySlice(func, test, inTest, build.out);
  const left = pick(leaving, carried.leaving).map(copyTest);
  const runs = copyTest(continues);

  const inBody = new Map(zip(pick(body.params, carried.leaving), left));
  const after = build.choose(
    runs,
    (first) => {
      const copyBody = copySlice(func, body, inBody, first.out, first.true());
      for (const box of tensors) {
        if (!isEarly(box)) copyBox(plan, rings, first, box, zero, copyBody);
      }
      const next = pick(repeated, carried.entering).map(copyBody);
      return { state: next, at: nextPosition(first, plan, start) };
    },
    (none) => {
      for (const box of early) none.effect("mbarrier_wait", [ringOf(rings, box).full, zero, zero]);
      return { state, at: start };
    },
  );
  produceIterations(plan, rings, build, after.state, after.at, new Map());
}

/** The copies of the loop's iterations, by what replaces values around it; gives the position after them. */
function produceIterations(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  initial: readonly Value[],
  start: Position,
  known: ReadonlyMap<Value, Value>,
): Position {
  const { loop, carried } = plan;
  const copied: CopiedLoop = { loop, carried, initial, known };
  return copyLoop(build, copied, start, (inside, copyOf, at) => {
    refillRings(plan, rings, inside, at, copyOf);
    return nextPosition(inside, plan, at);
  });
}

/** Whether memory says where the boxes of an iteration are. */
function readsTables({ loop, boxes }: ChainPlan): boolean {
  const from = boxes.flatMap((box) => box.isRing ? box.from : []);
  return parametersNeeded(loopOf(loop).body, from, false) === undefined;
}

/** The same where each is read from tables an iteration early: copies need not wait for those. */
function produceAhead(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  entering: readonly Value[],
  start: Position,
  outer: ReadonlyMap<Value, Value>,
): Position {
  const { func, loop, boxes } = plan;
  const begin: Iteration = { state: entering, runs: build.true(), outer };
  const first = copyOfIteration(plan, build, begin);
  const from = new Set(boxes.flatMap((box) => box.isRing ? box.from : []));
  const outside = (value: Value): Value => outer.get(value) ?? value;
  const places = [...from].filter((value) => first.copy(value) !== outside(value));
  const second = first.next();
  // Debuggers see the loop where the program has it.
  const { at: end } = new ScheduleBuilder(func, build.out, loop.span).loop(
    { runs: second.runs, at: start, ahead: places.map(first.copy), state: second.state },
    (_test, { runs }) => runs,
    (inside, { runs, at, ahead, state }) => {
      const { copy, next } = copyOfIteration(plan, inside, { runs, state, outer });
      const after = next();
      const following = places.map(copy);
      const known = new Map(zip(places, ahead));
      refillRings(plan, rings, inside, at, (value) => known.get(value) ?? outside(value));
      const moved = nextPosition(inside, plan, at);
      return { runs: after.runs, at: moved, ahead: following, state: after.state };
    },
  );
  return end;
}

/** Copies the boxes of an iteration. */
function refillRings(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  at: Position,
  copyOf: Copier,
): void {
  for (const box of plan.boxes) {
    if (box.kind === "tensor" && box.isRing) refillBox(plan, rings, build, box, at, copyOf);
  }
}

/** Copies a box when its slot is empty. */
function refillBox(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  box: TensorBox,
  { slot, parity }: Position,
  copyOf: Copier,
): void {
  const { empty } = ringOf(rings, box);
  if (empty !== undefined) {
    const previous = build.value("xor", [parity, build.int(1)], parity.type);
    build.effect("mbarrier_wait", [empty, slot, previous]);
  }
  copyBox(plan, rings, build, box, slot, copyOf);
}

/** Copies a box, and the vectors that come with it. */
function copyBox(
  plan: ChainPlan,
  rings: Rings,
  build: ScheduleBuilder,
  box: TensorBox,
  slot: Value,
  copyOf: Copier,
): void {
  const { tiles, full } = ringOf(rings, box);
  const vectors = vectorsBeside(plan, box);
  const bytes = vectors.reduce((sum, vector) => sum + vector.bytes, box.bytes);
  const copy = (inside: ScheduleBuilder): void => {
    inside.effect("mbarrier_expect", [full, slot], { bytes });
    const [, ...coordinates] = box.load.operands.map(copyOf);
    const { map } = box.load.attrs;
    inside.effect("tensor_copy", [tiles, full, slot, ...coordinates], { map });
  };
  if (box.when === undefined) copy(build);
  else {
    build.either(copyOf(box.when), copy, (inside) => {
      inside.effect("mbarrier_expect", [full, slot], { bytes: 0 });
    });
  }
  for (const vector of vectors) {
    const operands = [copyOf(vector.first), ringOf(rings, vector).tiles, full, slot];
    build.effect("bulk_copy", operands, { bytes: vector.bytes });
  }
}
