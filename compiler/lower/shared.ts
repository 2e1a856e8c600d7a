/** Shared memory as lowering uses it: one buffer that every exchange takes anew. */
import type { Item, Operand } from "../ptx/func.ts";
import { aligned, type Stages } from "../schedule/stage_operands.ts";
import type { LowerContext, Part, SharedBuffer } from "./context.ts";
import { int } from "./emitter.ts";

export const SHARED_SYMBOL = "tri_shared";

/** Start of all buffers; where that is, lowering knows when it has seen all exchanges. */
export const STAGES_SYMBOL = "tri_stages";

/** Parts beside the last one may make the buffer so large, which costs no occupancy. */
const SMALL_BYTES = 4096;

/** Takes the buffer for an exchange of so many bytes: everyone has read what an earlier one left there. */
export function claimShared(cx: LowerContext, bytes: number): Operand {
  const { shared } = cx;
  if (shared.read !== "nothing") blockBarrier(cx);
  shared.read = "anything";
  shared.bytes = Math.max(shared.bytes, bytes);
  return placeAt(cx, 0);
}

/**
 * The same for an exchange that has a block barrier between what it writes and what it reads. Two of them in a row need
 * none in between if the second goes beside the first: whoever writes there has passed the barrier of the first, which
 * all had reached with what was there before read.
 */
export function claimBeside(cx: LowerContext, bytes: number): Operand {
  const { shared } = cx;
  const start = typeof shared.read === "string" ? undefined : beside(shared.read, bytes);
  if (start === undefined && shared.read !== "nothing") blockBarrier(cx);
  const part = { start: start ?? 0, end: (start ?? 0) + bytes };
  shared.read = part;
  shared.bytes = Math.max(shared.bytes, part.end);
  return placeAt(cx, part.start);
}

/** What may still be read where two ways meet. */
export function eitherRead(
  a: SharedBuffer["read"],
  b: SharedBuffer["read"],
): SharedBuffer["read"] {
  if (typeof a === "string" || typeof b === "string") return a === b ? a : "anything";
  return a.start === b.start && a.end === b.end ? a : "anything";
}

/** Where so many bytes fit below or above a part. */
function beside({ start, end }: Part, bytes: number): number | undefined {
  if (bytes <= start) return 0;
  const above = Math.ceil(end / VECTOR_BYTES) * VECTOR_BYTES;
  return above + bytes <= SMALL_BYTES ? above : undefined;
}

const VECTOR_BYTES = 16;

function placeAt(cx: LowerContext, offset: number): Operand {
  const e = cx.emitter;
  const start = e.pure("mov.u32", "b32", [{ kind: "symbol", name: SHARED_SYMBOL }]);
  return offset === 0 ? start : e.add("b32", start, int(offset));
}

export function blockBarrier(cx: LowerContext): void {
  cx.emitter.emit("bar.sync", [int(0)]);
}

/** Puts the buffers behind what exchanges use, or over it where both never meet. */
export function placeStages(
  body: readonly Item[],
  stages: Stages,
  exchangeBytes: number,
): { readonly body: readonly Item[]; readonly bytes: number } {
  if (stages.bytes === 0) return { body, bytes: exchangeBytes };
  const start = stages.isShareable ? 0 : aligned(exchangeBytes);
  const place = (operand: Operand): Operand =>
    operand.kind === "symbol" && operand.name === STAGES_SYMBOL
      ? { kind: "symbol", name: SHARED_SYMBOL, ...(start > 0 ? { offset: BigInt(start) } : {}) }
      : operand;
  return {
    body: body.map((item) =>
      item.kind === "instruction" ? { ...item, operands: item.operands.map(place) } : item
    ),
    bytes: Math.max(exchangeBytes, start + stages.bytes),
  };
}
