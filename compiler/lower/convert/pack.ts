/** Elements of less than 32 bits, several in a register. */
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import type { LowerContext } from "../context.ts";
import { packAccess, unpackAccess } from "../element.ts";
import { lowered, memo, ofRegister } from "../values.ts";
import { times } from "../../support/times.ts";

const WORD_BYTES = 4;

export function lowerPack(cx: LowerContext, op: OpOf<"pack">): void {
  const e = cx.emitter;
  const { value } = operandsOf(op);
  const { element } = value.type;
  const count = WORD_BYTES / bytesOf(element);
  const part = memo(cx, (register) => {
    const first = register - register % count;
    const refs = times(count, (i) => lowered(cx, value)(first + i));
    const parts = unpackAccess(e, packAccess(e, refs, element), element, count);
    return ofRegister(parts, register % count);
  });
  cx.values.set(resultOf(op), part);
}
