/**
 * An iteration of an overlapping chain of dots (overlapped_chain.ts).
 *
 *     start dots of boxes; wait for the sums of the iteration before, whose slots are free then
 *     for each dot of boxes:
 *       what needs its result and no later one's, with a wait for it; each other dot as soon as its operand a is there
 *
 * If the first dot of boxes is ahead (early_work.ts), the iteration before has started it after what reads the result of
 * its own, in the same registers. ptxas lets both be under way because it is awaited before the loop goes on: it does not
 * follow sums from one iteration to the next that threads read there. So the others are started in their own iteration.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { scalarType } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { replacing } from "../backward_slice.ts";
import type { ScheduleBuilder } from "../builder.ts";
import type { Position } from "../warp_groups/ring_position.ts";
import { type Branch, copyOn, type Side } from "./branch_sides.ts";
import { ChainDots, leadersOf, operandsIn, plansByDot, replaceOperands } from "./chain_dots.ts";
import type { Phases } from "./chain_phases.ts";
import {
  boxesOf,
  type ChainDot,
  type ChainPlan,
  ringOf,
  type Rings,
  vectorsBeside,
} from "./chain_plan.ts";
import type { EarlyWork } from "./early_work.ts";

/** A chain that overlaps. */
export interface Overlap {
  readonly plan: ChainPlan;
  readonly rings: Rings;
  readonly branch: Branch | undefined;
  readonly early: EarlyWork;
  readonly phases: Phases;
}

/** What the loop carries before an iteration. */
export interface Round {
  readonly state: readonly Value[];
  /** What is ahead: the result of the first dot of boxes, which is there, and vectors; empty: nothing. */
  readonly ahead: readonly Value[];
  readonly at: Position;
  /** The slot of the iteration before, if its sums are under way; a negative one: there is none. */
  readonly behind: Value | undefined;
}

/** Starts what is ahead of the first iteration. */
export function startAhead(
  overlap: Overlap,
  build: ScheduleBuilder,
  state: readonly Value[],
  at: Position,
): Round {
  const { plan, rings, phases } = overlap;
  const dots = new ChainDots(plan, rings, at, { isFirst: plan.programs === undefined });
  // Work is ahead only in loops of several dots of boxes (early_work.ts).
  const one = must(phases.ofBoxes[0], "dot of boxes");
  dots.awaitVectors(build, [one]);
  const vectors = readVectors(overlap, build, dots);
  const sum = dots.start(build, one);
  dots.awaitOutside(build);
  return { state, ahead: [sum, ...vectors], at, behind: build.int(-1) };
}

/** What {@linkcode startAhead} makes, as values of the loop's body. */
const aheadOf = ({ phases, early }: Overlap): Value[] =>
  [...phases.ofBoxes.slice(0, 1).map(({ dot }) => dot), ...early.vectors.map(({ load }) => load)]
    .map(resultOf);

function readVectors(
  { early }: Overlap,
  build: ScheduleBuilder,
  dots: ChainDots,
): readonly Value[] {
  return early.vectors.map((box) => {
    const read = dots.readBox(box);
    build.out.push(read);
    return resultOf(read);
  });
}

/** An operation of an iteration but for dots, and the one that it is a copy of. */
interface Step {
  readonly op: Op;
  readonly from: Op;
}

/** The result of a dot that is under way; undefined: the sums of the iteration before. */
type Group = Value | undefined;

const isBehind = (group: Group): boolean => group === undefined;

/** The iteration of a round, with a side of the branch; `next` is where one after it is, whose first dot it starts. */
export class OverlappedIteration {
  readonly #overlap: Overlap;
  readonly #build: ScheduleBuilder;
  readonly #round: Round;
  readonly #dots: ChainDots;
  readonly #nextDots: ChainDots | undefined;
  /** What takes the places of values of the loop's body. */
  readonly #known: Map<Value, Value>;
  /** What takes the places of values of the copy: results of dots, and values that are held. */
  readonly #taken = new Map<Value, Value>();
  /** Copies of the dots that it starts. */
  readonly #dotOps = new Map<ChainDot, OpOf<"dot">>();
  #left: Step[] = [];
  /** In the order in which they were started. */
  readonly #underWay: Group[] = [];
  #sum: Value | undefined;
  #vectors: readonly Value[] = [];

  constructor(
    overlap: Overlap,
    build: ScheduleBuilder,
    round: Round,
    side: Side,
    next?: Position,
  ) {
    const { plan, rings, phases } = overlap;
    this.#overlap = overlap;
    this.#build = build;
    this.#round = round;
    this.#known = replacing(loopOf(plan.loop).body, round.state);
    const isAhead = round.ahead.length > 0;
    if (isAhead) {
      for (const [value, one] of zip(aheadOf(overlap), round.ahead)) this.#known.set(value, one);
    }
    const full = isAhead
      ? [...leadersOf(plan), ...phases.ofBoxes.slice(0, 1).flatMap(boxesOf)]
      : [];
    const isFirst = this.#isApart && plan.programs === undefined;
    this.#dots = new ChainDots(plan, rings, round.at, { isFirst, full });
    this.#nextDots = next && new ChainDots(plan, rings, next);
    if (round.behind !== undefined && this.#endsWithSum) this.#underWay.push(undefined);
    this.#copySteps(side);
  }

  /** Whether it is before a loop of others, of which each begins while the one before has not ended. */
  get #isApart(): boolean {
    return this.#overlap.early.dots > 0 && this.#round.behind === undefined;
  }

  /** Whether the last dot that an iteration starts adds to a sum, which then is under way when the next one begins. */
  get #endsWithSum(): boolean {
    const { early, phases: { later } } = this.#overlap;
    return !early.isAhead || later.slice(1).flat().length > 0;
  }

  /** Copies of the operations; vectors come from their slots. */
  #copySteps(side: Side): void {
    const { plan, branch } = this.#overlap;
    const { func, loop } = plan;
    const byDot = plansByDot(plan);
    for (const from of loopOf(loop).body.ops.slice(0, -1)) {
      if (from.results.some((value) => this.#known.has(value))) continue;
      const read = this.#dots.readVector(from);
      if (read !== undefined) {
        this.#known.set(resultOf(from), resultOf(read));
        this.#left.push({ op: read, from });
        continue;
      }
      const copies = copyOn(func, from, branch, side, this.#known);
      const one = byDot.get(from);
      for (const op of copies) {
        if (one !== undefined && op.name === "dot") this.#dotOps.set(one, op);
        else this.#left.push({ op, from });
      }
    }
  }

  /** Emits the iteration; gives what the loop carries after it. */
  emit(): Pick<Round, "state" | "ahead"> {
    const { plan: { loop }, early, phases: { later, phaseOf } } = this.#overlap;
    this.#begin();
    later.forEach((list, phase) => {
      for (const one of list) this.#startLater(one);
      this.#emitSteps(({ from }) => phaseOf.get(from) === phase);
      if (phase === 0) this.#startNext();
    });
    if (this.#sum !== undefined) this.#waitFor((group) => group === this.#sum);
    else if (early.dots === 0 || early.isAhead) {
      this.#wait(0);
      freeSlots(this.#overlap, this.#build, this.#round.at.slot);
    } // The operands of all but the last are free for what the next iteration begins with.
    else if (later.flat().length > 1) this.#wait(1);
    const valueOf = (value: Value): Value => {
      const copy = this.#known.get(value) ?? value;
      return this.#taken.get(copy) ?? copy;
    };
    return {
      state: loopOf(loop).repeated.map(valueOf),
      ahead: this.#sum === undefined ? [] : [this.#sum, ...this.#vectors],
    };
  }

  /** Starts the dots of boxes that are not ahead, some of them before the sums of the iteration before are done. */
  #begin(): void {
    const { early, phases: { ofBoxes } } = this.#overlap;
    const own = ofBoxes.filter((one) => this.#dotOps.has(one));
    if (early.isAhead) {
      if (!this.#endsWithSum) this.#freeBehind();
      if (early.awaitsFirst) this.#awaitNext();
      for (const one of own) this.#start(one);
      return;
    }
    const first = this.#round.behind === undefined ? [] : own.slice(0, early.dots);
    if (first.length > 0) {
      const vectors = new Set<Op>(early.vectors.map(({ load }) => load));
      this.#dots.awaitVectors(this.#build, first);
      this.#emitSteps(({ from }) => vectors.has(from));
      for (const one of first) this.#start(one);
      this.#waitFor(isBehind);
    }
    if (early.dots === 0) { for (const one of own) this.#dots.await(this.#build, one); }
    for (const one of own.slice(first.length)) this.#start(one);
    this.#dots.awaitVectors(this.#build);
  }

  /** Starts a dot that adds to a sum, after what its operand a needs. */
  #startLater(one: ChainDot): void {
    const { early, phases } = this.#overlap;
    const op = this.#dotOf(one);
    const needed = needs(operandsOf(op).a, this.#left.map((step) => step.op));
    this.#emitSteps((step) => needed.has(step.op));
    if (early.isAhead) {
      this.#awaitNext();
      if (one === phases.later.flat().at(-1)) this.#readNext();
    }
    this.#start(one);
  }

  /** Dots that add to sums are never ahead, and `#begin` leaves out the dot of boxes that is. */
  #dotOf(one: ChainDot): OpOf<"dot"> {
    return must(this.#dotOps.get(one), "dot");
  }

  #start(one: ChainDot): void {
    const op = this.#dotOf(one);
    const result = this.#dots.start(this.#build, one, operandsIn(op, this.#taken));
    this.#taken.set(resultOf(op), result);
    this.#underWay.push(result);
  }

  /** Waits for the next iteration's first boxes, and reads vectors of this one, while few dots keep that waiting. */
  #awaitNext(): void {
    this.#nextDots?.awaitVectors(this.#build, this.#overlap.phases.ofBoxes.slice(0, 1));
    this.#emitSteps(({ op }) => op.name === "local_load");
  }

  #readNext(): void {
    if (this.#nextDots === undefined) return;
    this.#vectors = readVectors(this.#overlap, this.#build, this.#nextDots);
  }

  /** Starts the first dot of the next iteration in the registers of this one's. */
  #startNext(): void {
    const { ofBoxes: [one], held: [held = []] } = this.#overlap.phases;
    const [own] = this.#round.ahead;
    if (this.#nextDots === undefined || one === undefined || own === undefined) return;
    this.#awaitNext();
    for (const value of held) {
      const copy = this.#known.get(value) ?? value;
      this.#taken.set(copy, this.#build.value("hold", [copy, own], copy.type));
    }
    this.#sum = this.#nextDots.start(this.#build, one, { a: own, sum: own }, true);
    this.#underWay.push(this.#sum);
  }

  /** Emits operations that are left. */
  #emitSteps(isMeant: (step: Step) => boolean): void {
    const steps = this.#left.filter(isMeant);
    this.#left = this.#left.filter((step) => !steps.includes(step));
    for (const { op } of steps) {
      replaceOperands(op, this.#taken);
      // A branch while a dot is under way would make ptxas wait for it.
      this.#waitFor((group) => group !== undefined && (op.name === "if" || reads(op, group)));
      this.#build.out.push(op);
    }
  }

  /** Waits for the last dot that is so, and all that were started before. */
  #waitFor(isAwaited: (group: Group) => boolean): void {
    const last = this.#underWay.findLastIndex(isAwaited);
    if (last >= 0) this.#wait(this.#underWay.length - 1 - last);
  }

  /** Waits until so many dots are under way. When no sum of the iteration before is, its slots are free. */
  #wait(pending: number): void {
    this.#build.effect("wait_dots", [], { pending });
    const done = this.#underWay.splice(0, this.#underWay.length - pending);
    if (done.some(isBehind)) this.#freeBehind();
  }

  #freeBehind(): void {
    const { early } = this.#overlap;
    // Sums of the iteration before are under way only where it has a slot; rounds with work ahead have one, or -1.
    const behind = must(this.#round.behind, "slot");
    if (!early.isAhead) return freeSlots(this.#overlap, this.#build, behind);
    const isNone = this.#build.value("lt", [behind, this.#build.int(0)], scalarType("bool"));
    this.#build.unless(isNone, (inside) => freeSlots(this.#overlap, inside, behind));
  }
}

/** Says that nothing reads the slots of an iteration any more. */
export function freeSlots({ plan, rings }: Overlap, build: ScheduleBuilder, slot: Value): void {
  for (const box of plan.boxes) {
    const { empty } = ringOf(rings, box);
    if (box.kind === "vector" || empty === undefined) continue;
    const reads = vectorsBeside(plan, box).length > 0;
    build.effect("mbarrier_arrive", [empty, slot], reads ? { reads } : {});
  }
}

/** Whether an operation or one inside of it takes a value. */
function reads(op: Op, value: Value): boolean {
  return op.operands.includes(value) ||
    op.regions.some(({ ops }) => ops.some((inner) => reads(inner, value)));
}

/** Those of the operations that a value needs. */
function needs(value: Value, ops: readonly Op[]): ReadonlySet<Op> {
  const needed = new Set<Op>();
  const wanted = new Set([value]);
  for (const op of ops.toReversed()) {
    if (!op.results.some((result) => wanted.has(result))) continue;
    needed.add(op);
    addOperands(op, wanted);
  }
  return needed;
}

function addOperands(op: Op, wanted: Set<Value>): void {
  for (const operand of op.operands) wanted.add(operand);
  for (const { ops } of op.regions) for (const inner of ops) addOperands(inner, wanted);
}
