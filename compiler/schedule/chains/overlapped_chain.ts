/**
 * A chain of dots of which some are of loaded boxes alone, and the others add to sums that the loop carries and that
 * nothing else uses: the derivatives of attention. The dots of boxes are started first, each other one as soon as its
 * operand a is there, and what needs a result waits for no later dot.
 *
 *     while (test) {
 *       the first iteration, whose sums are waited for in the next one
 *       while (test && is plain) iteration, with the branch's cheaper side
 *       while (test && is not plain) iteration, with its other side
 *       wait for the sums
 *     }
 *
 * Where there are registers for it (early_work.ts), the first dot is ahead of the others:
 *
 *     while (test) {
 *       start the first dot of boxes
 *       while (there is an iteration after this one) {
 *         while (there is one, and this one is plain) iteration, which starts the first dot of the next one
 *         while (there is one, and this one is not plain) the same
 *       }
 *       the last iteration
 *     }
 *
 * What an iteration is: overlapped_iteration.ts.
 *
 * Vectors that the iteration loads come with its boxes (chain_vectors.ts).
 *
 * A branch while a dot is under way would make ptxas wait for it. So where a scalar decides about a branch of the loop,
 * as where elements are masked, there is an inner loop for each of its sides; plain are those that take the cheaper
 * one.
 */
import { branchOf, loopOf } from "../../ir/flow.ts";
import type { Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { countUses } from "../../ir/walk.ts";
import { zip } from "../../support/zip.ts";
import { copySlice, parametersNeeded, replacing } from "../backward_slice.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { pick } from "../pipeline/prefetch.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";
import { type Branch, continuesOn, type Side, takesSide } from "./branch_sides.ts";
import type { Rewritten } from "./chain_dots.ts";
import { phasesOf } from "./chain_phases.ts";
import type { ChainDot, ChainPlan, Rings } from "./chain_plan.ts";
import { earlyWork } from "./early_work.ts";
import {
  freeSlots,
  type Overlap,
  OverlappedIteration,
  type Round,
  startAhead,
} from "./overlapped_iteration.ts";

/** Dots with which starting them early pays; of two, rotated_chain.ts starts one an iteration earlier. */
const LEAST_DOTS = 3;

/** Whether the dots of a loop overlap. */
export function overlaps(plan: ChainPlan): boolean {
  return branchesOf(plan) !== undefined && areAccumulated(plan);
}

/** Whether what begins before the loops waits itself for boxes from outside of them: the first iteration, or its first dot. */
export function takesFirstApart(plan: ChainPlan): boolean {
  return plan.programs === undefined && overlaps(plan) && earlyWork(plan, phasesOf(plan)).dots > 0;
}

/** The loop with dots that overlap; undefined where these do not allow it. */
export function overlapChain(
  plan: ChainPlan,
  rings: Rings,
  start: Position,
): Rewritten | undefined {
  const branches = branchesOf(plan);
  if (branches === undefined || !areAccumulated(plan)) return undefined;
  const { func, loop } = plan;
  const { body, end } = loopOf(loop);
  const phases = phasesOf(plan);
  const early = earlyWork(plan, phases);
  const overlap: Overlap = { plan, rings, branch: branches[0], early, phases };
  const state = [...body.params];
  const { inBody, yields, results } = carry(plan, start);
  // All is made of copies, before the loop changes.
  const build = new ScheduleBuilder(func, [], loop.span);
  const first = begin(overlap, build, state, inBody);
  const last = loops(overlap, build, first);
  const done = finish(overlap, build, last);
  yields(done.at);
  end.operands.splice(0, state.length, ...done.state);
  body.ops = [...build.out, end];
  return { ops: [loop], end: results };
}

/** The branch of a loop, if it has one that a scalar decides which is known before the iteration; undefined: it has others. */
function branchesOf({ loop, slots }: ChainPlan): readonly Branch[] | undefined {
  const { test, body, leaving } = loopOf(loop);
  // The next iteration's boxes come while this one's are read.
  if (slots < 2 || leaving.some((value, i) => value !== test.params[i])) return undefined;
  const branches = body.ops.flatMap((op): Branch[] => {
    if (op.name !== "if") return [];
    const { then, otherwise } = branchOf(op);
    return [{ op, isThen: then.ops.length <= otherwise.ops.length }];
  });
  const areKnown = branches.every(({ op }) =>
    parametersNeeded(body, [branchOf(op).condition], false) !== undefined
  );
  const hasLoop = body.ops.some(({ name }) => name === "while");
  return branches.length > 1 || !areKnown || hasLoop ? undefined : branches;
}

/** Whether dots whose operand a is computed add to what the loop carries, the others do not, and there are both. */
function areAccumulated({ func, loop, dots }: ChainPlan): boolean {
  const { body, repeated } = loopOf(loop);
  const uses = countUses(func);
  const isAccumulated = ({ dot }: ChainDot): boolean => {
    const { sum } = operandsOf(dot);
    const result = resultOf(dot);
    const place = body.params.indexOf(sum);
    return place >= 0 && repeated[place] === result && uses.get(sum) === 1 &&
      uses.get(result) === 1;
  };
  const later = dots.filter(({ a }) => a === undefined);
  return dots.length >= LEAST_DOTS && later.length > 0 && later.every(isAccumulated) &&
    dots.every(({ dot, a }) =>
      a === undefined || madeBy(operandsOf(dot).sum, "constant") !== undefined
    );
}

/** The loops over iterations. */
function loops(overlap: Overlap, build: ScheduleBuilder, first: Round): Round {
  const { branch, early } = overlap;
  if (branch === undefined) return repeatSide(overlap, build, first, "both");
  const sides = (inside: ScheduleBuilder, round: Round): Round =>
    repeatSide(overlap, inside, repeatSide(overlap, inside, round, "plain"), "other");
  // A loop around them saves what is before and after them where sides take turns. Other chains need its registers.
  if (!early.isAhead) return sides(build, first);
  return repeat(overlap, build, first, "both", (inside, round) => {
    const last = sides(inside, round);
    // Sums that are under way cannot move to the registers of another loop.
    inside.effect("wait_dots", [], { pending: 0 });
    return last;
  });
}

/** What is before the loops: what is ahead of the first iteration, or the first one as a whole, if one begins early. */
function begin(
  overlap: Overlap,
  build: ScheduleBuilder,
  state: readonly Value[],
  at: Position,
): Round {
  const { early } = overlap;
  if (early.isAhead) return startAhead(overlap, build, state, at);
  const round: Round = { state, ahead: [], at, behind: undefined };
  return early.dots > 0 ? iterate(overlap, build, round, "both") : round;
}

/** What is after the loops: the last iteration, or what is under way of it. */
function finish(overlap: Overlap, build: ScheduleBuilder, round: Round): Round {
  const { early, plan } = overlap;
  if (early.isAhead) {
    const { state, ahead } = new OverlappedIteration(overlap, build, round, "both").emit();
    const at = nextPosition(build, plan, round.at);
    return { state, ahead, at, behind: undefined };
  }
  if (round.behind !== undefined) {
    build.effect("wait_dots", [], { pending: 0 });
    freeSlots(overlap, build, round.behind);
  }
  return round;
}

/** An iteration, which starts what is ahead of the next one. */
function iterate(overlap: Overlap, build: ScheduleBuilder, round: Round, side: Side): Round {
  const { early, plan } = overlap;
  const at = nextPosition(build, plan, round.at);
  const next = early.isAhead ? at : undefined;
  const done = new OverlappedIteration(overlap, build, round, side, next).emit();
  return { ...done, at, behind: early.dots > 0 ? round.at.slot : undefined };
}

/** The iterations that take a side, but for the last one if something is ahead of it. */
const repeatSide = (overlap: Overlap, build: ScheduleBuilder, first: Round, side: Side): Round =>
  repeat(
    overlap,
    build,
    first,
    side,
    (inside, round) => iterate(overlap, inside, round, side),
  );

/** A loop over rounds, while there is an iteration for it. */
function repeat(
  overlap: Overlap,
  build: ScheduleBuilder,
  first: Round,
  side: Side,
  step: (inside: ScheduleBuilder, round: Round) => Round,
): Round {
  // Sums that are under way cannot move to the registers of a loop.
  if (first.behind !== undefined) build.effect("wait_dots", [], { pending: 0 });
  return build.loop(first, (test, { state }) => continues(overlap, test, state, side), step);
}

/** Whether there is an iteration with this state, and one after it if something is ahead of that, and it takes a side. */
function continues(
  { plan, branch, early }: Overlap,
  build: ScheduleBuilder,
  state: readonly Value[],
  side: Side,
): Value {
  if (!early.isAhead) return continuesOn(build, plan, branch, state, side);
  const { test, continues: runs } = loopOf(plan.loop);
  const isFollowed = copySlice(plan.func, test, nextState(plan, build, state), build.out)(runs);
  if (branch === undefined || side === "both") return isFollowed;
  return build.both(isFollowed, takesSide(build, plan, branch, state, side));
}

/** What enters the test after an iteration, as far as the test needs it. */
function nextState(
  { func, loop, carried }: ChainPlan,
  build: ScheduleBuilder,
  state: readonly Value[],
): Map<Value, Value> {
  const { test, body, repeated } = loopOf(loop);
  const copy = copySlice(func, body, replacing(body, state), build.out);
  const next = pick(repeated, carried.entering).map(copy);
  return new Map(zip(pick(test.params, carried.entering), next));
}
