/**
 * A chain of dots of which some are of loaded boxes alone, and the others add to sums that the loop carries and that
 * nothing else uses: the derivatives of attention. The dots of boxes are started first, each other one as soon as its
 * operand a is there, and what needs a result waits for no later dot.
 *
 *     while (test) {
 *       while (test && is plain) {
 *         start the dots of boxes
 *         for each other dot: what its operand a needs, with waits for the dots of boxes; start it
 *         what is left; wait for all dots and free the slots
 *       }
 *       while (test && is not plain) the same
 *     }
 *
 * Where there are registers for it (early_work.ts), the sums of an iteration are waited for in the next one, of which
 * as many dots are started before as have registers. One iteration is then done before the two inner loops, so that
 * each in them has one to wait for.
 *
 * Vectors that the iteration loads come with its boxes (chain_vectors.ts).
 *
 * A branch while a dot is under way would make ptxas wait for it. So where a scalar decides about a branch of the loop,
 * as where elements are masked, there is an inner loop for each of its sides; plain are those that take the cheaper
 * one.
 */
import { branchOf, loopOf } from "../../ir/flow.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { countUses } from "../../ir/walk.ts";
import { parametersNeeded, replacing } from "../backward_slice.ts";
import { type Branch, continuesOn, copyOn, type Side } from "./branch_sides.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import {
  ChainDots,
  operandsIn,
  plansByDot,
  replaceOperands,
  type Rewritten,
} from "./chain_dots.ts";
import { type ChainDot, type ChainPlan, ringOf, type Rings, vectorsBeside } from "./chain_plan.ts";
import { type EarlyWork, earlyWork } from "./early_work.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";

/** Dots with which starting them early pays; of two, rotated_chain.ts starts one an iteration earlier. */
const LEAST_DOTS = 3;

/** A chain that overlaps. */
interface Overlap {
  readonly plan: ChainPlan;
  readonly rings: Rings;
  readonly branch: Branch | undefined;
  readonly early: EarlyWork;
}

/** What the loop carries before an iteration, its position, and that of the one before it if its sums are under way. */
interface Round {
  readonly state: readonly Value[];
  readonly at: Position;
  readonly behind: Position | undefined;
}

/** Whether the dots of a loop overlap. */
export function overlaps(plan: ChainPlan): boolean {
  return branchesOf(plan) !== undefined && areAccumulated(plan);
}

/** Whether an iteration is apart, before the others, and waits itself for boxes from outside of the loop. */
export function takesFirstApart(plan: ChainPlan): boolean {
  return plan.programs === undefined && overlaps(plan) && earlyWork(plan).dots > 0;
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
  const overlap: Overlap = { plan, rings, branch: branches[0], early: earlyWork(plan) };
  const state = [...body.params];
  const { inBody: at, yields, results } = carry(plan, start);
  // All is made of copies, before the loop changes.
  const build = new ScheduleBuilder(func, [], loop.span);
  let round: Round = { state, at, behind: undefined };
  if (overlap.early.dots > 0) round = iteration(overlap, build, round, "both");
  if (overlap.branch === undefined) round = repeat(overlap, build, round, "both");
  else for (const side of ["plain", "other"] as const) round = repeat(overlap, build, round, side);
  if (round.behind !== undefined) finish(overlap, build, round.behind, 0);
  yields(round.at);
  end.operands.splice(0, state.length, ...round.state);
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

/** The iterations that follow and take a side; gives the round after them. */
function repeat(overlap: Overlap, build: ScheduleBuilder, first: Round, side: Side): Round {
  // Sums that are under way cannot move to the registers of a loop.
  if (first.behind !== undefined) build.effect("wait_dots", [], { pending: 0 });
  return build.loop(
    first,
    (test, { state }) => continuesOn(test, overlap.plan, overlap.branch, state, side),
    (inside, round) => iteration(overlap, inside, round, side),
  );
}

/** An operation of an iteration, and its plan if it is a dot. */
interface Step {
  readonly op: Op;
  readonly one: ChainDot | undefined;
}

interface DotStep {
  readonly op: OpOf<"dot">;
  readonly one: ChainDot;
}

/** One iteration; gives the round of the next one. */
function iteration(
  overlap: Overlap,
  build: ScheduleBuilder,
  { state, at, behind }: Round,
  side: Side,
): Round {
  const { plan, rings, early } = overlap;
  const { body, repeated } = loopOf(plan.loop);
  const known = replacing(body, state);
  const isApart = behind === undefined && early.dots > 0;
  const dots = new ChainDots(plan, rings, at, isApart && plan.programs === undefined);
  const steps = stepsOf(overlap, known, side, dots);
  /** What takes the places of results of dots, in the order in which those were started; so many of them are done. */
  const started = new Map<Value, Value>();
  let done = 0;
  const start = ({ op, one }: DotStep): void => {
    started.set(resultOf(op), dots.start(build, one, operandsIn(op, started)));
  };
  const emit = (op: Op): void => {
    const last = op.name === "if"
      ? started.size - 1
      : [...started.keys()].findLastIndex((result) => reads(op, result));
    if (last >= done) {
      done = last + 1;
      build.effect("wait_dots", [], { pending: started.size - done });
    }
    replaceOperands(op, started);
    build.out.push(op);
  };
  let left = steps.filter(({ one }) => one === undefined).map(({ op }) => op);
  const emitFor = (value: Value): void => {
    const needed = needs(value, left);
    left.filter((op) => needed.has(op)).forEach(emit);
    left = left.filter((op) => !needed.has(op));
  };
  const dotSteps = (isOfBoxes: boolean): DotStep[] =>
    steps.flatMap(({ op, one }) =>
      op.name === "dot" && one !== undefined && (one.a !== undefined) === isOfBoxes
        ? [{ op, one }]
        : []
    );
  const ofBoxes = dotSteps(true);
  const later = dotSteps(false);
  /** Reads what the operand of a dot needs of vectors. */
  const readFor = (step: DotStep): void => {
    const needed = needs(operandsOf(step.op).a, left);
    const reads = left.filter((op) => op.name === "local_load" && needed.has(op));
    reads.forEach(emit);
    left = left.filter((op) => !reads.includes(op));
  };
  if (behind !== undefined) {
    const first = ofBoxes.slice(0, early.dots);
    dots.awaitVectors(build, first.map(({ one }) => one));
    later.slice(0, early.reads).forEach(readFor);
    first.forEach(start);
    finish(overlap, build, behind, started.size);
  } else if (!isApart) ofBoxes.forEach(({ one }) => dots.await(build, one));
  ofBoxes.slice(started.size).forEach(start);
  dots.awaitVectors(build);
  for (const step of later) {
    emitFor(operandsOf(step.op).a);
    start(step);
  }
  left.forEach(emit);
  if (early.dots === 0) finish(overlap, build, at, 0);
  // The operands of all but the last are free for what the next iteration begins with.
  else if (later.length > 1) build.effect("wait_dots", [], { pending: 1 });
  const valueOf = (value: Value): Value => {
    const copy = known.get(value) ?? value;
    return started.get(copy) ?? copy;
  };
  return {
    state: repeated.map(valueOf),
    at: nextPosition(build, plan, at),
    behind: early.dots > 0 ? at : undefined,
  };
}

/**
 * Waits for the dots of an iteration, after which so many others were started, and says that nothing reads its slots
 * any more.
 */
function finish(
  { plan, rings }: Overlap,
  build: ScheduleBuilder,
  { slot }: Position,
  pending: number,
): void {
  build.effect("wait_dots", [], { pending });
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

/** Copies of the operations of an iteration that takes a side of the branch; vectors come from their slots. */
function stepsOf(
  { plan, branch }: Overlap,
  known: Map<Value, Value>,
  side: Side,
  dots: ChainDots,
): Step[] {
  const { func, loop } = plan;
  const byDot = plansByDot(plan);
  return loopOf(loop).body.ops.slice(0, -1).flatMap((op): Step[] => {
    const read = dots.readVector(op);
    if (read !== undefined) {
      known.set(resultOf(op), resultOf(read));
      return [{ op: read, one: undefined }];
    }
    return copyOn(func, op, branch, side, known).map((copy) => ({ op: copy, one: byDot.get(op) }));
  });
}
