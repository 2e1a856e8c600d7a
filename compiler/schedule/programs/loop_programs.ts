/**
 * Lets a block of a form with tensor copies do several programs, one after the other:
 *
 *     program                              while program = block_id < num_programs: program; program += num_blocks
 *
 * Copies can then run on from one program into the next (warp_groups/tensor_programs.ts, chains/chain_copies.ts), so
 * that they are under way while results are stored. Programs have no order (language.md 8.2), so any of them may follow
 * another one.
 *
 * It is done where the sums of a block leave no registers for a second one on its multiprocessor: two blocks overlap
 * without it, and smaller tiles are for products that have a program for each multiprocessor at most.
 *
 * Where a program is one warp group and two of them fill a multiprocessor, a block has two such partitions, which do every
 * other program each (warp_groups/partition_programs.ts): one multiplies while the other one computes and stores.
 */
import { loopOf } from "../../ir/flow.ts";
import { type Func, type Op, type OpOf, setAttrs } from "../../ir/func.ts";
import { operandsOf, resultOf, tensorMapOf } from "../../ir/op.ts";
import type { AttrsOf } from "../../ir/ops.ts";
import { loopOverPrograms } from "../../ir/program_loop.ts";
import { rowOf } from "../../ir/table.ts";
import { bytesOf } from "../../ir/types.ts";
import { cloneFunc, restoreBody, walkOps } from "../../ir/walk.ts";
import { exchangeBytes, isExchange } from "../../layout/exchanges.ts";
import { isComputedLeft } from "../../layout/operands/computed_left.ts";
import { fillsMultiprocessor, registerCount } from "../../layout/tiles.ts";
import {
  boxBytes,
  groupType,
  LEAST_PARTITION_SLOTS,
  mayHavePartitions,
  PARTITIONS,
} from "../../layout/warp_group.ts";
import { fitsShared, query } from "../../targets.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { aligned, bytesApart, exchangesApart } from "../allocate_shared.ts";
import { parametersNeeded } from "../backward_slice.ts";
import { buffersOf, type ChainPlan, planChain } from "../chains/chain_plan.ts";
import { growsWithProgram } from "./longest_first.ts";
import { GROUP_STAGES } from "../pipeline/loop_loads.ts";
import { repeats } from "../repeats.ts";
import { planPartitions } from "../warp_groups/partition_programs.ts";
import {
  takeTurns,
  turnsAlongAll,
  turnsAlongFirst,
  turnsByNumber,
  turnsToAndFro,
} from "./turns.ts";

export const loopPrograms: Pass<TargetContext> = {
  name: "loop-programs",
  doc: "blocks do several programs in turn where copies of one can begin during the one before",
  run: (func, context) => {
    if (context.form === "turns") return takeChain(func, context);
    if (takeGuarded(func, context)) return true;
    const loop = loadingLoop(func);
    if (loop === undefined || !isUnordered(func, loop)) return false;
    if (suitsPartitions(func, loop, context)) return takePartitions(func, loop, context);
    if (!isAlone(dotsOf(loop), context)) return false;
    const slots = slotsBeside(func, loop, context);
    if (slots === undefined) return false;
    setAttrs(loop, { num_stages: slots });
    takeAll(func, loop, {});
    return true;
  },
};

/** Lets blocks do programs along the first axis of the grid in turn, or along all axes if programs ask for several. */
function takeAll(func: Func, { span }: Op, attrs: AttrsOf<"while">): void {
  if (hasOneAxis(func)) takeTurns(func, turnsAlongFirst(func, span), { programs: true, ...attrs });
  else takeTurns(func, turnsByNumber(func, span), { programs: true, all_axes: true, ...attrs });
}

/** Whether programs ask for their index along the first axis of the grid only. */
function hasOneAxis({ body }: Func): boolean {
  let isOne = true;
  walkOps(body, (op) => {
    isOne &&= op.name !== "program_id" || op.attrs.axis === 0;
  });
  return isOne;
}

/** The same by partitions of a block, if copies of both can begin early. */
function takePartitions(func: Func, loop: OpOf<"while">, context: TargetContext): boolean {
  const slots = slotsBeside(func, loop, context, PARTITIONS);
  if (slots === undefined || slots < LEAST_PARTITION_SLOTS) return false;
  const before = cloneFunc(func);
  setAttrs(loop, { num_stages: slots });
  takeAll(func, loop, { partitions: PARTITIONS });
  const programs = loopOverPrograms(func);
  const loads = loopOf(loop).body.ops.filter(({ name }) => name === "tensor_load");
  const operands = loads.flatMap((load) => load.operands);
  const isPlanned = programs !== undefined &&
    planPartitions(loop, operands, programs) !== undefined;
  if (!isPlanned) restoreBody(func, before);
  return isPlanned;
}

/**
 * The same along all axes of the grid for a chain of two dots, whose copies a warp beside those of the program starts
 * (chains/chain_loop.ts), in a form of its own for short loops. A program's boxes from outside of the loop come during
 * the one before, so they need memory twice. What programs exchange besides must have memory of its own, each warp a
 * part: then no warp waits for another one between two programs.
 */
function takeChain(func: Func, context: TargetContext): boolean {
  const { ops } = func.body;
  const loops = ops.filter((op) => op.name === "while");
  const [loop] = loops;
  if (loop === undefined || loops.length > 1 || func.maps.length === 0) return false;
  const isFirst = ops.slice(0, ops.indexOf(loop)).every(repeats) && repeats(loop);
  const chain = isFirst ? planChain(func, loop, context) : undefined;
  if (chain === undefined || chain.dots.length !== CHAINED || chain.guarded.length > 0) {
    return false;
  }
  if (!isUnordered(func, loop) || !isAlone(dotsOf(loop), context)) return false;
  const outside = chain.boxes.filter(({ isRing }) => !isRing);
  const bytes = buffersOf(chain).reduce((sum, { slots, slotBytes }) => sum + slots * slotBytes, 0);
  const twice = outside.reduce((sum, box) => sum + box.bytes, bytes);
  const exchanges = exchangesApart(func);
  const needed = aligned(bytesApart(exchanges), SPARE_BYTES) + twice + SPARE_BYTES;
  if (outside.length === 0 || exchanges.length === 0 || !fitsShared(context.target, needed)) {
    return false;
  }
  const within = shortLoop(func, chain);
  if (within === undefined) return false;
  const turns = turnsAlongAll(func, loop.span, growsWithProgram(loop));
  takeTurns(func, turns, { programs: true, within });
  return true;
}

/**
 * The same for a loop of dots under conditions, for all launches: how long it is differs from program to program.
 * There are fewer slots if what programs exchange has no room beside them.
 */
function takeGuarded(func: Func, context: TargetContext): boolean {
  const { ops } = func.body;
  const [loop, ...others] = ops.filter((op) => op.name === "while");
  if (loop === undefined || others.length > 0 || func.maps.length === 0) return false;
  const isFirst = ops.slice(0, ops.indexOf(loop)).every(repeats) && repeats(loop);
  const chain = isFirst ? planChain(func, loop, context) : undefined;
  if (chain === undefined || chain.guarded.length === 0 || !isUnordered(func, loop)) return false;
  if (!isAlone(chain.dots.map(({ dot }) => dot), context)) return false;
  // Those within warps have memory of their own, that of others between the same layouts.
  const exchanged = Math.max(exchangedBytes(func, loop), bytesApart(exchangesApart(func), true));
  const apart = aligned(exchanged, SPARE_BYTES) + SPARE_BYTES;
  const bytes = buffersOf(chain).reduce((sum, { slots, slotBytes }) => sum + slots * slotBytes, 0);
  const fits = (slots: number): boolean =>
    fitsShared(context.target, apart + bytes / chain.slots * slots);
  let { slots } = chain;
  while (slots > LEAST_SLOTS && !fits(slots)) slots--;
  if (!fits(slots)) return false;
  setAttrs(loop, { num_stages: slots });
  const turns = turnsToAndFro(func, loop.span, growsWithProgram(loop));
  takeTurns(func, turns, { programs: true, within: [] });
  return true;
}

/**
 * Iterations of a short loop: the start of a block takes as long as two or three. With more it matters more that a GPU
 * gives the next block to the multiprocessor that is free first. Attention of halves on an H200, of cuDNN: 4 iterations
 * 0.88 -> 1.01, 16 1.00 -> 1.02, 32 1.034 -> 1.025.
 */
const SHORT_ITERATIONS = 16;

/** The axis of a tensor map along which a loop goes, by their numbers, and the elements of it in so many iterations. */
function shortLoop(func: Func, { loop, boxes }: ChainPlan): readonly number[] | undefined {
  const { body } = loopOf(loop);
  for (const { kind, load, isRing } of boxes) {
    if (kind !== "tensor" || !isRing) continue;
    const { map } = load.attrs;
    const { axes } = tensorMapOf(func, load);
    const [, ...coordinates] = load.operands;
    const axis = coordinates.findIndex((at) =>
      (parametersNeeded(body, [at], false)?.size ?? 0) > 0
    );
    const tile = axes[axis]?.tile;
    const extent = tile === undefined ? undefined : resultOf(load).type.shape[tile];
    if (extent !== undefined) return [map, axis, SHORT_ITERATIONS * extent];
  }
  return undefined;
}

/** Dots of a chain that overlap from one iteration to the next (chains/rotated_chain.ts). */
const CHAINED = 2;

/** The loop with all tensor loads of a function, where it is the only one with such and no control is around it. */
function loadingLoop({ body }: Func): OpOf<"while"> | undefined {
  let loads = 0;
  walkOps(body, ({ name }) => loads += name === "tensor_load" ? 1 : 0);
  for (const op of body.ops) {
    if (op.name !== "while") continue;
    const here = loopOf(op).body.ops.filter(({ name }) => name === "tensor_load");
    if (here.length > 0) return here.length === loads && !gathers(op) ? op : undefined;
  }
  return undefined;
}

/** Whether a dot of a loop takes a tile that threads load: its copies do not run on into the next program. */
function gathers(loop: OpOf<"while">): boolean {
  return loopOf(loop).body.ops.some((op) =>
    op.name === "dot" &&
    [operandsOf(op).a, operandsOf(op).b].some((operand) => {
      let { def } = operand;
      while (def?.name === "permute" || def?.name === "convert_layout") {
        ({ def } = operandsOf(def).value);
      }
      return def?.name === "load";
    })
  );
}

/**
 * Whether nothing in a program says when it happens, and all it stores comes after the loop. Rotated rows are left out:
 * with them ptxas 13.0 lets the wgmma instructions of such a loop wait for each other (C7514).
 */
function isUnordered({ body }: Func, loop: Op): boolean {
  let isFree = true;
  const visit = (op: Op, mayStore: boolean): void => {
    const { effect } = rowOf(op);
    const isStore = op.name === "store" && mayStore && op.attrs.modifiers.length === 0;
    const isLoad = op.name === "tensor_load" ||
      (op.name === "load" && !op.attrs.modifiers.includes("volatile"));
    if (op.name === "rotate") isFree = false;
    isFree &&= effect === "pure" || effect === "control" || isStore || isLoad;
  };
  const at = body.ops.indexOf(loop);
  body.ops.forEach((op, index) => {
    visit(op, index > at);
    for (const region of op.regions) walkOps(region, (inner) => visit(inner, index > at));
  });
  return isFree;
}

const dotsOf = (loop: OpOf<"while">): readonly OpOf<"dot">[] =>
  loopOf(loop).body.ops.filter((op) => op.name === "dot");

/** Registers of a thread for the sums of dots. */
function sumRegisters(dots: readonly OpOf<"dot">[]): number {
  return dots.map(resultOf).reduce(
    (all, sum) => all + registerCount(sum) * bytesOf(sum.type.element) / 4,
    0,
  );
}

/** Whether the registers of a multiprocessor do not suffice for the sums of two blocks. */
function isAlone(dots: readonly OpOf<"dot">[], { numWarps, target }: TargetContext): boolean {
  return fillsMultiprocessor(sumRegisters(dots), numWarps, target);
}

/**
 * Whether a block has partitions that do programs beside each other (warp_groups/partition_programs.ts): what programs exchange
 * stays within warps, so that no partition waits for the other one. Types that may lie in either order always come from
 * shared memory, not from registers.
 */
function suitsPartitions(
  func: Func,
  loop: OpOf<"while">,
  { numWarps, numStages, target }: TargetContext,
): boolean {
  const dots = dotsOf(loop);
  const slots = loop.attrs.num_stages ?? numStages;
  return dots.every((dot) =>
    groupType(operandsOf(dot).a)?.isEitherOrder === true && !isComputedLeft(dot)
  ) &&
    mayHavePartitions({
      sums: sumRegisters(dots),
      slots,
      boxBytes: boxBytes(loop),
      numWarps,
      target,
    }) &&
    exchangesApart(func).length > 0;
}

/** Slots with which copies for later iterations are on their way while one multiplies and one before it ends. */
const LEAST_SLOTS = 3;

/**
 * Slots of partitions that are not asked for. 128 x 128 halves on an H200, six and five, TFLOP/s: batches of 512^3 476 and
 * 456, 2048^3 582 and 567, 4096^3 693 and 695, convolutions 0.96 to 1.04 times.
 */
const PARTITION_SLOTS = 6;

/** Slots that fit beside what the exchanges of a program need, which overlap with copies; undefined where they are too few. */
function slotsBeside(
  func: Func,
  loop: OpOf<"while">,
  { target, numStages }: TargetContext,
  partitions = 1,
): number | undefined {
  const slotBytes = boxBytes(loop);
  const exchanged = partitions * exchangedBytes(func, loop);
  const usual = partitions > 1 ? PARTITION_SLOTS : GROUP_STAGES;
  const wanted = loop.attrs.num_stages ?? numStages ?? usual;
  const slots = query(target, ({ sharedBytesPerBlock }) => {
    const fitting = Math.floor((sharedBytesPerBlock - exchanged - SPARE_BYTES) / slotBytes);
    return Math.min(wanted, fitting);
  });
  return slots < LEAST_SLOTS ? undefined : slots;
}

/** What exchanges outside of a loop need, one after the other. */
function exchangedBytes(func: Func, loop: OpOf<"while">): number {
  let exchanged = 0;
  for (const op of func.body.ops) {
    if (op === loop) continue;
    const note = (one: Op): void => {
      if (isExchange(one)) exchanged = Math.max(exchanged, exchangeBytes(one));
    };
    note(op);
    op.regions.forEach((region) => walkOps(region, note));
  }
  return exchanged;
}

/** For barriers and for the alignment of swizzled buffers. */
const SPARE_BYTES = 2048;
