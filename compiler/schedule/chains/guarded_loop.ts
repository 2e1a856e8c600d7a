/**
 * A loop whose dots are under conditions that a table gives, as for the blocks of a sparse matrix that are there:
 *
 *     while (test) {
 *       load the boxes
 *       if (condition) sum += a @ b
 *       if (another condition) another sum += another a @ b
 *     }
 *
 * Its boxes come like those of chained dots (chain_loop.ts), also those that a branch loads for itself. A slot that a
 * dot would read alone stays as it is where the dot is left out: a box beyond its tensor is zeros that nothing reads
 * from memory, but takes as long to copy as another one. Conditions are of the program, so all of its warp groups do
 * the same dots, each with a part of the columns:
 *
 *     while (test) {
 *       wait until the slots of the iteration are full
 *       for each dot: if (condition) {
 *         start it; wait for all dots before it
 *         if (it is the first of the iteration) arrive at the slots of the iteration before
 *       }
 *       if (no condition held) { wait for all dots; arrive at the slots of the iteration before }
 *     }
 *     wait for all dots; in a loop over programs: arrive at the slots of the last iteration
 *
 * A dot is under way meanwhile; ptxas lets it, since both ways of a branch leave its sums in the same registers
 * (lower/control.ts). Conditions are computed an iteration early, because their tables take a while to answer.
 */
import { branchOf, loopOf } from "../../ir/flow.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { zip } from "../../support/zip.ts";
import { ScheduleBuilder } from "../builder.ts";
import { carry } from "../carried.ts";
import { ChainDots, type Rewritten } from "./chain_dots.ts";
import type { ChainDot, ChainPlan, Rings } from "./chain_plan.ts";
import { addressState, copyOfIteration, firstIteration } from "../pipeline/prefetch.ts";
import { nextPosition, type Position } from "../warp_groups/ring_position.ts";

/** Puts the dots of warp groups into the loop. Of programs in turn, the last slots are free after it. */
export function multiplyGuarded(plan: ChainPlan, rings: Rings, start: Position): Rewritten {
  const { func, loop, guarded } = plan;
  const { body, end } = loopOf(loop);
  const builder = (): ScheduleBuilder => new ScheduleBuilder(func, [], loop.span);
  const [before, build, after] = [builder(), builder(), builder()];
  const conditions = conditionsAhead(plan, before);
  const isFirst = before.true();
  const ring = { at: start, behind: start.slot, isFirst };
  const { inBody: { at, behind, isFirst: first }, yields, results } = carry(plan, ring);
  const dots = new ChainDots(plan, rings, at);
  conditions(build);
  // A group that leaves out all dots of an iteration must not run ahead of its copies.
  for (const one of plan.dots) dots.await(build, one);
  for (const op of body.ops.slice(0, -1)) {
    build.out.push(op);
    const index = guarded.findIndex(({ branch }) => branch === op);
    const one = plan.dots[index];
    if (one === undefined || op.name !== "if") continue;
    // There are none yet, or a dot before this one has freed them.
    const areFree = [first, ...conditionsOf(plan).slice(0, index)];
    startInBranch(plan, dots, op, one, (inside) => {
      freeSlots(inside, rings, anyOf(inside, areFree), behind);
    });
  }
  build.unless(anyOf(build, conditionsOf(plan)), (inside) => {
    inside.effect("wait_dots", [], { pending: 0 });
    freeSlots(inside, rings, first, behind);
  });
  const isLater = build.value("constant", [], isFirst.type, { value: 0n });
  yields({ at: nextPosition(build, plan, at), behind: at.slot, isFirst: isLater });
  body.ops = [...build.out, end];
  after.effect("wait_dots", [], { pending: 0 });
  if (plan.programs !== undefined) freeSlots(after, rings, results.isFirst, results.behind);
  return { ops: [...before.out, loop, ...after.out], end: results.at };
}

/** Frees the slots of an iteration, unless there was none. */
function freeSlots(build: ScheduleBuilder, rings: Rings, hasNone: Value, slot: Value): void {
  build.unless(hasNone, (inside) => {
    for (const { empty } of rings.values()) {
      if (empty !== undefined) inside.effect("mbarrier_arrive", [empty, slot]);
    }
  });
}

/** Starts the dot of a branch; those before it are done then, and `free` may free the slots of the iteration before. */
function startInBranch(
  plan: ChainPlan,
  dots: ChainDots,
  branch: OpOf<"if">,
  one: ChainDot,
  free: (inside: ScheduleBuilder) => void,
): void {
  const { then, thenEnd } = branchOf(branch);
  const inside = new ScheduleBuilder(plan.func, [], one.dot.span);
  for (const op of then.ops) {
    if (op !== one.dot) {
      inside.out.push(op);
      continue;
    }
    thenEnd.operands = [dots.start(inside, one)];
    inside.effect("wait_dots", [], { pending: 1 });
    free(inside);
  }
  then.ops = inside.out;
}

const conditionsOf = ({ guarded }: ChainPlan): Value[] =>
  guarded.map(({ branch }) => branchOf(branch).condition);

const anyOf = (build: ScheduleBuilder, conditions: readonly Value[]): Value =>
  conditions.reduce((all, one) => build.value("or", [all, one], one.type));

/**
 * Lets the loop carry the conditions of its branches, computed an iteration early where they can be. Gives what
 * computes those of the next iteration.
 */
function conditionsAhead(
  { func, loop, guarded }: ChainPlan,
  before: ScheduleBuilder,
): (build: ScheduleBuilder) => void {
  const values = guarded.map(({ branch }) => branchOf(branch).condition);
  const carried = addressState(loop, values);
  if (carried === undefined) return () => {};
  const plan = { func, loop, carried };
  const first = copyOfIteration(plan, before, firstIteration(plan, before));
  const second = first.next();
  const { inBody: { conditions, runs, state }, yields } = carry(plan, {
    conditions: values.map(first.copy),
    runs: second.runs,
    state: second.state,
  });
  for (const [{ branch }, condition] of zip(guarded, conditions)) branch.operands = [condition];
  return (build) => {
    const { copy, next } = copyOfIteration(plan, build, { runs, state });
    const after = next();
    yields({ conditions: values.map(copy), runs: after.runs, state: after.state });
  };
}
