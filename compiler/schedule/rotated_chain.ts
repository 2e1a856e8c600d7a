/**
 * A chain of dots whose last one takes what the others have led to, in rounds that overlap: the first dot of the next
 * iteration is started before the last one of this iteration, so that the tensor cores multiply while threads compute.
 *
 *     while (test) {
 *       if (all is plain) {
 *         head of the iteration
 *         while (test && all is plain) {
 *           start the first dot of the next iteration; start the last dot of this one; wait for the first
 *           the rest of the next iteration's head, up to what needs the sum of the last dot; wait for that; the rest
 *         }
 *         last dot
 *       } else {
 *         the iteration, one dot after the other
 *       }
 *     }
 *
 * A branch while a dot is under way would make ptxas wait for it. So where a scalar decides about a branch of the loop, as
 * where elements are masked, iterations that take its cheaper side are plain, and the others are done alone. Without such
 * branches the rounds are all there is: `if (test)` stands in place of the loop.
 */
import { branchOf, loopOf } from "../ir/flow.ts";
import { newOp, newValue, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { countUses, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import { copySlice, parametersNeeded } from "./backward_slice.ts";
import { ScheduleBuilder } from "./builder.ts";
import {
  ChainDots,
  multiplyInLoop,
  multiplyOnce,
  nextPosition,
  operandsIn,
  plansByDot,
  type Position,
  positionValues,
  replaceOperands,
} from "./chain_dots.ts";
import type { ChainDot, ChainPlan, Rings } from "./chain_plan.ts";
import { copyOps } from "../ir/copy_ops.ts";
import { carry } from "./prefetch.ts";

/** A branch of a loop, and which side the overlapping rounds take. */
interface Skipped {
  readonly op: OpOf<"if">;
  readonly isThen: boolean;
}

interface Rotation {
  /** The dot that is done an iteration later, and the place of its sum among what the loop carries. */
  readonly last: ChainDot;
  readonly place: number;
  readonly skipped: readonly Skipped[];
  /** Operations that need the sum of the last dot. */
  readonly late: ReadonlySet<Op>;
}

/** The loop as it is, or with overlapping rounds where the dots allow them. */
export function multiplyChain(plan: ChainPlan, rings: Rings, start: Position): Op[] {
  const rotation = planRotation(plan);
  if (rotation === undefined) {
    multiplyInLoop(plan, rings, start);
    return [plan.loop];
  }
  const rounds = new Rounds(plan, rings, rotation);
  return rotation.skipped.length === 0
    ? roundsAlone(plan, rounds, start)
    : roundsInLoop(plan, rings, rounds, start);
}

/** Rounds in place of the loop. */
function roundsAlone(plan: ChainPlan, rounds: Rounds, start: Position): Op[] {
  const { func, loop } = plan;
  const { initial } = loopOf(loop);
  const before = new ScheduleBuilder(func, [], loop.span);
  const then = new ScheduleBuilder(func, [], loop.span);
  const results = rounds.build(then, initial, start);
  const otherwise = new ScheduleBuilder(func, [], loop.span);
  otherwise.effect("yield", [...initial, start.slot, start.parity]);
  const made = choose(before, rounds.test(before, initial), then, results, otherwise);
  replaceResults(plan, made.results);
  return before.out;
}

/** Rounds in the loop, for as many iterations as are plain. */
function roundsInLoop(plan: ChainPlan, rings: Rings, rounds: Rounds, start: Position): Op[] {
  const { func, loop } = plan;
  const { body, end } = loopOf(loop);
  const state = [...body.params];
  const { inBody: [slot, parity], yields } = carry(plan, [start.slot, start.parity]);
  const at: Position = { slot: must(slot, "slot"), parity: must(parity, "phase") };
  // The rounds are made of copies, before the loop changes.
  const then = new ScheduleBuilder(func, [], loop.span);
  const results = rounds.build(then, state, at);
  const before = new ScheduleBuilder(func, [], loop.span);
  const isPlain = rounds.plain(before, state);
  const alone = multiplyOnce(plan, rings, at);
  alone.effect("yield", [...end.operands, ...positionValues(nextPosition(alone, plan, at))]);
  const made = choose(before, isPlain, then, results, alone);
  yields(made.results.slice(state.length));
  end.operands.splice(0, state.length, ...made.results.slice(0, state.length));
  body.ops = [...before.out, end];
  return [loop];
}

/** A branch whose sides give what the loop carries, and the position; the other side yields that already. */
function choose(
  build: ScheduleBuilder,
  condition: Value,
  then: ScheduleBuilder,
  results: readonly Value[],
  otherwise: ScheduleBuilder,
): Op {
  then.effect("yield", results);
  const types = results.map(({ type }) => type);
  const regions = [then, otherwise].map(({ out }): Region => ({ params: [], ops: out }));
  const made = newOp(build.func, "if", [condition], types, build.span, {}, regions);
  build.out.push(made);
  return made;
}

/** Lets users of the loop's results take the first of other values. */
function replaceResults({ func, loop }: ChainPlan, values: readonly Value[]): void {
  const known = new Map(zip(loop.results, values.slice(0, loop.results.length)));
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
  const skipped: Skipped[] = [];
  for (const op of body.ops) {
    if (op.name === "while") return undefined;
    if (op.name !== "if") continue;
    const { condition, then, otherwise } = branchOf(op);
    if (late.has(op) || parametersNeeded(body, [condition], false) === undefined) return undefined;
    skipped.push({ op, isThen: then.ops.length <= otherwise.ops.length });
  }
  return { last, place, skipped, late };
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

  /** Whether an iteration with this state belongs to the rounds. */
  test(build: ScheduleBuilder, state: readonly Value[]): Value {
    const { func, loop } = this.#plan;
    const { test, continues } = loopOf(loop);
    const copyTest = copySlice(func, test, replacing(test, state), build.out);
    const runs = copyTest(continues);
    return this.#rotation.skipped.length === 0 ? runs : build.both(runs, this.plain(build, state));
  }

  /** Whether an iteration with this state takes no branch. */
  plain(build: ScheduleBuilder, state: readonly Value[]): Value {
    const { func, loop } = this.#plan;
    const { body } = loopOf(loop);
    const copyBody = copySlice(func, body, replacing(body, state), build.out);
    return this.#rotation.skipped.map(({ op, isThen }) => {
      const condition = copyBody(branchOf(op).condition);
      return isThen ? condition : build.value("not", [condition], condition.type);
    }).reduce((all, one) => build.both(all, one));
  }

  /** All rounds; gives what the loop carries after them, and the position. */
  build(build: ScheduleBuilder, initial: readonly Value[], start: Position): readonly Value[] {
    const { last } = this.#rotation;
    const first = this.#head(build, initial, start);
    const ahead = nextPosition(build, this.#plan, start);
    const loop = this.#loop(build, first, { ahead, behind: start });
    const dots = new ChainDots(this.#plan, this.#rings, loop.behind);
    const sum = dots.start(build, last, loop.pending);
    build.effect("wait_dots", [], { pending: 0 });
    dots.free(build, last);
    return [...loop.state.with(this.#rotation.place, sum), ...positionValues(loop.ahead)];
  }

  /** An iteration up to its last dot, each dot done before what follows. */
  #head(build: ScheduleBuilder, state: readonly Value[], at: Position): Pending {
    const copy = this.#copyBody(state);
    const known = new ChainDots(this.#plan, this.#rings, at)
      .inOrder(build, copy.ops, (op) => copy.planOf.get(op));
    return this.#after(build, copy, known);
  }

  /** The rounds: each does the last dot of one iteration and the head of the next one. */
  #loop(
    build: ScheduleBuilder,
    { state, pending }: Pending,
    { ahead, behind }: { readonly ahead: Position; readonly behind: Position },
  ): Pending & { readonly ahead: Position; readonly behind: Position } {
    const { func, loop: { span } } = this.#plan;
    const { place } = this.#rotation;
    const size = state.length;
    // The pending sum has the place of the sum.
    const carry = (
      values: Pending,
      to: Position,
      from: Position,
    ): Value[] => [
      ...values.state.with(place, values.pending.sum),
      values.pending.a,
      ...positionValues(to),
      ...positionValues(from),
    ];
    const taken = (values: readonly Value[]): Pending & {
      readonly ahead: Position;
      readonly behind: Position;
    } => {
      const [a, slot, parity, oldSlot, oldParity] = values.slice(size);
      return {
        state: values.slice(0, size),
        pending: { a: must(a, "operand"), sum: must(values[place], "sum") },
        ahead: { slot: must(slot, "slot"), parity: must(parity, "phase") },
        behind: { slot: must(oldSlot, "slot"), parity: must(oldParity, "phase") },
      };
    };
    const initial = carry({ state, pending }, ahead, behind);
    const types = initial.map(({ type }) => type);
    const [enter, body] = [0, 1].map(() => types.map((type) => newValue(func, type)));
    const [entering, params] = [must(enter, "parameters"), must(body, "parameters")];
    const test = new ScheduleBuilder(func, [], span);
    test.effect("condition", [this.test(test, entering.slice(0, size)), ...entering]);

    const inside = new ScheduleBuilder(func, [], span);
    const round = taken(params);
    const next = this.#round(inside, round);
    const following = nextPosition(inside, this.#plan, round.ahead);
    inside.effect("yield", carry(next, following, round.ahead));
    const regions: Region[] = [
      { params: entering, ops: test.out },
      { params, ops: inside.out },
    ];
    const made = newOp(func, "while", initial, types, span, {}, regions);
    build.out.push(made);
    return taken(made.results);
  }

  #round(
    build: ScheduleBuilder,
    { state, pending, ahead, behind }: Pending & {
      readonly ahead: Position;
      readonly behind: Position;
    },
  ): Pending {
    const { func, loop: { span } } = this.#plan;
    const { last, place } = this.#rotation;
    const [old, dots] = [behind, ahead].map((at) => new ChainDots(this.#plan, this.#rings, at));
    const [lastDots, headDots] = [must(old, "dots"), must(dots, "dots")];
    const started = new ScheduleBuilder(func, [], span);
    const sum = lastDots.start(started, last, pending);
    const copy = this.#copyBody(state.with(place, sum));
    let isUnderWay = false;
    let isDone = false;
    const finish = (): void => {
      if (isDone) return;
      isDone = true;
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

  /** A copy of the body but for its last dot and the branches that the rounds skip. */
  #copyBody(state: readonly Value[]): BodyCopy {
    const { func, loop } = this.#plan;
    const { body } = loopOf(loop);
    const { last, skipped, late } = this.#rotation;
    const byDot = plansByDot(this.#plan);
    const known = replacing(body, state);
    const copy: BodyCopy = { ops: [], planOf: new Map(), late: new Set(), known };
    for (const op of body.ops.slice(0, -1)) {
      if (op === last.dot) continue;
      const skip = skipped.find((one) => one.op === op);
      if (skip !== undefined) {
        const { then, otherwise, thenValues, otherwiseValues } = branchOf(skip.op);
        const side = skip.isThen ? then : otherwise;
        copy.ops.push(...copyOps(func, side.ops.slice(0, -1), known));
        for (
          const [result, value] of zip(op.results, skip.isThen ? thenValues : otherwiseValues)
        ) {
          known.set(result, known.get(value) ?? value);
        }
        continue;
      }
      const copies = copyOps(func, [op], known);
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
  ): Pending {
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

/** What takes the places of a region's first parameters; the loop may carry more by now. */
function replacing({ params }: Region, values: readonly Value[]): Map<Value, Value> {
  return new Map(zip(params.slice(0, values.length), values));
}

/** The state after the head of an iteration, and what its last dot takes. */
interface Pending {
  readonly state: readonly Value[];
  readonly pending: { readonly a: Value; readonly sum: Value };
}

interface BodyCopy {
  readonly ops: Op[];
  readonly planOf: Map<Op, ChainDot>;
  readonly late: Set<Op>;
  readonly known: Map<Value, Value>;
}
