/**
 * A chain of dots whose last one takes what the others have led to, in rounds that overlap: the first dot of the next
 * iteration is started before the last one of this iteration, so that the tensor cores multiply while threads compute.
 *
 *     if (test) {
 *       head of the iteration
 *       while (test) {
 *         while (test && is plain) round, with the branch's cheaper side
 *         while (test && is not plain) round, with its other side
 *       }
 *       last dot
 *     }
 *
 * A round: start the first dot of the next iteration; start the last dot of this one; wait for the first; the rest of
 * the next iteration's head, up to what needs the sum of the last dot; wait for that; the rest.
 *
 * Where the way to the last dot is long, its rest is done before the wait (powers_first.ts).
 *
 * A branch while a dot is under way would make ptxas wait for it. So where a scalar decides about a branch of the loop,
 * as where elements are masked, there is a loop for each of its sides. Without a branch the inner loop is all there is.
 */
import { branchOf, loopOf } from "../../ir/flow.ts";
import type { Op, Region, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { countUses, walkOps } from "../../ir/walk.ts";
import { zip } from "../../support/zip.ts";
import { parametersNeeded, replacing } from "../backward_slice.ts";
import { type Branch, continuesOn, copyOn, type Side } from "./branch_sides.ts";
import { ScheduleBuilder } from "../builder.ts";
import {
  ChainDots,
  multiplyInLoop,
  operandsIn,
  plansByDot,
  replaceOperands,
  type Rewritten,
} from "./chain_dots.ts";
import type { ChainDot, ChainPlan, Rings } from "./chain_plan.ts";
import { powersComeFirst } from "./powers_first.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";

interface Rotation {
  /** The dot that is done an iteration later, and the place of its sum among what the loop carries. */
  readonly last: ChainDot;
  readonly place: number;
  readonly branch: Branch | undefined;
  /** Operations that need the sum of the last dot. */
  readonly late: ReadonlySet<Op>;
  /** What the others compute is done before the wait for the last dot. */
  readonly powersFirst: boolean;
}

/** The loop as it is, or overlapping rounds in its place where the dots allow them. */
export function multiplyChain(plan: ChainPlan, rings: Rings, start: Position): Rewritten {
  const rotation = planRotation(plan);
  if (rotation === undefined) {
    const end = multiplyInLoop(plan, rings, start);
    return { ops: [plan.loop], end };
  }
  const { func, loop } = plan;
  const { initial } = loopOf(loop);
  const rounds = new Rounds(plan, rings, rotation);
  const build = new ScheduleBuilder(func, [], loop.span);
  const { state, end } = build.choose(
    continuesOn(build, plan, rotation.branch, initial, "both"),
    (then) => rounds.build(then, initial, start),
    (): Rounded => ({ state: initial, end: start }),
  );
  replaceResults(plan, state);
  return { ops: build.out, end };
}

/** Lets users of the loop's results take other values. */
function replaceResults({ func, loop }: ChainPlan, values: readonly Value[]): void {
  const known = new Map(zip(loop.results, values));
  walkOps(func.body, (op) => {
    op.operands = op.operands.map((value) => known.get(value) ?? value);
  });
}

function planRotation(plan: ChainPlan): Rotation | undefined {
  const { func, loop, dots, slots } = plan;
  const { test, body, leaving, repeated } = loopOf(loop);
  const last = dots.at(-1);
  // The next iteration's boxes come while this one's are read.
  if (last === undefined || dots.length < 2 || last.a !== undefined || slots < 2) return undefined;
  if (leaving.some((value, i) => value !== test.params[i])) return undefined;
  const place = repeated.indexOf(resultOf(last.dot));
  const carried = body.params[place];
  if (plan.carried.entering.includes(place)) return undefined;
  if (carried === undefined || countUses(func).get(resultOf(last.dot)) !== 1) return undefined;
  const late = usersInside(body, carried);
  if (dots.some(({ dot }) => dot !== last.dot && late.has(dot))) return undefined;
  let branch: Branch | undefined;
  for (const op of body.ops) {
    if (op.name === "while") return undefined;
    if (op.name !== "if") continue;
    const { condition, then, otherwise } = branchOf(op);
    const isKnown = parametersNeeded(body, [condition], false) !== undefined;
    if (branch !== undefined || late.has(op) || !isKnown) return undefined;
    branch = { op, isThen: then.ops.length <= otherwise.ops.length };
  }
  return { last, place, branch, late, powersFirst: powersComeFirst(body, last.dot) };
}

/** The operations of a region that depend on a value. */
function usersInside(region: Region, value: Value): ReadonlySet<Op> {
  const tainted = new Set([value]);
  const users = new Set<Op>();
  const depends = (op: Op): boolean =>
    op.operands.some((operand) => tainted.has(operand)) ||
    op.regions.some(({ ops }) => ops.some(depends));
  for (const op of region.ops) {
    if (!depends(op)) continue;
    users.add(op);
    for (const result of op.results) tainted.add(result);
  }
  return users;
}

/** Builds the overlapping rounds. */
class Rounds {
  readonly #plan: ChainPlan;
  readonly #rings: Rings;
  readonly #rotation: Rotation;

  constructor(plan: ChainPlan, rings: Rings, rotation: Rotation) {
    this.#plan = plan;
    this.#rings = rings;
    this.#rotation = rotation;
  }

  /** All iterations, of which there is one at least; gives what the loop carries after them, and the position. */
  build(build: ScheduleBuilder, initial: readonly Value[], start: Position): Rounded {
    const { last } = this.#rotation;
    const first: Round = {
      ...this.#head(build, initial, start),
      ahead: nextPosition(build, this.#plan, start),
      behind: start,
    };
    const end = this.#rotation.branch === undefined
      ? this.#rounds(build, first, "both")
      : this.#repeat(build, first, "both", (inside, round) => {
        const next = this.#rounds(inside, round, "plain");
        return this.#rounds(inside, next, "other");
      });
    const dots = new ChainDots(this.#plan, this.#rings, end.behind);
    const sum = dots.start(build, last, end.pending);
    build.effect("wait_dots", [], { pending: 0 });
    dots.free(build, last);
    return { state: end.state.with(this.#rotation.place, sum), end: end.ahead };
  }

  /** An iteration up to its last dot, each dot done before what follows. */
  #head(build: ScheduleBuilder, state: readonly Value[], at: Position): Head {
    const copy = this.#copyBody(state, "both");
    const known = new ChainDots(this.#plan, this.#rings, at)
      .inOrder(build, copy.ops, (op) => copy.planOf.get(op));
    return this.#after(build, copy, known);
  }

  /** The rounds whose iterations take a side. */
  #rounds(build: ScheduleBuilder, first: Round, side: Side): Round {
    return this.#repeat(build, first, side, (inside, round) => ({
      ...this.#round(inside, round, side),
      ahead: nextPosition(inside, this.#plan, round.ahead),
      behind: round.ahead,
    }));
  }

  /** A loop over rounds, while the next iteration takes a side. */
  #repeat(
    build: ScheduleBuilder,
    first: Round,
    side: Side,
    step: (inside: ScheduleBuilder, round: Round) => Round,
  ): Round {
    const end = build.loop(
      this.#carriedOf(first),
      (test, values) => {
        const { state } = roundOf(values);
        return continuesOn(test, this.#plan, this.#rotation.branch, state, side);
      },
      (inside, values) => this.#carriedOf(step(inside, roundOf(values))),
    );
    return roundOf(end);
  }

  /** A round as a loop carries it: the pending sum has the place of the sum. */
  #carriedOf({ state, pending: { a, sum }, ahead, behind }: Round): CarriedRound {
    const { place } = this.#rotation;
    return { before: state.slice(0, place), sum, after: state.slice(place + 1), a, ahead, behind };
  }

  /** The last dot of one iteration and the head of the next one. */
  #round(
    build: ScheduleBuilder,
    { state, pending, ahead, behind }: Round,
    side: Side,
  ): Head {
    const { func, loop: { span } } = this.#plan;
    const { last, place, powersFirst } = this.#rotation;
    const dotsAt = (at: Position): ChainDots => new ChainDots(this.#plan, this.#rings, at);
    const [lastDots, headDots] = [dotsAt(behind), dotsAt(ahead)];
    const started = new ScheduleBuilder(func, [], span);
    const sum = lastDots.start(started, last, pending);
    const copy = this.#copyBody(state.with(place, sum), side);
    let isUnderWay = false;
    let isDone = false;
    const finish = (): void => {
      if (isDone) return;
      isDone = true;
      if (powersFirst) dotsAt(behind).await(build, last);
      build.effect("wait_dots", [], { pending: 0 });
      lastDots.free(build, last);
    };
    const replaced = new Map<Value, Value>();
    for (const op of copy.ops) {
      const one = copy.planOf.get(op);
      if (one !== undefined && op.name === "dot") {
        replaced.set(resultOf(op), headDots.start(build, one, operandsIn(op, replaced)));
        if (!isUnderWay) {
          build.out.push(...started.out);
          build.effect("wait_dots", [], { pending: 1 });
          isUnderWay = true;
        } else finish();
        if (isDone) build.effect("wait_dots", [], { pending: 0 });
        headDots.free(build, one);
        continue;
      }
      if (copy.late.has(op)) finish();
      build.out.push(op);
    }
    finish();
    return this.#after(build, copy, replaced);
  }

  /** A copy of the body but for its last dot, with a side of the branch in its place. */
  #copyBody(state: readonly Value[], side: Side): BodyCopy {
    const { func, loop } = this.#plan;
    const { body } = loopOf(loop);
    const { last, branch, late } = this.#rotation;
    const byDot = plansByDot(this.#plan);
    const known = replacing(body, state);
    const copy: BodyCopy = { ops: [], planOf: new Map(), late: new Set(), known };
    for (const op of body.ops.slice(0, -1)) {
      if (op === last.dot) continue;
      const copies = copyOn(func, op, branch, side, known);
      const planned = byDot.get(op);
      for (const one of copies) {
        if (planned !== undefined) copy.planOf.set(one, planned);
        if (late.has(op)) copy.late.add(one);
      }
      copy.ops.push(...copies);
    }
    return copy;
  }

  /** What an iteration leaves, with the operands of its last dot. */
  #after(
    build: ScheduleBuilder,
    { known, ops }: BodyCopy,
    replaced: ReadonlyMap<Value, Value>,
  ): Head {
    const { repeated } = loopOf(this.#plan.loop);
    const { last, place } = this.#rotation;
    for (const op of ops) replaceOperands(op, replaced);
    const valueOf = (value: Value): Value => {
      const copy = known.get(value) ?? value;
      return replaced.get(copy) ?? copy;
    };
    const { a, sum } = operandsOf(last.dot);
    const packed = build.value("pack", [valueOf(a)], a.type);
    const state = repeated.map((value, i) => valueOf(i === place ? sum : value));
    return { state, pending: { a: packed, sum: valueOf(sum) } };
  }
}

/** The state after the head of an iteration, and what its last dot takes. */
interface Head {
  readonly state: readonly Value[];
  readonly pending: { readonly a: Value; readonly sum: Value };
}

/** A head, the position of its boxes, and that of the next iteration's. */
interface Round extends Head {
  readonly ahead: Position;
  readonly behind: Position;
}

interface CarriedRound {
  /** Of the state: what is before the sum of the last dot, and after it. */
  readonly before: readonly Value[];
  readonly sum: Value;
  readonly after: readonly Value[];
  /** Operand a of the last dot. */
  readonly a: Value;
  readonly ahead: Position;
  readonly behind: Position;
}

const roundOf = ({ before, sum, after, a, ahead, behind }: CarriedRound): Round => ({
  state: [...before, sum, ...after],
  pending: { a, sum },
  ahead,
  behind,
});

/** The state after all rounds, and the position. */
interface Rounded {
  readonly state: readonly Value[];
  readonly end: Position;
}

interface BodyCopy {
  readonly ops: Op[];
  readonly planOf: Map<Op, ChainDot>;
  readonly late: Set<Op>;
  readonly known: Map<Value, Value>;
}
