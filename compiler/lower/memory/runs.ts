/**
 * Runs of elements that may start anywhere, between memory and a buffer: one bulk copy of all vectors that a block's part has as
 * a whole, and the elements at its ends apart. Source: PTX ISA 9.0, 9.7.9.25.4 and 9.7.13.15.15.
 */
import type { Operand, Register } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { ACCESS_BYTES } from "../../layout/anchors.ts";
import { blockRank, threadInBlock } from "../addresses.ts";
import { whereTrue } from "../calls/calls.ts";
import type { LowerContext } from "../context.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { emitDeferred, lowered } from "../values.ts";
import { guardOf } from "./global.ts";
import { threadLoop } from "../thread_loop.ts";
import { slotAddress } from "./shared_buffer.ts";

const LANES = 32;

/** The block's part of a run. */
interface Run {
  /** In memory, and in shared memory. */
  readonly address: Operand;
  readonly shared: Operand;
  /** Bytes before the vectors that it has as a whole, of these, and of all. */
  readonly head: Operand;
  readonly middle: Operand;
  readonly bytes: Operand;
  readonly elementBytes: number;
}

const scalar = (cx: LowerContext, value: Value): Operand =>
  whole(cx.emitter, lowered(cx, value)(0), value.type.element);

function runOf(cx: LowerContext, op: OpOf<"copy_run" | "store_run">): Run {
  const e = cx.emitter;
  const { pointer, count, buffer, slot } = operandsOf(op);
  const elementBytes = bytesOf(buffer.type.element);
  const most = elementBytes << (buffer.type.shared?.columns.length ?? 0);
  const before = cx.numCtas === 1 ? int(0) : e.mul("b32", blockRank(cx), int(most));
  const all = e.mul("b32", scalar(cx, count), int(elementBytes));
  const left = e.pure("sub.s32", "b32", [all, before]);
  const atMost = e.pure("min.s32", "b32", [left, int(most)]);
  const bytes = e.pure("max.s32", "b32", [atMost, int(0)]);
  const start = e.inRegister(scalar(cx, pointer), "b64");
  const address = cx.numCtas === 1
    ? start
    : e.add("b64", start, e.pure("cvt.u64.u32", "b64", [before]));
  const low = e.pure("cvt.u32.u64", "b32", [address]);
  const toVector = e.pure("and.b32", "b32", [
    e.pure("neg.s32", "b32", [low]),
    int(ACCESS_BYTES - 1),
  ]);
  const head = e.pure("min.s32", "b32", [toVector, bytes]);
  const middle = e.pure("and.b32", "b32", [
    e.pure("sub.s32", "b32", [bytes, head]),
    int(-ACCESS_BYTES),
  ]);
  return { address, shared: slotAddress(cx, buffer, slot), head, middle, bytes, elementBytes };
}

/** The element at the ends of a run that a lane has: in memory, in shared memory, and whether there is one. */
function endOfLane(cx: LowerContext, { address, shared, head, middle, bytes, elementBytes }: Run): {
  readonly memory: Operand;
  readonly local: Operand;
  readonly isThere: Operand;
} {
  const e = cx.emitter;
  const lane = threadInBlock(cx);
  const inHead = e.mul("b32", lane, int(elementBytes));
  const isHead = e.pure("setp.lt.s32", "pred", [inHead, int(ACCESS_BYTES)]);
  const behind = e.pure("add.s32", "b32", [e.pure("add.s32", "b32", [head, middle]), inHead]);
  const inTail = e.add("b32", behind, int(-ACCESS_BYTES));
  const at = e.pure("selp.b32", "b32", [inHead, inTail, isHead]);
  const end = e.pure("selp.b32", "b32", [head, bytes, isHead]);
  return {
    memory: e.add("b64", address, e.pure("cvt.u64.u32", "b64", [at])),
    local: e.add("b32", shared, at),
    isThere: e.pure("setp.lt.s32", "pred", [at, end]),
  };
}

/** Of the first warp, the first lane where there are vectors. */
function copiesMiddle(cx: LowerContext, { middle }: Run): Operand {
  const e = cx.emitter;
  const isFirst = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]);
  const isThere = e.pure("setp.gt.s32", "pred", [middle, int(0)]);
  return e.pure("and.pred", "pred", [isFirst, isThere]);
}

const isFirstWarp = (cx: LowerContext): Operand =>
  cx.emitter.pure("setp.lt.u32", "pred", [threadInBlock(cx), int(LANES)]);

export function lowerCopyRun(cx: LowerContext, op: OpOf<"copy_run">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const { barriers, barrier, empty } = operandsOf(op);
  // Addresses too: in all warps they would take what two passes over a row's elements do.
  whereTrue(cx, isFirstWarp(cx), () => {
    const run = runOf(cx, op);
    const isEmpty = scalar(cx, empty);
    if (isEmpty.kind === "register") putZeros(cx, op, isEmpty);
    const at = e.address(slotAddress(cx, barriers, barrier));
    const isFirst = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]);
    e.emit(
      "mbarrier.arrive.expect_tx.shared::cta.b64",
      [{ kind: "sink" }, at, run.middle],
      guardOf(isFirst),
    );
    e.emit("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", [
      e.address(e.add("b32", run.shared, run.head)),
      e.address(e.add("b64", run.address, e.pure("cvt.u64.u32", "b64", [run.head]))),
      run.middle,
      at,
    ], guardOf(copiesMiddle(cx, run)));
    const { memory, local, isThere } = endOfLane(cx, run);
    e.emit(
      "cp.async.ca.shared.global",
      [e.address(local), e.address(memory), int(run.elementBytes)],
      guardOf(isThere),
    );
    e.emit("cp.async.mbarrier.arrive.noinc.shared::cta.b64", [at]);
  });
}

/** Zeros from the slot on where the block's part would be, if the condition holds. */
function putZeros(cx: LowerContext, op: OpOf<"copy_run">, condition: Register): void {
  const { buffer, slot } = operandsOf(op);
  const e = cx.emitter;
  const elementBytes = bytesOf(buffer.type.element);
  const most = elementBytes << (buffer.type.shared?.columns.length ?? 0);
  const own = e.mul("b32", threadInBlock(cx), int(elementBytes));
  const first = e.add("b32", slotAddress(cx, buffer, slot), own);
  const end = e.add("b32", slotAddress(cx, buffer, slot), int(most));
  threadLoop(e, {
    bank: "b32",
    enter: (at, past) => {
      e.emit("mov.b32", [at, first]);
      e.emit("bra", [past], { register: condition, negated: true });
    },
    iterate: (at) => {
      e.emit("st.shared.b32", [e.address(at), int(0)]);
      e.emit("add.s32", [at, at, int(LANES * elementBytes)]);
      const more = e.register("pred");
      e.emit("setp.lt.u32", [more, at, end]);
      return more;
    },
  });
}

export function lowerStoreRun(cx: LowerContext, op: OpOf<"store_run">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  e.emit("fence.proxy.async.shared::cta", []);
  e.emit("bar.sync", cx.blockBarrier);
  whereTrue(cx, isFirstWarp(cx), () => {
    const run = runOf(cx, op);
    e.emit("cp.async.bulk.global.shared::cta.bulk_group", [
      e.address(e.add("b64", run.address, e.pure("cvt.u64.u32", "b64", [run.head]))),
      e.address(e.add("b32", run.shared, run.head)),
      run.middle,
    ], guardOf(copiesMiddle(cx, run)));
    e.emit("cp.async.bulk.commit_group", []);
    const { memory, local, isThere } = endOfLane(cx, run);
    const word = e.register("b32");
    e.emit("ld.shared.b32", [word, e.address(local)], guardOf(isThere));
    e.emit("st.global.b32", [e.address(memory), word], guardOf(isThere));
  });
}

/** Each lane waits for what it has started, and then for the first one. */
export function lowerWaitRuns(cx: LowerContext): void {
  emitDeferred(cx);
  cx.emitter.emit("cp.async.bulk.wait_group.read", [int(0)]);
  cx.emitter.emit("bar.warp.sync", [int(0xffffffffn)]);
}
