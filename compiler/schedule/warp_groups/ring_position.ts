/** Where an iteration is in rings of slots that each have a barrier. */
import type { Value } from "../../ir/func.ts";
import { scalarType } from "../../ir/types.ts";
import type { ScheduleBuilder } from "../builder.ts";

/** Its slot, and the parity of the slot's phase. */
export interface Position {
  readonly slot: Value;
  readonly parity: Value;
}

/** The position of the next iteration. */
export function nextPosition(
  build: ScheduleBuilder,
  { slots }: { readonly slots: number },
  { slot, parity }: Position,
): Position {
  const after = build.advance(slot, slots);
  const flipped = build.value("xor", [parity, build.int(1)], parity.type);
  const isFirst = build.value("eq", [after, build.int(0)], scalarType("bool"));
  return { slot: after, parity: build.value("select", [isFirst, flipped, parity], parity.type) };
}
