/**
 * Which loops bring operands of products ahead, in how many slots; pipeline_rounds.ts says how. Where the target
 * can copy asynchronously, loads become copies into a ring of slots; elsewhere there are two, and loads go through
 * registers.
 */
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";
import { madeBy, operandsOf } from "../ir/op.ts";
import { isLookup, rowOf } from "../ir/table.ts";
import { bytesOf } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { applyBases, elementAt } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { ask } from "../targets.ts";
import { accessGroups } from "../layout/access_groups.ts";
import {
  type Needs,
  rewriteAsync,
  rewriteInSteps,
  rewriteThroughRegisters,
} from "./pipelined_loop.ts";
import { parametersBehind } from "./slice.ts";
import type { ScheduleContext } from "./context.ts";
import type { Feed, LoadedFeed } from "./staged_operand.ts";
import { planSteps } from "./dot_slices.ts";

export interface PipelinedLoop {
  readonly feeds: readonly Feed[];
  readonly slots: number;
  /** The operations that take the loop's place; `buffers` are those of the feeds. */
  rewrite(buffers: readonly Value[]): Op[];
}

/** Slots that hide the way to memory; more only take space. */
const DEFAULT_STAGES = 3;

/** How to pipeline a loop; undefined where nothing can be brought ahead. */
export function pipelineLoop(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly Feed[],
  context: ScheduleContext,
): PipelinedLoop | undefined {
  const numStages = stagesOf(loop, context);
  if (candidates.length === 0 || numStages === 1 || hasEffects(loop)) return undefined;
  const feeds = candidates.flatMap((feed): LoadedFeed[] => {
    const load = loadAhead(loop, feed);
    return load === undefined ? [] : [{ ...feed, load }];
  });
  if (feeds.length === 0) return undefined;
  const needs = neededState(loop, feeds);
  if (needs === undefined) return undefined;
  const isAsync = context.target.asyncCopies &&
    feeds.every((feed) => isCopyable(feed, context.axisInfo()));
  const bytes = feeds.reduce((sum, feed) => sum + feed.bytes, 0);
  if (!isAsync && feeds.some(({ dot }) => sumRegisters(dot) >= MANY_REGISTERS)) return undefined;
  const wanted = isAsync ? numStages ?? DEFAULT_STAGES : 2;
  const slots = ask(
    context.target,
    ({ sharedBytesPerBlock }) => Math.min(wanted, Math.floor(sharedBytesPerBlock / bytes)),
  );
  if (slots < 2) return undefined;
  return {
    feeds,
    slots,
    rewrite: (buffers) => {
      const plan = { func, loop, feeds, needs, slots, buffers };
      if (!isAsync) return rewriteThroughRegisters(plan);
      const steps = planSteps(feeds, context.target);
      return steps === undefined ? rewriteAsync(plan) : rewriteInSteps(plan, steps);
    },
  };
}

/** The loop's own hint is stronger than the kernel's. */
function stagesOf(loop: OpOf<"while">, { numStages }: ScheduleContext): number | undefined {
  return loop.attrs.num_stages ?? numStages;
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
function hasEffects(loop: OpOf<"while">): boolean {
  let found = false;
  for (const region of loop.regions) {
    walkOps(region, (op) => {
      const { effect } = rowOf(op);
      found ||= effect === "write" || effect === "sync" ||
        (effect === "read" && op.name !== "load");
    });
  }
  return found;
}

/** The load that brings an operand, where it is a plain one that every iteration runs. */
function loadAhead(loop: OpOf<"while">, { source }: Feed): OpOf<"load"> | undefined {
  const load = madeBy(source, "load");
  const isPlain = load !== undefined && !isLookup(load) && loopOf(loop).body.ops.includes(load) &&
    load.attrs.modifiers.length === 0 && operandsOf(load).other === undefined;
  return isPlain ? load : undefined;
}

/** Bytes that one `cp.async` copies. */
const COPY_BYTES: readonly number[] = [4, 8, 16];

/** Each access of the load is one copy to one place. */
function isCopyable({ load, source, plan }: LoadedFeed, axisInfo: AxisFacts): boolean {
  const layout = must(source.type.layout, "layout of a load");
  return accessGroups(load, axisInfo).every((group) => {
    const first = elementAt(layout, group[0], 0, 0);
    return COPY_BYTES.includes(group.length * bytesOf(source.type.element)) &&
      group.every((register, i) =>
        (elementAt(layout, register, 0, 0) ^ first) === applyBases(plan.columns, i)
      );
  });
}

function neededState(loop: OpOf<"while">, feeds: readonly LoadedFeed[]): Needs | undefined {
  const { test, body, goesOn, repeated, leaving: letThrough } = loopOf(loop);
  const inTest = new Set<Value>([goesOn]);
  const inBody = new Set<Value>(feeds.flatMap(({ load }) => load.operands));
  for (;;) {
    const entering = parametersBehind(test, [...inTest], false);
    const leaving = parametersBehind(body, [...inBody], true);
    if (entering === undefined || leaving === undefined) return undefined;
    const before = inTest.size + inBody.size;
    for (const i of leaving) inTest.add(must(letThrough[i], "value let through"));
    for (const i of entering) inBody.add(must(repeated[i], "yielded value"));
    if (inTest.size + inBody.size === before) {
      return { entering: [...entering], leaving: [...leaving] };
    }
  }
}
