/**
 * A loop whose dot is done by warp groups and whose operands come by tensor copies (TMA): one thread starts them, a
 * copy says at the barrier of its slot when it is there.
 *
 *     make the barriers ready
 *     for s < slots - 1: copy iteration s into slot s
 *     barrier
 *     while (test) {
 *       wait for the barrier of this iteration's slot
 *       start the dot of the slot
 *       wait for all dots but this iteration's; barrier
 *       copy iteration + slots - 1 into the slot of the dot before
 *     }
 *     wait for all dots; barrier; end the barriers
 *
 * Barriers are made ready at each entry of the loop, so that loops around it, and other loops, find them as the first
 * one did; what nothing else uses needs no end. No copy is under way after the loop: each is waited for by its
 * iteration.
 */
import { loopOf } from "../../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { madeBy, resultOf, tensorMapOf } from "../../ir/op.ts";
import { type Box, runsOfTile, windowAxes } from "../../ir/tensor_map.ts";
import { groupBox, groupLayout, isApart } from "../../layout/warp_group.ts";
import { ofAxis } from "../../linear/linear.ts";
import type { SharedLayout } from "../../linear/shared_layout.ts";
import { zip } from "../../support/zip.ts";
import type { Target } from "../../targets.ts";
import { aligned } from "../allocate_shared.ts";
import type { ScheduleBuilder } from "../builder.ts";
import {
  finishGroupDot,
  type GroupDot,
  groupDotOf,
  stageGroupDot,
  startGroupDot,
} from "./group_dot.ts";
import { addressesOf, type Iteration, type Plan, type Source } from "../pipeline/prefetch.ts";
import { loadLeftAhead } from "./operand_loads.ts";
import { pipelineRing, type Reuse } from "./slot_ring.ts";
import type { InBuffer, StagedOperand } from "../staged_operand.ts";
import type { StagingArea } from "../staging_area.ts";

/** Slots with which copies for an iteration are on their way while another one multiplies. */
export const LEAST_TENSOR_SLOTS = 2;

/** An operand that the loop loads by a `tensor_load`. */
export interface TensorOperand extends StagedOperand {
  readonly load: OpOf<"tensor_load">;
  readonly copied: Box;
}

/** A dot of boxes. */
export interface TensorDot<O extends TensorOperand = TensorOperand> extends GroupDot<O> {
  /** Boxes of vectors that are spread over an operand that threads compute. */
  readonly vectors: readonly O[];
}

/** What addresses of boxes without a swizzle are multiples of (PTX ISA 9.0, 5.5.3.1). */
export const BOX_ALIGNMENT = 128;

/** Gives the operands slots, and then the vectors. */
export function stageTensorDot(
  dot: TensorDot,
  area: StagingArea,
  slots: number,
): TensorDot<InBuffer<TensorOperand>> {
  return {
    ...stageGroupDot(dot, area, slots),
    vectors: dot.vectors.map((one) => {
      const { source: { type: { element, shape } }, plan: { columns, vectorBits }, bytes } = one;
      const type = { element, shape, shared: { shape, columns, vectorBits } };
      const buffer = area.add(type, slots, aligned(bytes, BOX_ALIGNMENT), one.dot.span);
      return { ...one, buffer };
    }),
  };
}

/** The boxes of an iteration. */
export const boxesOf = <O extends TensorOperand>(
  { staged, vectors }: TensorDot<O>,
): readonly O[] => [
  ...staged,
  ...vectors,
];

/** The dot of a loop, if both of its operands are boxes of tensors that the loop loads, and it alone adds to its sum. */
export function planTensorDot(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly StagedOperand[],
  target: Target,
): TensorDot | undefined {
  const group = groupDotOf(func, loop, boxedOperands(func, loop, staged), target);
  return group && { ...group, vectors: [] };
}

/** Those operands that are boxes of tensors which the loop loads. */
export function boxedOperands(
  func: Func,
  loop: OpOf<"while">,
  staged: readonly StagedOperand[],
): readonly TensorOperand[] {
  const { body } = loopOf(loop);
  return staged.flatMap((operand): TensorOperand[] => {
    const load = madeBy(operand.source, "tensor_load");
    const isHere = load !== undefined && body.ops.includes(load);
    return isHere ? inBoxes(func, operand, load) : [];
  });
}

/** The operand with its buffer in the layout that warp groups read, and the boxes in which it is copied. */
function inBoxes(func: Func, operand: StagedOperand, load: OpOf<"tensor_load">): TensorOperand[] {
  const slot = boxedSlot(func, load);
  if (slot === undefined) return [];
  const { columns, vectorBits } = slot.shared;
  const plan = { ...operand.plan, columns, vectorBits };
  return [{ ...operand, plan, load, copied: slot.copied }];
}

/** How a loaded tile lies in a slot that warp groups read, and the boxes in which it is copied there. */
export interface BoxedSlot {
  readonly shared: SharedLayout;
  readonly copied: Box;
}

export function boxedSlot(func: Func, load: OpOf<"tensor_load">): BoxedSlot | undefined {
  const { element, shape } = resultOf(load).type;
  const map = tensorMapOf(func, load);
  const { axes, element: copied } = map;
  const inner = axes[0]?.tile;
  if (shape.length !== 2 || (inner !== 0 && inner !== 1)) return undefined;
  // The instruction would truncate elements that were not rounded.
  if (element === "float32" && copied !== "tfloat32") return undefined;
  const runs = runsOfTile(map, shape);
  const shared = groupLayout({ element, shape }, inner, runs[inner]);
  if (shared === undefined) return undefined;
  const { extents, swizzle } = groupBox({ element, shape, shared }, runs);
  // The pixels of one copy follow each other; where the next ones begin, no sum of its coordinates says.
  const isSplit = windowAxes(map).some(({ tile }) =>
    tile !== undefined && ofAxis(extents, tile) < ofAxis(shape, tile)
  );
  if (isSplit) return undefined;
  const box = axes.map(({ tile }) => tile === undefined ? 1 : ofAxis(extents, tile));
  return { shared, copied: { box, swizzle } };
}

/** Gives the tensor maps of operands the boxes in which they are copied. */
export function setBoxes(func: Func, staged: readonly TensorOperand[]): void {
  func.maps = func.maps.map((map, index) => {
    const operand = staged.find(({ load }) => load.attrs.map === index);
    return operand === undefined ? map : { ...map, copied: operand.copied };
  });
}

/**
 * Starts the dot of a slot when its copies are there, gives it, and ends when the slot of the dot before is free. That one is
 * done if it was apart; the first part of this one is under way meanwhile, so the barrier and what follows cost no
 * time.
 */
export function startSlot(
  build: ScheduleBuilder,
  plan: Plan,
  group: TensorDot<InBuffer<TensorOperand>>,
  barriers: Value,
  slot: Value,
  parity: Value,
): Value {
  build.effect("mbarrier_wait", [barriers, slot, parity]);
  const started = startGroupDot(build, plan, group, slot, [slot, slot], group.vectors);
  // What is computed has waited for the dot before, whose registers it takes.
  if (!isApart(group.dot) && group.isComputed !== true) {
    build.effect("wait_dots", [], { pending: 1 });
  }
  build.barrier();
  return started;
}

/** The loop, with what comes before and after it. */
export function pipelineTensorDot(
  plan: Plan,
  group: TensorDot<InBuffer<TensorOperand>>,
  barriers: Value,
  reuse: Reuse,
): Op[] {
  setBoxes(plan.func, boxesOf(group));
  const { func, loop } = plan;
  const before = group.isComputed === true ? loadLeftAhead(func, loop, group.dot) : [];
  const ops = pipelineRing(plan, group.dot, barriers, {
    busy: 1,
    copy: (build, iteration, slot) => copyBoxes(plan, build, iteration, slot, barriers),
    multiply: (build, { from, parity, to }, iteration) => {
      const started = startSlot(build, plan, group, barriers, from, parity);
      const next = copyBoxes(plan, build, iteration, to, barriers);
      finishGroupDot(build, plan, group, started);
      return next;
    },
    finish: (build) => build.barrier(),
  }, reuse);
  return [...before, ...ops];
}

/** Starts the copies of an iteration; gives the one after it. */
export function copyBoxes(
  plan: Plan,
  build: ScheduleBuilder,
  iteration: Iteration,
  slot: Value,
  barriers: Value,
): Iteration {
  const { sources, next } = addressesOf(plan, build, iteration);
  startBoxes(plan, build, sources, next.runs, slot, barriers);
  return next;
}

/** Starts the copies of boxes from these operands of their loads, if a condition holds. */
export function startBoxes(
  { staged }: Plan,
  build: ScheduleBuilder,
  sources: readonly Source[],
  when: Value,
  slot: Value,
  barriers: Value,
): void {
  const boxes = zip(staged, sources).flatMap(([{ bytes }, { load, buffer, others }]) =>
    load.name === "tensor_load" ? [{ map: load.attrs.map, bytes, buffer, coordinates: others }] : []
  );
  const bytes = boxes.reduce((sum, box) => sum + box.bytes, 0);
  build.once(when, (inside) => {
    inside.effect("mbarrier_expect", [barriers, slot], { bytes });
    for (const { map, buffer, coordinates } of boxes) {
      inside.effect("tensor_copy", [buffer, barriers, slot, ...coordinates], { map });
    }
  });
}
