/** Calls of functions that every device has (call_table.ts), and the texts that they take. */
import type { Operand } from "../../ptx/func.ts";
import { zip } from "../../support/zip.ts";
import {
  argumentName,
  type CalleeName,
  resultName,
  type Signature,
  SIGNATURES,
} from "./call_table.ts";
import type { LowerContext } from "../context.ts";
import { int } from "../emitter.ts";

const symbol = (name: string): Operand => ({ kind: "symbol", name });

/** Calls one of them; its result is dropped. */
export function emitCall(cx: LowerContext, callee: CalleeName, args: readonly Operand[]): void {
  const e = cx.emitter;
  const { params, returns }: Signature = SIGNATURES[callee];
  cx.calls.note(callee);
  zip(params, args).forEach(([type, arg], i) => {
    const address: Operand = {
      kind: "address",
      base: symbol(argumentName(callee, i)),
      offset: 0n,
    };
    e.emit(`st.param.${type}`, [address, arg]);
  });
  const list = (names: readonly string[]): Operand => ({
    kind: "list",
    elements: names.map(symbol),
  });
  const results = returns.length === 0 ? [] : [list(returns.map((_, i) => resultName(callee, i)))];
  e.emit("call", [
    ...results,
    symbol(callee),
    list(params.map((_, i) => argumentName(callee, i))),
  ]);
}

/** The generic address of a text. */
export function addressOfText(cx: LowerContext, text: string): Operand {
  const e = cx.emitter;
  const address = e.pure("mov.u64", "b64", [symbol(cx.calls.symbolOf(text))]);
  return e.pure("cvta.global.u64", "b64", [address]);
}

/** Instructions for the threads where a predicate holds; what they compute is forgotten afterwards. */
export function whereTrue(
  cx: LowerContext,
  condition: Operand | undefined,
  build: () => void,
): void {
  const e = cx.emitter;
  if (condition === undefined) return e.append(e.nested("branch", build));
  if (condition.kind !== "register") return;
  const end = e.newLabel();
  e.emit("bra", [symbol(end)], { register: condition, negated: true });
  e.append(e.nested("branch", build));
  e.label(end);
  e.emit("bar.warp.sync", [int(0xffffffffn)]);
}
