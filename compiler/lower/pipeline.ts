/**
 * Loads that only feed products of a loop start some rounds before the product wants them, so that memory works
 * while the tensor cores do. With `cp.async` the copies go straight into a ring of slots:
 *
 *     for s < slots - 1: copy round s into slot s; commit
 *     while (test) {
 *       wait until the copies of this round are there; barrier
 *       read this round's slot; dot; …
 *       copy round + slots - 1 into the slot that the round before has read; commit
 *     }
 *     wait for all; barrier
 *
 * The copies come last because products can start at once after the barrier then: on an H200 a half product with
 * 128 x 256 x 64 tiles gained 10 %. Elsewhere there are two slots; loads go into registers, and into the other slot behind the product.
 *
 * Pointers and masks of a later round come from running the loop's own address computation ahead: whatever the
 * loop carries for it is carried twice, and elements that it loads from tables are loaded once more. A round beyond the last copies nothing: its test, which runs ahead with
 * the rest, guards the copies.
 */
import { stringsAttr } from "../ir/attrs.ts";
import { type Func, newValue, type Op, type Region, type Value } from "../ir/func.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { bytesOf } from "../ir/types.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";
import { applyBases, elementAt } from "../layout/linear.ts";
import { must } from "../support/bug.ts";
import { ask } from "../targets.ts";
import { accessGroups } from "./memory.ts";
import { copySlice, parametersBehind } from "./slice.ts";
import { StageBuilder } from "./stage_build.ts";
import type { StageOptions } from "./stage.ts";
import type { Feed } from "./stage_plan.ts";

export interface PipelinedLoop {
  readonly feeds: readonly Feed[];
  readonly slots: number;
  /** The operations that take the loop's place; `buffers` are numbers by feed. */
  rewrite(buffers: readonly number[]): Op[];
}

/** Slots that hide the way to memory; more only take space. */
const DEFAULT_STAGES = 3;

/** How to pipeline a loop; undefined where nothing can be brought ahead. */
export function pipelineLoop(
  func: Func,
  loop: Op,
  candidates: readonly Feed[],
  options: StageOptions,
): PipelinedLoop | undefined {
  const numStages = stagesOf(loop, options);
  if (candidates.length === 0 || numStages === 1 || hasEffects(loop)) return undefined;
  const feeds = candidates.filter((feed) => isAhead(loop, feed));
  if (feeds.length === 0) return undefined;
  const needs = neededState(loop, feeds);
  if (needs === undefined) return undefined;
  const isAsync = options.target.asyncCopies && feeds.every((feed) => isCopyable(feed, options));
  const bytes = feeds.reduce((sum, feed) => sum + feed.bytes, 0);
  if (!isAsync && feeds.some(({ dot }) => sumRegisters(dot) >= MANY_REGISTERS)) return undefined;
  const wanted = isAsync ? numStages ?? DEFAULT_STAGES : 2;
  const slots = ask(
    options.target,
    ({ sharedBytesPerBlock }) => Math.min(wanted, Math.floor(sharedBytesPerBlock / bytes)),
  );
  if (slots < 2) return undefined;
  return {
    feeds,
    slots,
    rewrite: (buffers) => {
      const plan = { func, loop, feeds, needs, slots, buffers };
      return isAsync ? rewriteAsync(plan) : rewriteThroughRegisters(plan);
    },
  };
}

/** The loop's own hint is stronger than the kernel's, unless nothing fits. */
function stagesOf(loop: Op, { numStages, isCramped }: StageOptions): number | undefined {
  const hinted = loop.attrs.num_stages;
  return isCramped || typeof hinted !== "number" ? numStages : hinted;
}

/** Sums that leave a thread no room for what it loads ahead. */
const MANY_REGISTERS = 128;

/** 32-bit registers of a product's sums. */
function sumRegisters(dot: Op): number {
  return dot.results.reduce(
    (sum, { type: { element, layout } }) =>
      sum + bytesOf(element) / 4 * 2 ** (layout?.register.length ?? 0),
    0,
  );
}

/** Writes to memory may be what the loads read. */
function hasEffects(loop: Op): boolean {
  let found = false;
  for (const region of loop.regions) {
    walkOps(region, (op) => {
      const { effect } = TILE_OPS[op.name];
      found ||= effect === "write" || effect === "sync" ||
        (effect === "read" && op.name !== "load");
    });
  }
  return found;
}

/** A plain load in every round. */
function isAhead(loop: Op, { source }: Feed): boolean {
  const load = source.def;
  return load?.name === "load" && must(loop.regions[1], "body").ops.includes(load) &&
    stringsAttr(load, "modifiers").length === 0 && load.operands.length <= 2;
}

/** Bytes that one `cp.async` copies. */
const COPY_BYTES: readonly number[] = [4, 8, 16];

/** Each access of the load is one copy to one place. */
function isCopyable({ source, plan }: Feed, { axisInfo }: StageOptions): boolean {
  const load = must(source.def, "load");
  const layout = must(source.type.layout, "layout of a load");
  return accessGroups(load, axisInfo).every((group) => {
    const first = elementAt(layout, must(group[0], "register"), 0, 0);
    return COPY_BYTES.includes(group.length * bytesOf(source.type.element)) &&
      group.every((register, i) =>
        (elementAt(layout, register, 0, 0) ^ first) === applyBases(plan.columns, i)
      );
  });
}

/** What the loop carries for addresses and for its test, by position. */
interface Needs {
  /** Among what enters the test. */
  readonly entering: readonly number[];
  /** Among what the test lets through. */
  readonly leaving: readonly number[];
}

function neededState(loop: Op, feeds: readonly Feed[]): Needs | undefined {
  const [test, body] = regionsOf(loop);
  const [condition, end] = [terminatorOf(test), terminatorOf(body)];
  const inTest = new Set<Value>([must(condition.operands[0], "condition")]);
  const inBody = new Set<Value>(feeds.flatMap(({ source }) => must(source.def, "load").operands));
  for (;;) {
    const entering = parametersBehind(test, [...inTest], false);
    const leaving = parametersBehind(body, [...inBody], true);
    if (entering === undefined || leaving === undefined) return undefined;
    const before = inTest.size + inBody.size;
    for (const i of leaving) inTest.add(must(condition.operands[1 + i], "value let through"));
    for (const i of entering) inBody.add(must(end.operands[i], "yielded value"));
    if (inTest.size + inBody.size === before) {
      return { entering: [...entering], leaving: [...leaving] };
    }
  }
}

function regionsOf(loop: Op): readonly [test: Region, body: Region] {
  return [must(loop.regions[0], "test"), must(loop.regions[1], "body")];
}

interface Plan {
  readonly func: Func;
  readonly loop: Op;
  readonly feeds: readonly Feed[];
  readonly needs: Needs;
  readonly slots: number;
  readonly buffers: readonly number[];
}

/** Where a round stands, as far as addresses are concerned. */
interface Ahead {
  /** What enters the test of the round, by the order of `needs.entering`. */
  readonly state: readonly Value[];
  /** All tests before let the loop go on. */
  readonly alive: Value;
}

/** Addresses of one round, and where the next one stands. */
function runAhead(
  plan: Plan,
  build: StageBuilder,
  ahead: Ahead,
): { readonly addresses: readonly (readonly Value[])[]; readonly next: Ahead } {
  const { func, loop, feeds, needs } = plan;
  const [test, body] = regionsOf(loop);
  const [condition, end] = [terminatorOf(test), terminatorOf(body)];
  const known = new Map<Value, Value>();
  needs.entering.forEach((index, i) =>
    known.set(must(test.params[index], "parameter"), must(ahead.state[i], "state"))
  );
  const copyTest = copySlice(func, test, known, build.out);
  const alive = build.both(ahead.alive, copyTest(must(condition.operands[0], "condition")));
  for (const index of needs.leaving) {
    const value = must(condition.operands[1 + index], "value let through");
    known.set(must(body.params[index], "parameter"), copyTest(value));
  }
  const copyBody = copySlice(func, body, known, build.out, alive);
  const addresses = feeds.map(({ source }) => must(source.def, "load").operands.map(copyBody));
  const state = needs.entering.map((i) => copyBody(must(end.operands[i], "yielded value")));
  return { addresses, next: { state, alive } };
}

/** Lets a loop carry more values: gives them as they are in the body. */
function carry(
  { func, loop }: Plan,
  initial: readonly Value[],
): { readonly inBody: readonly Value[]; readonly yields: (values: readonly Value[]) => void } {
  const [test, body] = regionsOf(loop);
  const [condition, end] = [terminatorOf(test), terminatorOf(body)];
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
    state: needs.entering.map((i) => must(loop.operands[i], "initial value")),
    alive: build.true(),
  };
}

function rewriteAsync(plan: Plan): Op[] {
  const { func, loop, slots } = plan;
  const before = new StageBuilder(func, [], loop.span);
  const copy = (build: StageBuilder, ahead: Ahead, slot: Value): Ahead => {
    const { addresses, next } = runAhead(plan, build, ahead);
    addresses.forEach(([pointer, ...mask], i) =>
      build.effect("stage_load", [must(pointer, "pointer"), slot, next.alive, ...mask], {
        buffer: must(plan.buffers[i], "buffer"),
      })
    );
    build.effect("stage_commit", []);
    return next;
  };
  // Others may still read what the memory held before.
  before.effect("stage_wait", [], { pending: -1 });
  let ahead = initialState(plan, before);
  for (let s = 0; s < slots - 1; s++) ahead = copy(before, ahead, before.int(s));

  const initial = [before.int(0), before.int(slots - 1), ahead.alive, ...ahead.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, alive, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const late = new StageBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.effect("stage_wait", [], { pending: slots - 2 });
    const next = copy(late, { state, alive: must(alive, "test") }, to);
    yields([late.advance(from, slots), late.advance(to, slots), next.alive, ...next.state]);
  });
  appendToBody(loop, late.out);
  const after = new StageBuilder(func, [], loop.span);
  after.effect("stage_wait", [], { pending: 0 });
  return [...before.out, loop, ...after.out];
}

function rewriteThroughRegisters(plan: Plan): Op[] {
  const { func, loop, feeds, slots } = plan;
  const load = (build: StageBuilder, ahead: Ahead): { values: Value[]; next: Ahead } => {
    const { addresses, next } = runAhead(plan, build, ahead);
    const values = feeds.map(({ source }, i) => {
      const [pointer, mask] = must(addresses[i], "address");
      const guard = build.maskBy(next.alive, mask, must(pointer, "pointer").type);
      return build.value("load", [must(pointer, "pointer"), guard], source.type, { modifiers: [] });
    });
    return { values, next };
  };
  const store = (build: StageBuilder, values: readonly Value[], slot: Value): void =>
    values.forEach((value, i) =>
      build.effect("stage_store", [value, slot], { buffer: must(plan.buffers[i], "buffer") })
    );
  const before = new StageBuilder(func, [], loop.span);
  before.effect("stage_wait", [], { pending: -1 });
  const first = load(before, initialState(plan, before));
  store(before, first.values, before.int(0));

  const initial = [before.int(0), before.int(1), first.next.alive, ...first.next.state];
  const { inBody, yields } = carry(plan, initial);
  const [reading, writing, alive, ...state] = inBody;
  const [from, to] = [must(reading, "slot"), must(writing, "slot")];
  const after = new StageBuilder(func, [], loop.span);
  replaceBody(plan, from, (build) => {
    build.effect("stage_wait", [], { pending: -1 });
    const { values, next } = load(build, { state, alive: must(alive, "test") });
    yields([build.advance(from, slots), build.advance(to, slots), next.alive, ...next.state]);
    store(after, values, to);
  });
  appendToBody(loop, after.out);
  const end = new StageBuilder(func, [], loop.span);
  end.effect("stage_wait", [], { pending: -1 });
  return [...before.out, loop, ...end.out];
}

/** Puts operations behind all others of a round. */
function appendToBody(loop: Op, ops: readonly Op[]): void {
  const [, body] = regionsOf(loop);
  body.ops = [...body.ops.slice(0, -1), ...ops, terminatorOf(body)];
}

/** The body with `head` in front, and reads of a slot in place of loads. */
function replaceBody(plan: Plan, slot: Value, head: (build: StageBuilder) => void): void {
  const { func, loop, feeds, buffers } = plan;
  const [, body] = regionsOf(loop);
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
