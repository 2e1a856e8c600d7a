/** Shared memory as lowering uses it: addresses that the schedule has assigned (schedule/allocate_shared.ts). */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf } from "../../ir/func.ts";
import type { ExchangeOp } from "../../ir/ops.ts";
import { must } from "../../support/bug.ts";
import type { LowerContext } from "../context.ts";
import { type Emitter, int } from "../emitter.ts";

export const SHARED_SYMBOL = "tri_shared";

/** Begins an exchange: waits for the program where another one may still be read, and returns the exchange's address. */
export function beginExchange(cx: LowerContext, op: OpOf<ExchangeOp>): Operand {
  const e = cx.emitter;
  if (op.attrs.barrier === true) programBarrier(cx);
  const start = startOfPartition(cx, op);
  const address = exchangeAddress(op);
  return address === 0 ? start : e.add("b32", start, int(address));
}

/** Where the memory for exchanges of the thread's partition begins. */
function startOfPartition(cx: LowerContext, op: OpOf<ExchangeOp>): Operand {
  const { emitter: e, partitions } = cx;
  const start = sharedStart(cx);
  if (partitions === undefined) return start;
  const bytes = must(op.attrs.partition_bytes, "bytes of a partition's exchanges");
  return e.add("b32", start, e.pure("mul.lo.u32", "b32", [partitions.own, int(bytes)]));
}

/** Bytes from there to what an exchange has: the last pass of scheduling has assigned it. */
export function exchangeAddress(op: OpOf<ExchangeOp>): number {
  return must(op.attrs.address, "address of an exchange");
}

/** Where a block's shared memory begins. */
export function sharedStart({ emitter }: LowerContext): Operand {
  return emitter.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]);
}

/**
 * Where the staging area begins, in a register of its own even where exchanges begin there too: one for both would be
 * live for as long as either is used.
 */
export function startOfArea(e: Emitter, bytes: number): Operand {
  const symbol: Operand = { kind: "symbol", name: SHARED_SYMBOL, offset: BigInt(bytes) };
  return e.pure("mov.u32", "b32", [symbol]);
}

/**
 * A barrier of all threads of a program. What a block of one is ordered by, several are ordered by in the same places, so
 * `schedule/allocate_shared.ts` need not know them.
 */
export function programBarrier(cx: LowerContext): void {
  if (cx.numCtas === 1) cx.emitter.emit("bar.sync", cx.blockBarrier);
  else {
    meet(cx);
    cx.emitter.emit("barrier.cluster.arrive.aligned", []);
    cx.emitter.emit("barrier.cluster.wait.aligned", []);
  }
}

/** Waits for the other blocks of the program to be there, and their barriers, if that has not been done. */
export function meet(cx: LowerContext): void {
  if (!cx.remote.isMeeting) return;
  cx.remote.isMeeting = false;
  cx.emitter.emit("barrier.cluster.wait.aligned", []);
}

/**
 * A block's shared memory is there for as long as the block is: waits until all have read what they wanted. No memory is
 * ordered, which would wait for the stores.
 */
export function endTogether({ emitter }: LowerContext): void {
  emitter.emit("barrier.cluster.arrive.relaxed.aligned", []);
  emitter.emit("barrier.cluster.wait.aligned", []);
}

/** Where an address in shared memory of the thread's block is in that of another block of its program. */
export function toBlock(cx: LowerContext, address: Operand, rank: Operand): Operand {
  return cx.emitter.pure("mapa.shared::cluster.u32", "b32", [address, rank]);
}

/** The same where it is read, which the other block must not end before. */
export function inBlock(cx: LowerContext, address: Operand, rank: Operand): Operand {
  cx.remote.hasReads = true;
  return toBlock(cx, address, rank);
}
