/** Which operations exchange elements between threads through shared memory, and how much of it they need. */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import type { ExchangeOp } from "../ir/ops.ts";
import { hasTrait } from "../ir/table.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { type Input, type LinearLayout, product } from "../linear/linear.ts";
import { blockThreadBases, copyBits } from "../linear/threads.ts";
import { bug, must } from "../support/bug.ts";
import { type PartConversion, partConversion } from "./cluster.ts";
import { type ConversionPlan, planConversion, separateWarps } from "./conversion.ts";
import { type AxisBit, axisBits, countWithout } from "./reduce.ts";
import { rotatedBytes } from "./rows/rotate.ts";
import { layoutOf, registerCount, tileBytes, wordBytes } from "./tiles.ts";

/** What the barrier takes that parts of several blocks are waited for at: they begin at a multiple of a vector. */
export const BARRIER_ROOM = 16;

/** Plans by layouts and what else they depend on: passes ask for those of an operation again and again. */
const PLANS = new WeakMap<LinearLayout, WeakMap<LinearLayout, Map<string, ConversionPlan>>>();

/** What a `convert_layout` operation does with the part of a tile that each block has. */
const PARTS = new WeakMap<LinearLayout, WeakMap<LinearLayout, PartConversion>>();

/** A `convert_layout` operation in each block. */
export function partsOf(op: OpOf<"convert_layout">): PartConversion {
  const [src, dst] = [layoutOf(operandsOf(op).value), layoutOf(resultOf(op))];
  if (src.block.length === 0) return { src, dst, ranks: undefined };
  const bySource = PARTS.get(src) ?? new WeakMap<LinearLayout, PartConversion>();
  const parts = bySource.get(dst) ?? partConversion(src, dst);
  PARTS.set(src, bySource.set(dst, parts));
  return parts;
}

/** The plan of a `convert_layout` operation that stays within blocks. */
export function conversionOf(op: OpOf<"convert_layout">): ConversionPlan {
  const { value } = operandsOf(op);
  const { src, dst } = partsOf(op);
  const bytes = bytesOf(value.type.element);
  const { matrices = false, by_warp = false } = op.attrs;
  const key = `${bytes} ${matrices} ${by_warp}`;
  const bySource = PLANS.get(src) ?? new WeakMap<LinearLayout, Map<string, ConversionPlan>>();
  const byKey = bySource.get(dst) ?? new Map<string, ConversionPlan>();
  const plan = byKey.get(key) ?? planOf(src, dst, bytes, matrices, by_warp);
  PLANS.set(src, bySource.set(dst, byKey.set(key, plan)));
  return plan;
}

function planOf(
  src: LinearLayout,
  dst: LinearLayout,
  bytes: number,
  matrices: boolean,
  isByWarp: boolean,
): ConversionPlan {
  const plan = planConversion(src, dst, bytes, { matrices: matrices ? "store" : undefined });
  if (!isByWarp || plan.kind !== "shared") return plan;
  return must(separateWarps(plan, src, bytes), "memory of warps");
}

/** What parts of blocks take where those of warps follow, which begin at a multiple of a vector. */
export const blockPartBytes = (bytes: number): number =>
  Math.ceil(bytes / BARRIER_ROOM) * BARRIER_ROOM;

/** What a reduction over several blocks takes that `alternates`, each time: the next begins at a multiple of a vector. */
const arrivalBytes = (bytes: number): number => BARRIER_ROOM + blockPartBytes(bytes);

/** Combines parts of several blocks of the program, which wait for what the others send, not for each other. */
export function crossesBlocks(op: OpOf<"reduce">): boolean {
  return countOf(op, "block") > 0;
}

/** Parts of one element that the warps of a program have, and the blocks that they are for. */
export function partsOfReduction(op: OpOf<"reduce">): { parts: number; blocks: number } {
  const [warps, blocks] = [countOf(op, "warp"), countOf(op, "block")];
  return { parts: 1 << warps + blocks, blocks: 1 << blocks };
}

/** How many bits of the reduced axis are of one kind. */
function countOf(op: OpOf<"reduce">, wanted: Input): number {
  return axisBits(layoutOf(operandsOf(op).value), op.attrs.axis)
    .filter(({ input }) => input === wanted).length;
}

/** Contains a barrier of the whole program; of a program of one warp, a warp barrier is one. */
export function hasBlockBarrier(op: Op): boolean {
  if (hasTrait(op, "blocks")) return true;
  if (op.name === "reduce") return countOf(op, "warp") > 0 && !crossesBlocks(op);
  if (op.name !== "convert_layout") return false;
  if (partsOf(op).ranks !== undefined) return true;
  const plan = conversionOf(op);
  const { warp, block } = layoutOf(resultOf(op));
  return plan.kind === "shared" && (!plan.withinWarp || warp.length + block.length === 0);
}

/** Bytes of shared memory that an operation exchanges elements through, all at once; 0: it needs none. */
const BYTES: { readonly [N in ExchangeOp]: (op: OpOf<N>) => number } = {
  convert_layout: (op) => {
    const { src, ranks } = partsOf(op);
    const { value } = operandsOf(op);
    if (ranks !== undefined) return product(src.shape) * wordOf(value);
    return conversionOf(op).kind === "shared"
      ? product(src.shape) * bytesOf(value.type.element)
      : 0;
  },
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
    const [warps, blocks] = [countOf(op, "warp"), countOf(op, "block")];
    const { shape } = layoutOf(operandsOf(op).value);
    const each = countWithout(shape, op.attrs.axis) * accumulatorBytes(op);
    if (blocks === 0) return warps === 0 ? 0 : each << warps;
    const bytes = op.attrs.in_blocks === true
      ? blockPartBytes(each << blocks) + (each << warps)
      : each << warps + blocks;
    return op.attrs.alternates === true ? 2 * arrivalBytes(bytes) : BARRIER_ROOM + bytes;
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

/** Elements that all threads of a block hold, copies included. */
const heldByBlock = (value: Value): number =>
  registerCount(value) << blockThreadBases(layoutOf(value)).length;

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
  if (op.attrs.unused === true) return 0;
  const { layout, shape, element } = operandsOf(op).pointer.type;
  if (!isPointer(element) || element.pointee === "void") bug("an atomic on what is no pointer");
  const isShared = layout === undefined || copyBits(layout) !== 0;
  return isShared ? product(shape) * wordBytes(element.pointee) : 0;
}
