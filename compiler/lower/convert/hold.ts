/** Elements that are computed before the registers that they come from change. */
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { registerCount } from "../../layout/tiles.ts";
import { computed } from "../carried.ts";
import type { LowerContext } from "../context.ts";
import { whole } from "../element.ts";
import { operandKey } from "../emitter.ts";
import { lowered, memo } from "../values.ts";
import { times } from "../../support/times.ts";

export function lowerHold(cx: LowerContext, op: OpOf<"hold">): void {
  const e = cx.emitter;
  const { value, changing } = operandsOf(op);
  const registers = new Set(
    changing.flatMap((one) =>
      times(
        registerCount(one),
        (register) => operandKey(whole(e, lowered(cx, one)(register), one.type.element)),
      )
    ),
  );
  const elements = lowered(cx, value);
  // A choice whose condition is known for an element is what it chooses, in the same register.
  const kept = memo(cx, (register) => {
    const operand = elements(register);
    if (operand.kind !== "register" || !registers.has(operandKey(operand))) return operand;
    const own = e.register("b32");
    e.emit("mov.b32", [own, operand]);
    return own;
  });
  cx.values.set(resultOf(op), computed(value, kept));
}
