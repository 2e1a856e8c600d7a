/**
 * Loads that only feed products of a loop start some rounds before the product wants them, so that memory works
 * while the tensor cores do. With `cp.async` the copies go straight into a ring of slots, and products go in steps
 * along k (stage_steps.ts), each beside the reads of the next one's operands:
 *
 *     for s < slots - 1: copy round s into slot s; commit
 *     wait until the copies of round 0 are there; barrier; read step 0
 *     while (test) {
 *       beside all steps but the last: copy round + slots - 1 into the slot that the round before has read
 *       commit; wait until the copies of the next round are there; barrier
 *       beside the last step: read step 0 of the next round
 *     }
 *     wait for all; barrier
 *
 * There is one barrier a round, in front of the last step, so tensor cores work on both sides of it. The last round
 * reads a slot behind it for nothing: zeros are copied there. Products of one step, and several products of a loop,
 * are multiplied a round at a time:
 *
 *     while (test) {
 *       wait until the copies of this round are there; barrier
 *       read this round's slot; dot; …
 *       copy round + slots - 1; commit
 *     }
 *
 * Behind the first of several products copies are soon enough for two slots.
 *
 * Without `cp.async` there are two slots; loads go into registers, and into the other slot behind the product.
 *
 * Pointers and masks of a later round come from running the loop's own address computation ahead: whatever the
 * loop carries for it is carried twice, and elements that it loads from tables are loaded once more. A round beyond
 * the last copies nothing: its test, which runs ahead with the rest, guards the copies.
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, newValue, type Op, type OpOf, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { must } from "../support/bug.ts";
import { copySlice } from "./slice.ts";
import { StageBuilder } from "./builder.ts";
import type { LoadedFeed } from "./staged_operand.ts";
import { multiplyStep, readStep, type Steps } from "./dot_slices.ts";

/** What the loop carries for addresses and for its test, by position. */
export interface Needs {
  /** Among what enters the test. */
  readonly entering: readonly number[];
  /** Among what the test lets through. */
  readonly leaving: readonly number[];
}

/** A loop and how it is pipelined. */
export interface Plan {
  readonly func: Func;
  readonly loop: OpOf<"while">;
  readonly feeds: readonly LoadedFeed[];
  readonly needs: Needs;
  readonly slots: number;
  readonly buffers: readonly Value[];
}

/** Where a round stands, as far as addresses are concerned. */
interface Ahead {
  /** What enters the test of the round, by the order of `needs.entering`. */
  readonly state: readonly Value[];
  /** All tests before let the loop go on. */
  readonly alive: Value;
}

/** What a copied load takes. */
interface Address {
  readonly pointer: Value;
  readonly mask: Value | undefined;
}

/** Addresses of one round, and where the next one stands. */
function runAhead(
  plan: Plan,
  build: StageBuilder,
  ahead: Ahead,
): { readonly addresses: readonly Address[]; readonly next: Ahead } {
  const { func, loop, feeds, needs } = plan;
  const { test, body, goesOn, repeated, leaving } = loopOf(loop);
  const known = new Map<Value, Value>();
  needs.entering.forEach((index, i) =>
    known.set(must(test.params[index], "parameter"), must(ahead.state[i], "state"))
  );
  const copyTest = copySlice(func, test, known, build.out);
  const alive = build.both(ahead.alive, copyTest(goesOn));
  for (const index of needs.leaving) {
    const value = must(leaving[index], "value let through");
    known.set(must(body.params[index], "parameter"), copyTest(value));
  }
  const copyBody = copySlice(func, body, known, build.out, alive);
  const addresses = feeds.map(({ load }): Address => {
    const { pointer, mask } = operandsOf(load);
    return { pointer: copyBody(pointer), mask: mask && copyBody(mask) };
  });
  const state = needs.entering.map((i) => copyBody(must(repeated[i], "yielded value")));
  return { addresses, next: { state, alive } };
}

/** Lets a loop carry more values: gives them as they are in the body. */
function carry(
  { func, loop }: Plan,
  initial: readonly Value[],
): { readonly inBody: readonly Value[]; readonly yields: (values: readonly Value[]) => void } {
  const { test, body, condition, end } = loopOf(loop);
  const inBody = initial.map((value) => {
    const entering = newValue(func, value.type);
    const leaving = newValue(func, value.type);
    const result = newValue(func, value.type);
    result.def = loop;
    loop.operands.push(value);
    test.params.push(entering);
    condition.operands.push(entering);
    body.params.push(leaving);
    loop.results.push(result);
    return leaving;
  });
  return { inBody, yields: (values) => end.operands.push(...values) };
}

function initialState({ loop, needs }: Plan, build: StageBuilder): Ahead {
  return {
    state: needs.entering.map((i) => must(loopOf(loop).initial[i], "initial value")),
    alive: build.true(),
  };
}

/** The copies of a round, and where the round after it stands. */
interface Copies {
  /** Starts one of several parts of them. */
  readonly start: (part: number, parts: number) => void;
  readonly next: Ahead;
}

/** A slot that no round fills is left as it is, or, for the first round behind the last, filled with zeros. */
type Behind = "nothing" | "zeros";

function copiesOf(
  plan: Plan,
  build: StageBuilder,
  ahead: Ahead,
  slot: Value,
  behind: Behind,
): Copies {
  const { addresses, next } = runAhead(plan, build, ahead);
  const conditions = behind === "zeros" ? [ahead.alive, next.alive] : [next.alive, build.true()];
  const start = (part: number, parts: number): void =>
    addresses.forEach(({ pointer, mask }, i) =>
      build.effect(
        "async_copy",
        [
          pointer,
          must(plan.buffers[i], "buffer"),
          slot,
          ...conditions,
          ...(mask === undefined ? [] : [mask]),
        ],
        { part, parts },
      )
    );
  return { start, next };
}

/** Starts all copies of a round. */
function copyRound(
  plan: Plan,
  build: StageBuilder,
  ahead: Ahead,
  slot: Value,
  behind: Behind,
): Ahead {
  const { start, next } = copiesOf(plan, build, ahead, slot, behind);
  start(0, 1);
  build.effect("commit_group", []);
  return next;
}

/** Starts the copies of as many rounds as there are slots, but one. */
function copyFirstRounds(plan: Plan, build: StageBuilder, behind: Behind): Ahead {
  // Others may still read what the memory held before.
  build.barrier();
  let ahead = initialState(plan, build);
  for (let s = 0; s < plan.slots - 1; s++) {
    ahead = copyRound(plan, build, ahead, build.int(s), behind);
  }
  return ahead;
}

/** Products of whole rounds; copies are issued behind the only one, or behind the first. */
export function rewriteAsync(plan: Plan): Op[] {
  const { func, loop, feeds, slots } = plan;
  const { body } = loopOf(loop);
  const before = new StageBuilder(func, [], loop.span);
  const ahead = copyFirstRounds(plan, before, "nothing");

  const initial = [before.int(0), before.int(slots - 1), ahead.alive, ...ahead.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, alive, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const late = new StageBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.waitGroup(slots - 2);
    const next = copyRound(plan, late, { state, alive: must(alive, "test") }, to, "nothing");
    yields([late.advance(from, slots), late.advance(to, slots), next.alive, ...next.state]);
  });
  const [first, second] = body.ops.filter((op) => feeds.some(({ dot }) => dot === op));
  if (first === undefined || second === undefined) appendToBody(loop, late.out);
  else body.ops.splice(body.ops.indexOf(first) + 1, 0, ...late.out);
  const after = new StageBuilder(func, [], loop.span);
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

/** Products in steps along k; copies are issued beside all but the last, in front of which there is the barrier. */
export function rewriteInSteps(plan: Plan, steps: Steps): Op[] {
  const { func, loop, slots } = plan;
  const { body } = loopOf(loop);
  const bufferOf = (operand: 0 | 1): Value =>
    must(plan.buffers[plan.feeds.findIndex(({ index }) => index === operand)], "buffer");
  const places = [bufferOf(0), bufferOf(1)] as const;
  const before = new StageBuilder(func, [], loop.span);
  const ahead = copyFirstRounds(plan, before, "zeros");
  before.waitGroup(slots - 2);
  const first = readStep(before, steps, places, before.int(0), 0);

  const initial = [before.int(0), before.int(slots - 1), ahead.alive, ...first, ...ahead.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, alive, left, right, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const build = new StageBuilder(func, [], loop.span);
  const multiplyRound = (dot: OpOf<"dot">): void => {
    const following = build.advance(from, slots);
    const later = copiesOf(plan, build, { state, alive: must(alive, "test") }, to, "zeros");
    const last = steps.count - 1;
    let operands: readonly [Value, Value] = [must(left, "operand a"), must(right, "operand b")];
    let { sum } = operandsOf(dot);
    for (let step = 0; step < last; step++) {
      const next = readStep(build, steps, places, from, step + 1);
      later.start(step, last);
      sum = multiplyStep(func, build, steps, step, operands, sum);
      operands = next;
    }
    build.effect("commit_group", []);
    build.waitGroup(slots - 2);
    const next = readStep(build, steps, places, following, 0);
    multiplyStep(func, build, steps, last, operands, sum);
    yields([following, build.advance(to, slots), later.next.alive, ...next, ...later.next.state]);
  };
  for (const op of body.ops) {
    if (op === steps.dot) multiplyRound(steps.dot);
    else build.out.push(op);
  }
  body.ops = build.out;
  const after = new StageBuilder(func, [], loop.span);
  after.waitGroup(0);
  return [...before.out, loop, ...after.out];
}

export function rewriteThroughRegisters(plan: Plan): Op[] {
  const { func, loop, feeds, slots } = plan;
  const load = (build: StageBuilder, ahead: Ahead): { values: Value[]; next: Ahead } => {
    const { addresses, next } = runAhead(plan, build, ahead);
    const values = feeds.map(({ source }, i) => {
      const { pointer, mask } = must(addresses[i], "address");
      const guard = build.maskBy(next.alive, mask, pointer.type);
      return build.value("load", [pointer, guard], source.type, { modifiers: [] });
    });
    return { values, next };
  };
  const store = (build: StageBuilder, values: readonly Value[], slot: Value): void =>
    values.forEach((value, i) =>
      build.effect("local_store", [value, must(plan.buffers[i], "buffer"), slot])
    );
  const before = new StageBuilder(func, [], loop.span);
  before.barrier();
  const first = load(before, initialState(plan, before));
  store(before, first.values, before.int(0));

  const initial = [before.int(0), before.int(1), first.next.alive, ...first.next.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, alive, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const after = new StageBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.barrier();
    const { values, next } = load(build, { state, alive: must(alive, "test") });
    yields([build.advance(from, slots), build.advance(to, slots), next.alive, ...next.state]);
    store(after, values, to);
  });
  appendToBody(loop, after.out);
  const end = new StageBuilder(func, [], loop.span);
  end.barrier();
  return [...before.out, loop, ...end.out];
}

/** Puts operations behind all others of a round. */
function appendToBody(loop: OpOf<"while">, ops: readonly Op[]): void {
  const { body, end } = loopOf(loop);
  body.ops = [...body.ops.slice(0, -1), ...ops, end];
}

/** The body with `head` in front, and reads of a slot in place of loads. */
function replaceBody(plan: Plan, slot: Value, head: (build: StageBuilder) => void): void {
  const { func, loop, feeds, buffers } = plan;
  const { body } = loopOf(loop);
  const build = new StageBuilder(func, [], loop.span);
  head(build);
  for (const op of body.ops) {
    feeds.forEach((feed, i) => {
      if (feed.dot === op) build.read(feed, must(buffers[i], "buffer"), slot);
    });
    build.out.push(op);
  }
  body.ops = build.out;
}
