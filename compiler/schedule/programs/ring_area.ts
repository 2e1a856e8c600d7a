/** The shared memory of rows in a ring (ring_rows.ts): slots, their barriers, and what blocks are told of the next programs. */
import { type Func, newOp, type Value } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { times } from "../../support/times.ts";
import { aligned } from "../allocate_shared.ts";
import { BARRIER, BARRIER_BYTES } from "../staging_area.ts";
import { LINE, type RingPlan, SLOTS } from "./ring_plan.ts";

/** Of a slot for a number: a barrier, and the number (lower/memory/queue.ts). */
const MAIL_BYTES = 16;

interface RingArea {
  readonly rows: Value;
  readonly barriers: Value;
  readonly mail: Value;
}

/** Adds the buffers to a function. */
export function ringArea(
  func: Func,
  { load, extent, elementBytes, vectorBits }: RingPlan,
): RingArea {
  const { element, shape } = resultOf(load).type;
  const bytes = SLOTS * (extent * elementBytes + LINE);
  const buffer = (type: Value["type"], slots: number, slotBytes: number, offset: number): Value => {
    const attrs = { slots, slot_bytes: slotBytes, offset, exclusive: true };
    const op = newOp(func, "shared_buffer", [], [type], load.span, attrs);
    func.body.ops.unshift(op);
    return resultOf(op);
  };
  const afterBarriers = bytes + aligned(SLOTS * BARRIER_BYTES);
  const mail = buffer(BARRIER, SLOTS, MAIL_BYTES, afterBarriers);
  const barriers = buffer(BARRIER, SLOTS, BARRIER_BYTES, bytes);
  // A row begins at any element of its slot.
  const columns = times(Math.log2(extent), (bit) => 1 << bit);
  const type = { element, shape, shared: { shape, columns, vectorBits } };
  const rows = newOp(func, "shared_buffer", [], [type], load.span, {
    slots: bytes / elementBytes,
    slot_bytes: elementBytes,
    offset: 0,
    exclusive: true,
    overlaps: true,
  });
  func.body.ops.unshift(rows);
  return { rows: resultOf(rows), barriers, mail };
}
