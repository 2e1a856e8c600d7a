/**
 * Which loops prefetch operands of their dots, in how many slots; pipelined_loop.ts has the forms. Where the target
 * can copy asynchronously, loads become copies into a ring of slots; elsewhere there are two slots, and loads go
 * through registers.
 */
import type { Func, Op, OpOf } from "../../ir/func.ts";
import { loopOf } from "../../ir/flow.ts";
import {
  pipelineByIterations,
  pipelineBySlices,
  pipelineThroughRegisters,
} from "./pipelined_loop.ts";
import type { AddressState, Plan } from "./prefetch.ts";
import { PARTITIONS } from "../../layout/warp_group.ts";
import type { TargetContext } from "../../tile/pass.ts";
import type { LoadedOperand, StagedOperand } from "../staged_operand.ts";
import { BARRIER_BYTES, type StagingArea } from "../staging_area.ts";
import { planSlices } from "./dot_slices.ts";
import { aligned } from "../allocate_shared.ts";
import {
  GROUP_STAGES,
  hasEffects,
  isCopyable,
  prefetchableLoad,
  slotsBesideBlocks,
  slotsFor,
  stagesOf,
  stateOf,
  sumRegisters,
} from "./loop_loads.ts";
import { stageGroupDot } from "../warp_groups/group_dot.ts";
import { type MixedStates, pipelineMixedBeside } from "../warp_groups/mixed_beside.ts";
import {
  type MixedDot,
  pipelineMixedDot,
  planMixedDot,
  stageMixedDot,
} from "../warp_groups/mixed_loop.ts";
import {
  BOX_ALIGNMENT,
  boxedOperands,
  boxesOf,
  LEAST_TENSOR_SLOTS,
  pipelineTensorDot,
  planTensorDot,
  stageTensorDot,
} from "../warp_groups/tensor_loop.ts";
import type { Reuse } from "../warp_groups/slot_ring.ts";
import { pipelinePartitions, planPartitions } from "../warp_groups/partition_programs.ts";
import { pipelineAcrossPrograms, planPrograms } from "../warp_groups/tensor_programs.ts";
import {
  chunkSlots,
  pipelineChunkedDot,
  planChunkedDot,
  stageChunkedDot,
} from "../warp_groups/chunked_loop.ts";
import { planComputedLeft } from "../warp_groups/computed_left.ts";
import { pipelineComputed } from "../warp_groups/computed_loop.ts";
import { pipelineMade } from "../warp_groups/made_loop.ts";
import { pipelineStoredDot, planStoredDot } from "../warp_groups/stored_loop.ts";
import {
  gatheredOperands,
  LEAST_SLOTS,
  pipelineGroupDot,
  planGroupDot,
} from "../warp_groups/warp_group_loop.ts";

/** Takes what a loop needs of the staging area. */
export type PipelinedLoop = (area: StagingArea) => StagedLoop;

export interface StagedLoop {
  /** Its copies run on into the next program of a block. */
  readonly isAcross: boolean;
  /** What takes the loop's place. */
  readonly rewrite: (reuse: () => Reuse) => RewrittenLoop;
}

export interface RewrittenLoop {
  /** Before the loop over programs, if there is one. */
  readonly before: readonly Op[];
  /** What the program that the loop is in begins with. */
  readonly first: readonly Op[];
  readonly ops: readonly Op[];
}

/** A loop that does one program. */
const inProgram = (rewrite: (reuse: () => Reuse) => readonly Op[]): StagedLoop => ({
  isAcross: false,
  rewrite: (reuse) => ({ before: [], first: [], ops: rewrite(reuse) }),
});

/** Slots that hide the latency of memory; more only take space. */
const DEFAULT_STAGES = 3;
/** What is around a loop. */
export interface Around {
  /** The loop over programs that it is in. */
  readonly programs: OpOf<"while"> | undefined;
  /** Warps beside the program's can do what comes before it too. */
  readonly isFirst: boolean;
}

/** How to pipeline a loop; undefined where nothing can be prefetched. */
export function pipelineLoop(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly StagedOperand[],
  context: TargetContext,
  { programs, isFirst }: Around,
): PipelinedLoop | undefined {
  const numStages = stagesOf(loop, context);
  if (candidates.length === 0 || numStages === 1 || hasEffects(loop)) return undefined;
  const tensor = pipelineByTensorCopies(func, loop, candidates, context, programs);
  if (tensor !== undefined) return tensor;
  const staged = candidates.flatMap((operand): LoadedOperand[] => {
    const load = prefetchableLoad(loop, operand);
    return load === undefined ? [] : [{ ...operand, load }];
  });
  const computed = pipelineComputed(func, loop, candidates, staged, context);
  if (computed !== undefined) return (area) => inProgram(computed(area));
  if (staged.length === 0) return undefined;
  const made = context.target.asyncCopies
    ? pipelineMade(func, loop, candidates, staged, context)
    : undefined;
  if (made !== undefined) return (area) => inProgram(made(area));
  const carried = stateOf(loop, staged);
  if (carried === undefined) return undefined;
  const mixed = pipelineByBothCopies(func, loop, candidates, staged, { context, isFirst });
  if (mixed !== undefined) return mixed;
  const isAsync = context.target.asyncCopies &&
    staged.every((operand) => isCopyable(operand, context.axisInfo()));
  const bytes = staged.reduce((sum, operand) => sum + operand.bytes, 0);
  const group = planGroupDot(func, loop, staged, context.target);
  const hasCopies = context.target.asyncCopies &&
    group?.staged.every((operand) => isCopyable(operand, context.axisInfo()));
  if (group !== undefined && hasCopies) {
    const slots = slotsFor(context, bytes, numStages ?? GROUP_STAGES);
    if (slots >= LEAST_SLOTS) {
      return (area) => {
        const dot = stageGroupDot(group, area, slots);
        const { staged } = dot;
        return inProgram(() => pipelineGroupDot({ func, loop, staged, carried, slots }, dot));
      };
    }
  }
  const chunked = group && planChunkedDot(group, loop, context.axisInfo());
  const depth = chunked && !isAsync
    ? chunkSlots(chunked, context.target, numStages ?? GROUP_STAGES)
    : undefined;
  if (chunked !== undefined && depth !== undefined) {
    return (area) => {
      const dot = stageChunkedDot(chunked, area, depth);
      const plan: Plan = { func, loop, staged: dot.staged, carried, slots: depth };
      return inProgram(() => pipelineChunkedDot(plan, dot));
    };
  }
  const stored = isAsync ? undefined : group && planStoredDot(group);
  if (stored !== undefined && slotsFor(context, bytes, LEAST_SLOTS) === LEAST_SLOTS) {
    const slots = LEAST_SLOTS;
    return (area) => {
      const dot = stageGroupDot(stored, area, slots);
      const { staged } = dot;
      return inProgram(() => pipelineStoredDot({ func, loop, staged, carried, slots }, dot));
    };
  }
  if (!isAsync && staged.some(({ dot }) => sumRegisters(dot) >= MANY_REGISTERS)) return undefined;
  const wanted = isAsync ? numStages ?? DEFAULT_STAGES : 2;
  const slots = slotsFor(context, bytes, wanted);
  if (slots < 2) return undefined;
  return (area) => {
    const inBuffers = staged.map((operand) => area.stage(operand, slots));
    const plan: Plan = { func, loop, staged: inBuffers, carried, slots };
    return inProgram(() => {
      if (!isAsync) return pipelineThroughRegisters(plan);
      const slices = planSlices(inBuffers, context.target);
      return slices === undefined ? pipelineByIterations(plan) : pipelineBySlices(plan, slices);
    });
  };
}

function pipelineByTensorCopies(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly StagedOperand[],
  context: TargetContext,
  programs: OpOf<"while"> | undefined,
): PipelinedLoop | undefined {
  const group = planComputedLeft(func, loop, candidates, context.target) ??
    planTensorDot(func, loop, candidates, context.target);
  const staged = group === undefined ? [] : boxesOf(group);
  const carried = group && stateOf(loop, staged);
  if (group === undefined || carried === undefined) return undefined;
  const bytes = staged.reduce(
    (sum, operand) => sum + aligned(operand.bytes, BOX_ALIGNMENT),
    BARRIER_BYTES,
  );
  const stages = stagesOf(loop, context);
  const slots = stages === undefined && programs === undefined
    ? slotsBesideBlocks(context, bytes, sumRegisters(group.dot))
    : slotsFor(context, bytes, stages ?? GROUP_STAGES);
  if (slots < LEAST_TENSOR_SLOTS) return undefined;
  if (programs?.attrs.partitions !== undefined) {
    const partitions = planPartitions(loop, staged.flatMap(({ load }) => load.operands), programs);
    return partitions && ((area) => {
      const dot = stageTensorDot(group, area, slots);
      const { numWarps } = context;
      const plan = { func, loop, staged: dot.staged, slots, numWarps, ...partitions };
      const [full, empty] = [area.barriers(slots, loop.span), area.barriers(slots, loop.span)];
      const barriers = { full, empty, turn: area.barriers(PARTITIONS, loop.span) };
      return {
        isAcross: true,
        rewrite: () => ({ ...pipelinePartitions(plan, dot, barriers), first: [] }),
      };
    });
  }
  const ring = programs && planPrograms(loop, staged, carried, programs);
  // What is never there leaves room for other blocks.
  const used = ring === undefined && loop.attrs.single === true ? LEAST_TENSOR_SLOTS : slots;
  return (area) => {
    const dot = stageTensorDot(group, area, used);
    const plan: Plan = { func, loop, staged: boxesOf(dot), carried, slots: used };
    const barriers = area.barriers(used, loop.span);
    return ring === undefined
      ? inProgram((reuse) => pipelineTensorDot(plan, dot, barriers, reuse()))
      : { isAcross: true, rewrite: () => pipelineAcrossPrograms(plan, dot, barriers, ring) };
  };
}

/** A loop with one box of a tensor and one operand that threads gather. */
function pipelineByBothCopies(
  func: Func,
  loop: OpOf<"while">,
  candidates: readonly StagedOperand[],
  loaded: readonly LoadedOperand[],
  { context, isFirst }: Pick<Around, "isFirst"> & { readonly context: TargetContext },
): PipelinedLoop | undefined {
  const boxed = boxedOperands(func, loop, candidates);
  if (boxed.length === 0) return undefined;
  const gathered = gatheredOperands(loaded)
    .filter((operand) => isCopyable(operand, context.axisInfo()));
  const group = planMixedDot(func, loop, boxed, gathered, context.target);
  const states = group && mixedStates(loop, group);
  if (group === undefined || states === undefined) return undefined;
  const { carried } = states;
  const isBeside = isFirst && hasScalars(loop, states.gathered);
  const barrierBytes = (isBeside ? 2 : 1) * BARRIER_BYTES;
  const bytes = group.staged.reduce((sum, operand) => sum + operand.bytes, barrierBytes);
  const slots = slotsFor(context, bytes, stagesOf(loop, context) ?? GROUP_STAGES);
  if (slots < LEAST_SLOTS) return undefined;
  return (area) => {
    const dot = stageMixedDot(group, area, slots);
    const plan: Plan = { func, loop, staged: dot.staged, carried, slots };
    const full = area.barriers(slots, loop.span);
    if (!isBeside) return inProgram(() => pipelineMixedDot(plan, dot, full));
    const barriers = { full, empty: area.barriers(slots, loop.span) };
    return inProgram(() => pipelineMixedBeside(plan, dot, barriers, states, context.numWarps));
  };
}

/** What a loop carries for the copies of both operands, and of each. */
function mixedStates(
  loop: OpOf<"while">,
  group: MixedDot,
): MixedStates & { readonly carried: AddressState } | undefined {
  const carried = stateOf(loop, group.staged);
  const box = stateOf(loop, [group.box]);
  const gathered = stateOf(loop, [group.gathered]);
  return carried && box && gathered && { carried, box, gathered };
}

/**
 * Whether a loop carries no tiles for its copies. Where each thread carries the places of its elements, as those of
 * pixels, what the loop takes is their computation: a warp beside the program's is no gain there
 * (tests/gpu/results/products.md).
 */
function hasScalars(loop: OpOf<"while">, { entering }: AddressState): boolean {
  const { params } = loopOf(loop).test;
  return entering.every((index) => params[index]?.type.shape.length === 0);
}

/** Accumulators that leave a thread no room for what it prefetches. */
const MANY_REGISTERS = 128;
