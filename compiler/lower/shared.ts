/** Shared memory as lowering uses it: addresses that the schedule has assigned (schedule/allocate_shared.ts). */
import type { Operand } from "../ptx/func.ts";
import type { OpOf } from "../ir/func.ts";
import type { ExchangeOp } from "../ir/ops.ts";
import { must } from "../support/bug.ts";
import type { LowerContext } from "./context.ts";
import { type Emitter, int } from "./emitter.ts";

export const SHARED_SYMBOL = "tri_shared";

/** Begins an exchange: waits for the block where another one may still be read, and returns the exchange's address. */
export function beginExchange(cx: LowerContext, op: OpOf<ExchangeOp>): Operand {
  const e = cx.emitter;
  if (op.attrs.barrier === true) blockBarrier(cx);
  const start = e.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]);
  const address = must(op.attrs.address, "address of an exchange");
  return address === 0 ? start : e.add("b32", start, int(address));
}

/**
 * Where the staging area begins, in a register of its own even where exchanges begin there too: one for both would be
 * live for as long as either is used.
 */
export function startOfArea(e: Emitter, bytes: number): Operand {
  const symbol: Operand = { kind: "symbol", name: SHARED_SYMBOL, offset: BigInt(bytes) };
  return e.pure("mov.u32", "b32", [symbol]);
}

export function blockBarrier(cx: LowerContext): void {
  cx.emitter.emit("bar.sync", [int(0)]);
}
