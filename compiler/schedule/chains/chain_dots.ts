/** Dots of warp groups in place of those on registers: each waits for its boxes, and frees their slots when it is done. */
import { loopOf } from "../../ir/flow.ts";
import { newOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { replaceUses } from "../../ir/walk.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import {
  boxesOf,
  type ChainDot,
  type ChainPlan,
  ringOf,
  type Rings,
  type SlotOperand,
  type TensorBox,
  type VectorBox,
} from "./chain_plan.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";

/** Where the n-th program of a block is in the two slots of boxes from outside of its loop. */
export function positionOfTurn(build: ScheduleBuilder, turn: Value): Position {
  const bit = (value: Value): Value => build.value("and", [value, build.int(1)], value.type);
  return { slot: bit(turn), parity: bit(build.value("shr", [turn, build.int(1)], turn.type)) };
}

export const nextTurn = (build: ScheduleBuilder, turn: Value): Value =>
  build.value("add", [turn, build.int(1)], turn.type);

/** Dots of one iteration. */
export class ChainDots {
  readonly #plan: ChainPlan;
  readonly #rings: Rings;
  readonly #at: Position;
  readonly #isFirst: boolean;
  readonly #full: Set<TensorBox>;

  /** `isFirst`: boxes from outside of the loop may not be there yet; `full`: boxes that are. */
  constructor(
    plan: ChainPlan,
    rings: Rings,
    at: Position,
    { isFirst = false, full = [] }: { isFirst?: boolean; full?: Iterable<TensorBox> } = {},
  ) {
    this.#plan = plan;
    this.#rings = rings;
    this.#at = at;
    this.#isFirst = isFirst;
    this.#full = new Set(full);
  }

  /** Waits until the boxes of a dot are there, and the vectors that come with them. */
  await(build: ScheduleBuilder, one: ChainDot): void {
    for (const box of boxesOf(one)) this.#awaitBoxes(build, [box]);
  }

  /** All at once: a wait takes long behind dots that read shared memory, and as long as one if several begin together. */
  #awaitBoxes(build: ScheduleBuilder, boxes: readonly TensorBox[]): void {
    const { slot, parity } = this.#at;
    const zero = build.int(0);
    const awaited = boxes.filter((box) => !this.#full.has(box));
    for (const box of awaited) this.#full.add(box);
    const wait = (some: readonly TensorBox[], at: Value, phase: Value): void => {
      const [first, ...others] = some.map((box) => ringOf(this.#rings, box).full);
      if (first !== undefined) build.effect("mbarrier_wait", [first, at, phase, ...others]);
    };
    if (this.#isFirst) wait(awaited.filter(({ isRing }) => !isRing), zero, zero);
    wait(awaited.filter(({ isRing }) => isRing), slot, parity);
  }

  /**
   * Starts a dot when its boxes are there; the operands a, if it is computed, and sum may be others than its own. `anew`:
   * the sum only says which registers the result has.
   */
  start(
    build: ScheduleBuilder,
    one: ChainDot,
    { a, sum }: { readonly a: Value; readonly sum: Value } = operandsOf(one.dot),
    anew = false,
  ): Value {
    this.await(build, one);
    const { slot } = this.#at;
    const { type } = resultOf(one.dot);
    const inSlot = ({ box }: SlotOperand): readonly [Value, Value] => {
      const ring = ringOf(this.#rings, box);
      return [ring.tiles, box.isRing ? slot : ring.slot ?? build.int(0)];
    };
    const right = inSlot(one.b);
    return one.a === undefined
      ? build.value("register_group_dot", [sum, a, ...right], type, { b_depth: one.b.depth })
      : build.value("warp_group_dot", [sum, ...inSlot(one.a), ...right], type, {
        a_depth: one.a.depth,
        b_depth: one.b.depth,
        apart: false,
        ...anew ? { anew } : {},
      });
  }

  /** Waits for the boxes from outside of the loop. */
  awaitOutside(build: ScheduleBuilder): void {
    const boxes = this.#plan.boxes.flatMap((box) => box.kind === "tensor" ? [box] : []);
    this.#awaitBoxes(build, boxes.filter(({ isRing }) => !isRing));
  }

  /** Waits until the vectors of the iteration are there, and the boxes of some dots. */
  awaitVectors(build: ScheduleBuilder, some: readonly ChainDot[] = []): void {
    this.#awaitBoxes(build, [...new Set([...leadersOf(this.#plan), ...some.flatMap(boxesOf)])]);
  }

  /** What takes the place of the load of a vector; undefined for other operations. */
  readVector(op: Op): Op | undefined {
    const box = this.#plan.boxes.find(({ load }) => load === op);
    return box?.kind === "vector" ? this.readBox(box) : undefined;
  }

  /** Reads a vector from its slot. */
  readBox(box: VectorBox): Op {
    const { type } = resultOf(box.load);
    const operands = [ringOf(this.#rings, box).tiles, this.#at.slot];
    const attrs = { access: "vectors", at_once: true } as const;
    return newOp(this.#plan.func, "local_load", operands, [type], box.load.span, attrs);
  }

  /** Frees the slots that no later dot reads; the dot is done. */
  free(build: ScheduleBuilder, one: ChainDot): void {
    const { dots } = this.#plan;
    const later = new Set(dots.slice(dots.indexOf(one) + 1).flatMap(boxesOf));
    for (const box of boxesOf(one)) {
      const { empty } = ringOf(this.#rings, box);
      if (box.isRing && empty !== undefined && !later.has(box)) {
        build.effect("mbarrier_arrive", [empty, this.#at.slot]);
      }
    }
  }

  /** One dot after the other, each done when what follows begins; gives what takes the places of their results. */
  inOrder(
    build: ScheduleBuilder,
    ops: readonly Op[],
    planOf: (op: Op) => ChainDot | undefined,
  ): ReadonlyMap<Value, Value> {
    const replaced = new Map<Value, Value>();
    for (const op of ops) {
      const one = planOf(op);
      if (one === undefined || op.name !== "dot") {
        build.out.push(op);
        continue;
      }
      replaced.set(resultOf(op), this.start(build, one, operandsIn(op, replaced)));
      build.effect("wait_dots", [], { pending: 0 });
      this.free(build, one);
    }
    return replaced;
  }
}

/** The boxes with which vectors come. */
export const leadersOf = ({ boxes }: ChainPlan): TensorBox[] =>
  boxes.flatMap((box) => box.kind === "vector" ? [box.beside] : []);

/** The operands of a dot; `replaced` has what takes the places of results before it. */
export function operandsIn(
  dot: OpOf<"dot">,
  replaced: ReadonlyMap<Value, Value>,
): { readonly a: Value; readonly sum: Value } {
  const { a, sum } = operandsOf(dot);
  return { a: replaced.get(a) ?? a, sum: replaced.get(sum) ?? sum };
}

/** The plan of each dot of the loop. */
export function plansByDot({ dots }: ChainPlan): ReadonlyMap<Op, ChainDot> {
  return new Map(dots.map((one) => [one.dot, one]));
}

/** Puts the dots of warp groups into the loop itself; gives the position after it. */
export function multiplyInLoop(plan: ChainPlan, rings: Rings, start: Position): Position {
  const { body, end } = loopOf(plan.loop);
  const { inBody, yields, results } = carry(plan, start);
  const build = multiplyOnce(plan, rings, inBody);
  yields(nextPosition(build, plan, inBody));
  body.ops = [...build.out, end];
  return results;
}

/** The operations of an iteration with dots of warp groups; the loop's terminator takes their results. */
function multiplyOnce(plan: ChainPlan, rings: Rings, at: Position): ScheduleBuilder {
  const { func, loop } = plan;
  const { body } = loopOf(loop);
  const build = new ScheduleBuilder(func, [], loop.span);
  const byDot = plansByDot(plan);
  const replaced = new ChainDots(plan, rings, at)
    .inOrder(build, body.ops.slice(0, -1), (op) => byDot.get(op));
  replaceUses(func, replaced);
  for (const op of build.out) replaceOperands(op, replaced);
  return build;
}

/** Operations in the place of a loop, and where the rings are after them. */
export interface Rewritten {
  readonly ops: Op[];
  readonly end: Position;
}

/** Lets an operation and those inside of it use other values. */
export function replaceOperands(op: Op, replaced: ReadonlyMap<Value, Value>): void {
  op.operands = op.operands.map((value) => replaced.get(value) ?? value);
  for (const { ops } of op.regions) for (const one of ops) replaceOperands(one, replaced);
}
