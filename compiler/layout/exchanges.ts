/** Which operations exchange elements between threads through shared memory, and how much of it they need. */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { ExchangeOp } from "../ir/ops.ts";
import { hasTrait } from "../ir/table.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { type LinearLayout, product } from "../linear/linear.ts";
import { copyBits, threadBases } from "../linear/threads.ts";
import { bug } from "../support/bug.ts";
import { type ConversionPlan, planConversion } from "./conversion.ts";
import { type AxisBit, axisBits, countWithout } from "./reduce.ts";
import { rotatedBytes } from "./rotate.ts";
import { layoutOf, registerCount, tileBytes, wordBytes } from "./tiles.ts";

/** Plans by layouts and what else they depend on: passes ask for those of an operation again and again. */
const PLANS = new WeakMap<LinearLayout, WeakMap<LinearLayout, Map<string, ConversionPlan>>>();

/** The plan of a `convert_layout` operation. */
export function conversionOf(op: OpOf<"convert_layout">): ConversionPlan {
  const { value } = operandsOf(op);
  const [src, dst] = [layoutOf(value), layoutOf(resultOf(op))];
  const bytes = bytesOf(value.type.element);
  const { matrices = false } = op.attrs;
  const key = `${bytes} ${matrices}`;
  const bySource = PLANS.get(src) ?? new WeakMap<LinearLayout, Map<string, ConversionPlan>>();
  const byKey = bySource.get(dst) ?? new Map<string, ConversionPlan>();
  const plan = byKey.get(key) ??
    planConversion(src, dst, bytes, { matrices: matrices ? "store" : undefined });
  PLANS.set(src, bySource.set(dst, byKey.set(key, plan)));
  return plan;
}

/** Contains a barrier of the whole block; of a block of one warp, a warp barrier is one. */
export function hasBlockBarrier(op: Op): boolean {
  if (hasTrait(op, "blocks")) return true;
  if (op.name === "reduce") {
    const bits = axisBits(layoutOf(operandsOf(op).value), op.attrs.axis);
    return bits.some(({ input }) => input === "warp");
  }
  if (op.name !== "convert_layout") return false;
  const plan = conversionOf(op);
  const warps = layoutOf(resultOf(op)).warp;
  return plan.kind === "shared" && (!plan.withinWarp || warps.length === 0);
}

/** Bytes of shared memory that an operation exchanges elements through, all at once; 0: it needs none. */
const BYTES: { readonly [N in ExchangeOp]: (op: OpOf<N>) => number } = {
  convert_layout: (op) =>
    conversionOf(op).kind === "shared" ? tileBytes(operandsOf(op).value.type) : 0,
  exchange: (op) => {
    const { value } = operandsOf(op);
    const crossesWarps = axisBits(layoutOf(value), op.attrs.axis)
      .some(({ input, step }) => input === "warp" && ((op.attrs.mask >> step) & 1) === 1);
    return crossesWarps ? heldByBlock(value) * wordOf(value) : 0;
  },
  gather: (op) => {
    const { value } = operandsOf(op);
    return product(value.type.shape) * wordOf(value);
  },
  histogram: (op) => tileBytes(resultOf(op).type),
  rotate: (op) => {
    const { shape, element } = operandsOf(op).value.type;
    return rotatedBytes(shape, op.attrs.axis, bytesOf(element));
  },
  reduce: (op) => {
    const layout = layoutOf(operandsOf(op).value);
    const warps = axisBits(layout, op.attrs.axis).filter(({ input }) => input === "warp").length;
    if (warps === 0) return 0;
    return (countWithout(layout.shape, op.attrs.axis) << warps) * accumulatorBytes(op);
  },
  scan: (op) => {
    const { value } = operandsOf(op);
    const part = scannedPart(axisBits(layoutOf(value), op.attrs.axis));
    return heldByBlock(value) * part * accumulatorBytes(op);
  },
  atomic: resultBytes,
  atomic_cas: resultBytes,
};

export function isExchange(op: Op): op is OpOf<ExchangeOp> {
  return Object.hasOwn(BYTES, op.name);
}

/** Bytes of shared memory that an operation exchanges elements through; 0: none. */
export function exchangeBytes<N extends ExchangeOp>(op: OpOf<N>): number {
  const bytes: (op: OpOf<N>) => number = BYTES[op.name];
  return bytes(op);
}

/**
 * All threads write before one block barrier and read after it. Two such exchanges in a row need no barrier between
 * them if they have different addresses: a thread that writes the second has passed the barrier of the first, which
 * all had reached after they had read what was there before.
 */
export function hasOneBarrier(op: Op): boolean {
  return op.name === "reduce";
}

const wordOf = (value: Value): number => wordBytes(value.type.element);

/** Elements that all threads hold, copies included. */
const heldByBlock = (value: Value): number =>
  registerCount(value) << threadBases(layoutOf(value)).length;

/** Bytes of a partial result: a word, and the index of the extreme one. */
function accumulatorBytes(op: OpOf<"reduce" | "scan">): number {
  const isIndex = ["argmax", "argmin"].includes(op.attrs.operator);
  return wordOf(operandsOf(op).value) + (isIndex ? 4 : 0);
}

/**
 * The largest part of a thread's registers that a scan passes to another warp: after a step over registers, two hold
 * one block. 0: all steps stay within a warp.
 */
function scannedPart(bits: readonly AxisBit[]): number {
  const parts = bits.map(({ input }, i) =>
    input !== "warp" ? 0 : bits[i - 1]?.input === "register" ? 0.5 : 1
  );
  return Math.max(0, ...parts);
}

/** The threads that own the elements of an atomic give their results to those that hold copies. */
function resultBytes(op: OpOf<"atomic" | "atomic_cas">): number {
  const { layout, shape, element } = operandsOf(op).pointer.type;
  if (!isPointer(element) || element.pointee === "void") bug("an atomic on what is no pointer");
  const isShared = layout === undefined || copyBits(layout) !== 0;
  return isShared ? product(shape) * wordBytes(element.pointee) : 0;
}
