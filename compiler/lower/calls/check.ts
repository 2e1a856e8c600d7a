/**
 * `assert` and other promises that are checked: one element that breaks it ends the launch, with the location and the
 * text of the condition. Assemblers of builds without checks leave out what is between the two marks
 * (`ptx/checks.ts`), so nothing in between may be used after it.
 */
import type { Operand } from "../../ptx/func.ts";
import { CHECK_BEGIN, CHECK_END } from "../../ptx/checks.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { freeMask } from "../../linear/linear.ts";
import { positionOf, useSite } from "../../support/source.ts";
import { addressOfText, emitCall, whereTrue } from "./calls.ts";
import type { LowerContext } from "../context.ts";
import { ownerPredicate, scalarCopies } from "../addresses.ts";
import { receiveParts } from "../reduce/reduce.ts";
import { lowered } from "../values.ts";
import { copyBits } from "../../linear/threads.ts";
import { registerCount } from "../../layout/tiles.ts";
import { whole } from "../element.ts";
import { int, isInteger } from "../emitter.ts";

export function lowerCheck(cx: LowerContext, op: OpOf<"check">): void {
  const e = cx.emitter;
  receiveParts(cx);
  const items = e.nested("branch", () => whereTrue(cx, broken(cx, op), () => fail(cx, op)));
  if (items.length === 0) return;
  e.append(
    cx.calls.debug ? items : [
      { kind: "comment", text: CHECK_BEGIN },
      ...items,
      { kind: "comment", text: CHECK_END },
    ],
  );
}

/** Whether the condition is false for an element of the thread. */
function broken(cx: LowerContext, op: OpOf<"check">): Operand {
  const e = cx.emitter;
  const { condition } = operandsOf(op);
  const { layout } = condition.type;
  const free = layout === undefined ? 0 : freeMask(layout.register);
  let holds: Operand = int(1);
  for (let register = 0; register < registerCount(condition); register++) {
    if (register & free) continue;
    const one = whole(e, lowered(cx, condition)(register), "bool");
    if (isInteger(one)) holds = one.value === 0n ? one : holds;
    else {holds = isInteger(holds)
        ? (holds.value === 0n ? holds : one)
        : e.pure("and.pred", "pred", [holds, one]);}
  }
  if (isInteger(holds) && holds.value !== 0n) return int(0);
  const fails = e.pure("not.pred", "pred", [e.inRegister(holds, "pred")]);
  const copies = layout === undefined ? scalarCopies(cx) : copyBits(layout);
  const owner = ownerPredicate(cx, copies);
  return owner === undefined ? fails : e.pure("and.pred", "pred", [fails, owner]);
}

/** `__assertfail(condition, file, line, function, size of a character)`. */
function fail(cx: LowerContext, op: OpOf<"check">): void {
  const { file, start } = useSite(op.span);
  emitCall(cx, "__assertfail", [
    addressOfText(cx, op.attrs.text),
    addressOfText(cx, file.name),
    int(positionOf(file, start).line),
    addressOfText(cx, cx.calls.prefix),
    int(1),
  ]);
}
