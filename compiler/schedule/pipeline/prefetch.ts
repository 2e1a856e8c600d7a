/**
 * Addresses of later iterations of a loop, and the copies that prefetch from them.
 *
 * They come from a copy of the loop's own address computation (schedule/backward_slice.ts): what the loop carries for
 * it is carried twice, and elements that it loads from tables are loaded once more. The loop's test is copied too: it
 * guards the copies, so that nothing is copied for an iteration after the last.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, OpOf, Value } from "../../ir/func.ts";
import { bug, must } from "../../support/bug.ts";
import { copySlice, type Needs, needsOf } from "../backward_slice.ts";
import type { ScheduleBuilder } from "../builder.ts";
import type { InBuffer, StagedOperand } from "../staged_operand.ts";
import { zip } from "../../support/zip.ts";

/** What a loop carries for addresses and for its test, by position. */
export interface AddressState {
  /** Among what enters the test. */
  readonly entering: readonly number[];
  /** Among what leaves the test. */
  readonly leaving: readonly number[];
}

/** What the regions of a loop need for values of theirs. */
export function loopNeeds(loop: OpOf<"while">): { readonly ofTest: Needs; readonly ofBody: Needs } {
  const { test, body } = loopOf(loop);
  return { ofTest: needsOf(test), ofBody: needsOf(body) };
}

/** What the loop carries for values of its body; undefined where these cannot be computed earlier. */
export function addressState(
  loop: OpOf<"while">,
  values: readonly Value[],
  { ofTest, ofBody } = loopNeeds(loop),
): AddressState | undefined {
  const { continues, leaving: letThrough, repeated } = loopOf(loop);
  const inTest = new Set<Value>([continues]);
  const inBody = new Set<Value>(values);
  for (;;) {
    const entering = ofTest([...inTest], false);
    const leaving = ofBody([...inBody], true);
    if (entering === undefined || leaving === undefined) return undefined;
    const before = inTest.size + inBody.size;
    for (const value of pick(letThrough, [...leaving])) inTest.add(value);
    for (const value of pick(repeated, [...entering])) inBody.add(value);
    if (inTest.size + inBody.size === before) {
      return { entering: [...entering], leaving: [...leaving] };
    }
  }
}

/** An operand that the loop loads. */
export interface PrefetchedOperand extends StagedOperand {
  readonly load: OpOf<"load"> | OpOf<"tensor_load">;
}

/** A loop and how it is pipelined. */
export interface Plan {
  readonly func: Func;
  readonly loop: OpOf<"while">;
  /** Operands that are prefetched. */
  readonly staged: readonly InBuffer<PrefetchedOperand>[];
  readonly carried: AddressState;
  readonly slots: number;
}

/** What the addresses of an iteration are computed from. */
export interface Iteration {
  /** What enters its test, by the order of `carried.entering`. */
  readonly state: readonly Value[];
  /** All tests before it let the loop continue. */
  readonly runs: Value;
  /** What replaces values from outside of the loop. */
  readonly outer?: ReadonlyMap<Value, Value>;
}

/** The first iteration. */
export function firstIteration(
  { loop, carried }: Pick<Plan, "loop" | "carried">,
  build: ScheduleBuilder,
): Iteration {
  return {
    state: pick(loopOf(loop).initial, carried.entering),
    runs: build.true(),
  };
}

/** A load of an iteration, with its operands there. */
export interface Source {
  readonly load: PrefetchedOperand["load"];
  readonly buffer: Value;
  readonly pointer: Value;
  /** Masks, or coordinates of a box. */
  readonly others: readonly Value[];
}

/** What an iteration loads from, by staged operand; and the next iteration. */
export function addressesOf(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
): { readonly sources: readonly Source[]; readonly next: Iteration } {
  const { copy, next } = copyOfIteration(plan, build, iteration);
  const sources = plan.staged.map(({ load, buffer }) => {
    const [pointer, ...others] = load.operands.map(copy);
    return { load, buffer, pointer: pointer ?? bug("a load without a pointer"), others };
  });
  return { sources, next: next() };
}

/** Computes values of an iteration early: `copy` gives what a value of the body will be, `next` the next iteration. */
export function copyOfIteration(
  { func, loop, carried }: Pick<Plan, "func" | "loop" | "carried">,
  build: ScheduleBuilder,
  iteration: Iteration,
): { readonly copy: (value: Value) => Value; readonly next: () => Iteration } {
  const { test, body, continues, leaving, repeated } = loopOf(loop);
  const known = new Map<Value, Value>(iteration.outer);
  for (const [param, value] of zip(pick(test.params, carried.entering), iteration.state)) {
    known.set(param, value);
  }
  const copyTest = copySlice(func, test, known, build.out);
  const runs = build.both(iteration.runs, copyTest(continues));
  const [params, values] = [pick(body.params, carried.leaving), pick(leaving, carried.leaving)];
  for (const [param, value] of zip(params, values)) known.set(param, copyTest(value));
  const copy = copySlice(func, body, known, build.out, runs);
  const next = (): Iteration => {
    const state = pick(repeated, carried.entering).map(copy);
    return { ...iteration, state, runs };
  };
  return { copy, next };
}

/** The values at some places of a list of what a loop carries; `parametersNeeded` gives no others. */
export const pick = (values: readonly Value[], places: readonly number[]): Value[] =>
  places.map((place) => must(values[place], "carried value"));

/** The copies of an iteration, and the iteration after it. */
interface Copies {
  /** Starts one of several parts of them. */
  readonly start: (part: number, parts: number) => void;
  readonly next: Iteration;
}

/** What the slot of the first iteration after the last gets; those of later ones are left as they are. */
export type AfterLast = "nothing" | "zeros";

export function copiesOf(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
  slot: Value,
  afterLast: AfterLast,
): Copies {
  const { sources, next } = addressesOf(plan, build, iteration);
  const conditions = afterLast === "zeros"
    ? [iteration.runs, next.runs]
    : [next.runs, build.true()];
  const start = (part: number, parts: number): void =>
    sources.forEach(({ pointer, buffer, others: masks }) =>
      build.effect("async_copy", [pointer, buffer, slot, ...conditions, ...masks], { part, parts })
    );
  return { start, next };
}

/** Starts all copies of an iteration, as a group. */
export function copyIteration(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
  slot: Value,
  afterLast: AfterLast,
): Iteration {
  const { start, next } = copiesOf(plan, build, iteration, slot, afterLast);
  start(0, 1);
  build.effect("commit_group", []);
  return next;
}

/** Starts the copies of the first iterations, one less than there are slots if absent; gives the iteration after them. */
export function copyPrologue(
  plan: Plan,
  build: ScheduleBuilder,
  afterLast: AfterLast,
  count = plan.slots - 1,
): Iteration {
  // Other threads may still read what the memory held before.
  build.barrier();
  let iteration = firstIteration(plan, build);
  for (let slot = 0; slot < count; slot++) {
    iteration = copyIteration(plan, build, iteration, build.int(slot), afterLast);
  }
  return iteration;
}

/** The tiles of an iteration in registers, by staged operand, and the iteration after it; zeros after the last one. */
export function loadIteration(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
): { readonly values: readonly Value[]; readonly next: Iteration } {
  const { sources, next } = addressesOf(plan, build, iteration);
  const values = zip(plan.staged, sources).map(([{ source }, { pointer, others: [mask] }]) => {
    const guard = build.maskBy(next.runs, mask, pointer.type);
    return build.value("load", [pointer, guard], source.type, { modifiers: [] });
  });
  return { values, next };
}

/** Puts tiles of {@linkcode loadIteration} into a slot. */
export function storeIteration(
  { staged }: Plan,
  build: ScheduleBuilder,
  values: readonly Value[],
  slot: Value,
): void {
  for (const [value, { buffer }] of zip(values, staged)) {
    build.effect("local_store", [value, buffer, slot]);
  }
}
