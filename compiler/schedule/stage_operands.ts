/**
 * Brings operands of products through shared memory. Runs on laid-out IR and replaces the changes of layout in
 * front of products.
 *
 * Operands that a loop loads for its product come some rounds ahead (pipeline.ts). All others are put into
 * buffers of their own right before the product, both behind one barrier:
 *
 *     barrier; store a; store b; barrier; read a; read b; dot
 */
import { loopOf } from "../ir/flow.ts";
import {
  type Func,
  newOp,
  type Op,
  type OpOf,
  type Region,
  setAttrs,
  type Value,
} from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import type { IrType } from "../ir/types.ts";
import { cloneFunc, countUses, restoreBody, walkOps } from "../ir/walk.ts";
import { dropDead } from "../tile/drop_dead.ts";
import { must } from "../support/bug.ts";
import { fitsShared } from "../targets.ts";
import { conversionOf, hasBlockBarrier } from "../layout/exchanges.ts";
import { aligned, sharedBytes } from "./allocate_shared.ts";
import type { ScheduleContext, SchedulePass } from "./context.ts";
import { pipelineLoop } from "./pipeline.ts";
import { StageBuilder } from "./builder.ts";
import { type Feed, feedsOf, residentFeeds } from "./staged_operand.ts";

export const stageOperands: SchedulePass = {
  name: "stage-operands",
  doc: "operands of products in slots of shared memory, prefetched by loops",
  run: (func, context) => {
    if (!hasProducts(func)) return false;
    const before = cloneFunc(func);
    const isPrefetched = stage(func, context, true);
    // Exchanges need shared memory too, so only now it is known whether all of it fits.
    if (isPrefetched && !fitsShared(context.target, sharedBytes(func))) {
      restoreBody(func, before);
      stage(func, context, false);
    }
    return true;
  },
};

function hasProducts(func: Func): boolean {
  let found = false;
  walkOps(func.body, ({ name }) => found ||= name === "dot");
  return found;
}

/** Stages all operands that need it; true if loops prefetch some or keep some resident, as they may. */
function stage(func: Func, context: ScheduleContext, mayPrefetch: boolean): boolean {
  const uses = countUses(func);
  const state: State = { func, uses, context, buffers: [], ringBytes: 0, isExclusive: false };
  if (mayPrefetch) pipelineLoops(state, func.body);
  const isAlone = state.ringBytes === 0 && keepsToItself(func.body);
  stageRegion(state, func.body, !isAlone, state.ringBytes);
  for (const buffer of state.buffers) setAttrs(buffer, { exclusive: state.isExclusive });
  func.body.ops.unshift(...state.buffers);
  dropDead.run(func);
  return state.ringBytes > 0;
}

interface State {
  readonly func: Func;
  readonly uses: ReadonlyMap<Value, number>;
  readonly context: ScheduleContext;
  readonly buffers: OpOf<"shared_buffer">[];
  ringBytes: number;
  /** Exchanges happen while a buffer is in use. */
  isExclusive: boolean;
}

/** Adds a buffer for tiles on their way to a product. */
function addBuffer(state: State, feed: Feed, slots: number, offset: number): Value {
  const { element, shape } = feed.source.type;
  const { columns, vectorBits } = feed.plan;
  const type: IrType = { element, shape, shared: { shape, columns, vectorBits } };
  const attrs = { slots, slot_bytes: aligned(feed.bytes), offset, exclusive: false };
  const op = newOp(state.func, "shared_buffer", [], [type], feed.dot.span, attrs);
  state.buffers.push(op);
  return resultOf(op);
}

/** Innermost loops first; loops one after the other take the same memory. */
function pipelineLoops(state: State, region: Region): void {
  const out: Op[] = [];
  for (const op of region.ops) {
    op.regions.forEach((inner) => pipelineLoops(state, inner));
    const body = op.name === "while" ? loopOf(op).body : undefined;
    const inBody = new Set(body?.ops);
    const feeds = body?.ops.flatMap((inner) =>
      inner.name === "dot" ? feedsOf(inner, inBody, state.uses, state.context.target) : []
    ) ?? [];
    const loop = op.name === "while"
      ? pipelineLoop(state.func, op, feeds, state.context)
      : undefined;
    const isQuiet = op.regions.every(keepsToItself);
    let offset = 0;
    const buffers = loop?.feeds.map((feed) => {
      const buffer = addBuffer(state, feed, loop.slots, offset);
      offset += aligned(feed.bytes) * loop.slots;
      return buffer;
    });
    const residents = body === undefined || state.context.numStages === 1
      ? []
      : residentFeeds(body, state.uses, state.context.target);
    for (const feed of residents) {
      const fits = fitsShared(state.context.target, offset + feed.bytes);
      if (body === undefined || !fits) {
        continue;
      }
      keepResident(state, body, feed, addBuffer(state, feed, 1, offset), out);
      offset += aligned(feed.bytes);
    }
    if (offset > 0) {
      state.isExclusive ||= !isQuiet;
    }
    state.ringBytes = Math.max(state.ringBytes, offset);
    out.push(...(loop === undefined || buffers === undefined ? [op] : loop.rewrite(buffers)));
  }
  region.ops = out;
}

/** Puts an operand into shared memory before its loop, and reads it there in every round. */
function keepResident(state: State, body: Region, feed: Feed, buffer: Value, out: Op[]): void {
  const before = new StageBuilder(state.func, out, feed.dot.span);
  // Others may still read what the memory held before.
  before.barrier();
  before.effect("local_store", [feed.source, buffer, before.int(0)]);
  before.barrier();
  const reading = new StageBuilder(state.func, [], feed.dot.span);
  reading.read(feed, buffer, reading.int(0));
  body.ops = body.ops.flatMap((op) => op === feed.dot ? [...reading.out, op] : [op]);
}

/** No operation of a region uses shared memory in a way that staging does not know. */
function keepsToItself(region: Region): boolean {
  const products = region.ops.filter((op) => op.name === "dot");
  // Staging replaces what products beside it take.
  const staged = new Set(products.flatMap((op) => [operandsOf(op).a, operandsOf(op).b]));
  return region.ops.every((op) => {
    if (op.name === "convert_layout") {
      return conversionOf(op).kind !== "shared" ||
        op.results.every((value) => staged.has(value));
    }
    if (op.name === "reduce") return !hasBlockBarrier(op);
    return op.regions.every(keepsToItself) &&
      (hasTrait(op, "avoidsShared") || hasTrait(op, "elementwise"));
  });
}

/** Stages what loops do not prefetch, from `start` on. `isUsed`: that memory may have been used before. */
function stageRegion(state: State, region: Region, isUsed: boolean, start: number): void {
  const out: Op[] = [];
  const here = new Set(region.ops);
  let mustWait = isUsed;
  for (const op of region.ops) {
    for (const inner of op.regions) {
      stageRegion(state, inner, mustWait || op.name === "while", start);
      mustWait ||= state.buffers.length > 0;
    }
    const feeds = op.name === "dot" ? feedsOf(op, here, state.uses, state.context.target) : [];
    const needed = feeds.reduce((sum, feed) => sum + aligned(feed.bytes), start);
    // Too much at once: the changes of layout stay as they are, one after the other.
    if (feeds.length > 0 && fitsShared(state.context.target, needed)) {
      const build = new StageBuilder(state.func, out, op.span);
      // Others may still read what the buffers held before.
      if (mustWait) build.barrier();
      mustWait = true;
      const slot = build.int(0);
      let offset = start;
      const buffers = feeds.map((feed) => {
        const buffer = addBuffer(state, feed, 1, offset);
        offset += aligned(feed.bytes);
        build.effect("local_store", [feed.source, buffer, slot]);
        return buffer;
      });
      build.barrier();
      feeds.forEach((feed, i) => build.read(feed, must(buffers[i], "buffer"), slot));
    }
    out.push(op);
  }
  region.ops = out;
}
