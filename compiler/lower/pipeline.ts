/**
 * Loads that only feed products of a loop start some rounds before the product wants them, so that memory works
 * while the tensor cores do. With `cp.async` the copies go straight into a ring of slots:
 *
 *     for s < slots - 1: copy round s into slot s; commit
 *     while (test) {
 *       wait until the copies of this round are there; barrier
 *       copy round + slots - 1 into the slot that the round before has read; commit
 *       read this round's slot; dot; …
 *     }
 *     wait for all; barrier
 *
 * Elsewhere there are two slots; loads go into registers, and into the other slot behind the product.
 *
 * Pointers and masks of a later round come from running the loop's own address computation ahead: whatever the
 * loop carries for it is carried twice. A round beyond the last copies nothing: its test, which runs ahead with
 * the rest, guards the copies.
 */
import { intsAttr, stringsAttr } from "../ir/attrs.ts";
import { type Func, newValue, type Op, type Region, type Value } from "../ir/func.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { scalarType } from "../ir/types.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";
import { elementAt } from "../layout/linear.ts";
import { must } from "../support/bug.ts";
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

interface Options extends StageOptions {
  /** Bytes of shared memory for all slots. */
  readonly limit: number;
}

/** Slots that hide the way to memory; more only take space. */
const DEFAULT_STAGES = 3;

/** How to pipeline a loop; undefined where nothing can be brought ahead. */
export function pipelineLoop(
  func: Func,
  loop: Op,
  candidates: readonly Feed[],
  options: Options,
): PipelinedLoop | undefined {
  if (candidates.length === 0 || options.numStages === 1 || hasEffects(loop)) return undefined;
  const feeds = candidates.filter((feed) => isAhead(loop, feed));
  if (feeds.length === 0) return undefined;
  const needs = neededState(loop, feeds);
  if (needs === undefined) return undefined;
  const isAsync = options.target.asyncCopies && feeds.every((feed) => isCopyable(feed, options));
  const bytes = feeds.reduce((sum, feed) => sum + feed.bytes, 0);
  const wanted = isAsync ? options.numStages ?? DEFAULT_STAGES : 2;
  const slots = Math.min(wanted, Math.floor(options.limit / bytes));
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

/** Writes to memory may be what the loads read. */
function hasEffects(loop: Op): boolean {
  let found = false;
  for (const region of loop.regions) {
    walkOps(region, (op) => {
      const { effect } = TILE_OPS[op.name];
      found ||= effect === "write" || effect === "sync" || (effect === "read" && op.name !== "load");
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

/** Each access of the load is one copy to one place. */
function isCopyable({ source, plan }: Feed, { axisInfo }: Options): boolean {
  const load = must(source.def, "load");
  const layout = must(source.type.layout, "layout of a load");
  const bytes = must(accessGroups(load, axisInfo)[0], "access").length;
  const size = plan.columns.length === 0 ? 0 : source.type.element;
  if (size === 0) return false;
  return accessGroups(load, axisInfo).every((group) =>
    group.every((register, i) => {
      const first = must(group[0], "register");
      let wanted = 0;
      for (let bit = 0; bit < 31 && (1 << bit) < bytes; bit++) {
        if ((i >> bit) & 1) wanted ^= plan.columns[bit] ?? 0;
      }
      return (elementAt(layout, register, 0, 0) ^ elementAt(layout, first, 0, 0)) === wanted;
    })
  );
}
