/** Shared memory as lowering uses it: one buffer that every exchange takes anew. */
import type { Operand } from "../ptx/func.ts";
import { type LowerContext, SHARED_SYMBOL } from "./context.ts";
import { int } from "./emitter.ts";

/** Takes the buffer for an exchange of so many bytes: everyone has read what an earlier one left there. */
export function claimShared(cx: LowerContext, bytes: number): Operand {
  if (cx.shared.used) blockBarrier(cx);
  cx.shared.used = true;
  cx.shared.bytes = Math.max(cx.shared.bytes, bytes);
  return cx.emitter.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]);
}

export function blockBarrier(cx: LowerContext): void {
  cx.emitter.emit("bar.sync", [int(0)]);
}
