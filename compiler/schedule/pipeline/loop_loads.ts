/** What loops can copy ahead: the loads of operands, and slots for them. */
import type { Op, OpOf } from "../../ir/func.ts";
import { loopOf } from "../../ir/flow.ts";
import { madeBy, operandsOf } from "../../ir/op.ts";
import { isLookup, rowOf } from "../../ir/table.ts";
import { bytesOf } from "../../ir/types.ts";
import { walkOps } from "../../ir/walk.ts";
import { accessGroups } from "../../layout/access_groups.ts";
import { fillsMultiprocessor, layoutOf } from "../../layout/tiles.ts";
import { applyBases, elementAt } from "../../linear/linear.ts";
import { query } from "../../targets.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import type { TargetContext } from "../../tile/pass.ts";
import type { LoadedOperand, StagedOperand } from "../staged_operand.ts";
import { type AddressState, addressState, type PrefetchedOperand } from "./prefetch.ts";

/** Slots that hide the latency of memory for warp groups, whose dots keep a slot longer. */
export const GROUP_STAGES = 4;

/** As many slots of so many bytes as are wanted, or fit. */
export function slotsFor({ target }: TargetContext, bytes: number, wanted: number): number {
  return query(
    target,
    ({ sharedBytesPerBlock }) => Math.min(wanted, Math.floor(sharedBytesPerBlock / bytes)),
  );
}

/**
 * As many slots as hide latency, or one less where that leaves memory for a second block on a multiprocessor whose registers
 * suffice for two: one multiplies while the other one begins or stores. 128 x 128 halves in steps of 64 on an H200, three
 * slots and four, TFLOP/s: 4096^3 687 and 639, 8192^2 x 512 544 and 496, batches of 512^3 369 and 339, convolutions 1.04 to
 * 1.11 times; but 328 and 353 where there is one block for each multiprocessor.
 */
export function slotsBesideBlocks(context: TargetContext, bytes: number, sums: number): number {
  const { target, numWarps } = context;
  const wanted = slotsFor(context, bytes, GROUP_STAGES);
  if (fillsMultiprocessor(sums, numWarps, target)) return wanted;
  return query(target, ({ sharedBytesPerSm }) => {
    const beside = Math.floor((sharedBytesPerSm / 2 - RESERVED_BYTES) / bytes);
    return beside === wanted - 1 ? beside : wanted;
  });
}

/** Shared memory of a block that is the system's (CUDA C++ Programming Guide, compute capability 8.x and 9.0). */
export const RESERVED_BYTES = 1024;

/**
 * Slots of copies beside memory of its own that a loop needs: the least if two blocks then fit a multiprocessor whose registers
 * suffice for two, else as many as are wanted or fit.
 */
export function slotsBesideOwn(
  dot: Op,
  [bytes, own]: readonly [bytes: number, own: number],
  context: TargetContext,
  [least, wanted]: readonly [least: number, wanted: number],
): number {
  const { target, numWarps } = context;
  const mayBeTwo = !fillsMultiprocessor(sumRegisters(dot), numWarps, target);
  return query(target, ({ sharedBytesPerSm, sharedBytesPerBlock }) => {
    const areTwo = mayBeTwo && least * bytes + own + RESERVED_BYTES <= sharedBytesPerSm / 2;
    return areTwo ? least : Math.min(wanted, Math.floor((sharedBytesPerBlock - own) / bytes));
  });
}

/** The loop's own hint is stronger than the kernel's. */
export function stagesOf(loop: OpOf<"while">, { numStages }: TargetContext): number | undefined {
  return loop.attrs.num_stages ?? numStages;
}

/** Writes to memory may be what the loads read. */
export function hasEffects(loop: OpOf<"while">): boolean {
  let found = false;
  for (const region of loop.regions) {
    walkOps(region, (op) => {
      const { effect } = rowOf(op);
      found ||= effect === "write" || effect === "sync" ||
        (effect === "read" && op.name !== "load" && op.name !== "tensor_load");
    });
  }
  return found;
}

/** The load of an operand, where it is a plain one that every iteration runs. */
export function prefetchableLoad(
  loop: OpOf<"while">,
  { source }: StagedOperand,
): OpOf<"load"> | undefined {
  const load = madeBy(source, "load");
  const isPlain = load !== undefined && !isLookup(load) && loopOf(loop).body.ops.includes(load) &&
    load.attrs.modifiers.length === 0 && operandsOf(load).other === undefined;
  return isPlain ? load : undefined;
}

/** Bytes that one `cp.async` copies. */
const COPY_BYTES: readonly number[] = [4, 8, 16];

/** Each access of the load is one copy to consecutive offsets. */
export function isCopyable({ load, source, plan }: LoadedOperand, axisInfo: AxisFacts): boolean {
  const layout = layoutOf(source);
  return accessGroups(load, axisInfo).every((group) => {
    const first = elementAt(layout, group[0], 0, 0);
    return COPY_BYTES.includes(group.length * bytesOf(source.type.element)) &&
      group.every((register, i) =>
        (elementAt(layout, register, 0, 0) ^ first) === applyBases(plan.columns, i)
      );
  });
}

/** What the loop carries for the addresses of staged operands; undefined where these cannot be computed earlier. */
export function stateOf(
  loop: OpOf<"while">,
  staged: readonly Pick<PrefetchedOperand, "load">[],
): AddressState | undefined {
  return addressState(loop, staged.flatMap(({ load }) => load.operands));
}

/** 32-bit registers of a dot's accumulators. */
export function sumRegisters(dot: Op): number {
  return dot.results.reduce(
    (sum, { type: { element, layout } }) =>
      sum + bytesOf(element) / 4 * 2 ** (layout?.register.length ?? 0),
    0,
  );
}
