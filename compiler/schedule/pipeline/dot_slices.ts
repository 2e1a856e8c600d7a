/**
 * A dot of a loop in slices along k, each as deep as one matrix instruction: while one slice multiplies, the fragments
 * of the next one are loaded from shared memory, across the end of an iteration too.
 */
import { type Func, newOp, type OpOf, type Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import { offsetBases } from "../../layout/conversion.ts";
import { dotLayouts } from "../../layout/dot.ts";
import { axisShifts, type LinearLayout, moveShape, ofAxis } from "../../linear/linear.ts";
import type { Target } from "../../targets.ts";
import { accessOf, type ScheduleBuilder } from "../builder.ts";
import type { InBuffer, StagedOperand } from "../staged_operand.ts";

/** How the dot of a loop is divided. */
export interface DotSlices {
  readonly dot: OpOf<"dot">;
  readonly count: number;
  /** By operand of the dot: where it comes from, and what of it one slice needs. */
  readonly parts: readonly [Part, Part];
}

interface Part {
  readonly operand: InBuffer;
  /** One slice of the source. */
  readonly shape: readonly number[];
  readonly layout: LinearLayout;
}

/** The slices of the dot that all staged operands belong to; undefined where it is one slice, or not the only dot. */
export function planSlices(
  staged: readonly InBuffer[],
  target: Target,
): DotSlices | undefined {
  const [left, right, more] = [
    staged.find(({ index }) => index === 0),
    staged.find(({ index }) => index === 1),
    staged[2],
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

/** What one slice of `depth` along k needs of an operand; undefined where accesses span slices. */
function partOf(operand: InBuffer, depth: number): Part | undefined {
  const { plan, layout: whole } = operand;
  const axis = depthAxis(operand);
  const shape = whole.shape.map((extent, d) => d === axis ? depth : extent);
  const count = ofAxis(whole.shape, axis) / depth;
  const low = ofAxis(axisShifts(whole.shape), axis) + Math.log2(depth);
  const kept = whole.register.filter((basis) => ((basis >> low) & (count - 1)) === 0);
  if (plan.matrices === undefined) {
    const { register } = offsetBases({ ...whole, register: kept }, plan.columns);
    for (let bit = 0; bit < plan.vectorBits; bit++) {
      if (!register.includes(1 << bit)) return undefined;
    }
  }
  // Fragments of narrow elements are whole words.
  if (bytesOf(operand.source.type.element) << kept.length < 4) return undefined;
  return { operand, shape, layout: moveShape({ ...whole, register: kept }, shape) };
}

/** The axis of an operand's source that becomes k. */
export function depthAxis({ index, permutations }: StagedOperand): number {
  return permutations.reduceRight(
    (axis, permutation) => ofAxis(permutation.attrs.order, axis),
    index === 0 ? 1 : 0,
  );
}

/** Loads the operands of one slice from a slot, between the instructions of dots that follow. */
export function loadSlice(
  build: ScheduleBuilder,
  { parts: [a, b] }: DotSlices,
  slot: Value,
  slice: number,
): readonly [Value, Value] {
  const load = ({ operand, shape, layout }: Part): Value => {
    const { buffer, source: { type: { element } } } = operand;
    const type: IrType = { element, shape, layout };
    const attrs = { access: accessOf(operand.plan), slice };
    return build.permuted(operand, build.value("local_load_slice", [buffer, slot], type, attrs));
  };
  return [load(a), load(b)];
}

/** Adds a slice to a sum; the last slice is the dot itself, so that its result stays the same value. */
export function multiplySlice(
  func: Func,
  build: ScheduleBuilder,
  { dot, count }: DotSlices,
  slice: number,
  [a, b]: readonly [Value, Value],
  sum: Value,
): Value {
  const result = resultOf(dot);
  if (slice === count - 1) {
    dot.operands.splice(0, 3, a, b, sum);
    build.out.push(dot);
    return result;
  }
  const part = newOp(func, "dot", [a, b, sum], [result.type], dot.span, dot.attrs);
  build.out.push(part);
  return resultOf(part);
}
