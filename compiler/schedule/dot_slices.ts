/**
 * Products of a loop in steps along k, each as deep as one matrix instruction: while one step multiplies, the
 * fragments of the next come from shared memory, over the end of a round too.
 */
import { type Func, newOp, type OpOf, type Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { offsetBases } from "../layout/conversion.ts";
import { dotLayouts } from "../layout/dot.ts";
import { axisShifts, type LinearLayout, moveShape } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { Target } from "../targets.ts";
import { accessOf, type StageBuilder } from "./builder.ts";
import type { Feed } from "./staged_operand.ts";

/** How the product of a loop is taken apart. */
export interface Steps {
  readonly dot: OpOf<"dot">;
  readonly count: number;
  /** By operand of the product: where it comes from, and what of it one step needs. */
  readonly parts: readonly [Part, Part];
}

interface Part {
  readonly feed: Feed;
  /** One step's part of the source. */
  readonly shape: readonly number[];
  readonly layout: LinearLayout;
}

/** The steps of the product that all feeds lead to; undefined where it is one step, or not alone. */
export function planSteps(feeds: readonly Feed[], target: Target): Steps | undefined {
  const [left, right, more] = [
    feeds.find(({ index }) => index === 0),
    feeds.find(({ index }) => index === 1),
    feeds[2],
  ];
  if (left === undefined || right === undefined || more !== undefined) return undefined;
  const { dot } = left;
  if (dot !== right.dot) return undefined;
  const { mma, repeats } = dotLayouts(dot, 1 << left.layout.warp.length, target);
  if (mma === undefined || repeats.k === 0) return undefined;
  const parts = [partOf(left, mma.k), partOf(right, mma.k)] as const;
  const [a, b] = parts;
  return a === undefined || b === undefined
    ? undefined
    : { dot, count: 1 << repeats.k, parts: [a, b] };
}

/** What one step of `depth` along k needs of an operand; undefined where accesses span steps. */
function partOf(feed: Feed, depth: number): Part | undefined {
  const { plan, layout: whole } = feed;
  const axis = depthAxis(feed);
  const shape = whole.shape.map((extent, d) => d === axis ? depth : extent);
  const steps = must(whole.shape[axis], "extent along k") / depth;
  const low = must(axisShifts(whole.shape)[axis], "axis of a shape") + Math.log2(depth);
  const kept = whole.register.filter((basis) => ((basis >> low) & (steps - 1)) === 0);
  if (plan.matrices === undefined) {
    const { register } = offsetBases({ ...whole, register: kept }, plan.columns);
    for (let bit = 0; bit < plan.vectorBits; bit++) {
      if (!register.includes(1 << bit)) return undefined;
    }
  }
  // Fragments of narrow elements are whole words.
  if (bytesOf(feed.source.type.element) << kept.length < 4) return undefined;
  return { feed, shape, layout: moveShape({ ...whole, register: kept }, shape) };
}

/** The axis of an operand's source that becomes k. */
function depthAxis({ index, permutations }: Feed): number {
  return permutations.reduceRight(
    (axis, permutation) => must(permutation.attrs.order[axis], "axis of an order"),
    index === 0 ? 1 : 0,
  );
}

/** Reads one step's operands from a slot, beside the products that follow. */
export function readStep(
  build: StageBuilder,
  { parts }: Steps,
  buffers: readonly [Value, Value],
  slot: Value,
  step: number,
): readonly [Value, Value] {
  const [a, b] = parts.map(({ feed, shape, layout }, i) => {
    const { element } = feed.source.type;
    const operands = [must(buffers[i], "buffer"), slot];
    const attrs = { access: accessOf(feed.plan), slice: step };
    const source = build.value("local_load_slice", operands, { element, shape, layout }, attrs);
    return build.permuted(feed, source);
  });
  return [must(a, "operand a"), must(b, "operand b")];
}

/** Adds a step to a sum; the last step is the product's own operation, so that its users find it. */
export function multiplyStep(
  func: Func,
  build: StageBuilder,
  { dot, count }: Steps,
  step: number,
  [a, b]: readonly [Value, Value],
  sum: Value,
): Value {
  const result = resultOf(dot);
  if (step === count - 1) {
    dot.operands.splice(0, 3, a, b, sum);
    build.out.push(dot);
    return result;
  }
  const part = newOp(func, "dot", [a, b, sum], [result.type], dot.span, dot.attrs);
  build.out.push(part);
  return resultOf(part);
}
