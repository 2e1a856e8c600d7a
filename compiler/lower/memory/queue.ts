/**
 * Programs from a queue: the first block of a program takes the number of the next one from a counter that all blocks of the launch
 * share, and sends it to the other blocks of its cluster.
 *
 * Counters are an array of the module, and the host says which one is the launch's (ffi/kernel/forms/queues.ts). `atom.inc` returns
 * to zero with the last number that a launch takes (PTX ISA 9.0, 9.7.13.5), so the next launch finds it as this one did.
 */
import type { Operand, PtxVariable } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { must } from "../../support/bug.ts";
import { blockRank, threadInBlock } from "../addresses.ts";
import { whereTrue } from "../calls/calls.ts";
import type { LowerContext } from "../context.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { emitDeferred, lowered } from "../values.ts";
import { guardOf } from "./global.ts";
import { meet, toBlock } from "./shared.ts";
import { slotAddress } from "./shared_buffer.ts";

/** One for each stream, and for each recorded graph, of a process. */
const COUNT = 65536;

export const QUEUES = {
  space: "global",
  name: "tri_queues",
  type: "b32",
  align: 4,
  count: COUNT,
} as const satisfies PtxVariable;

/** A slot has a barrier, then the number. */
const NUMBER_AT = 8n;
const NUMBER_BYTES = 4;
const LANES = 32;
const WARP = int(0xffffffffn);

const scalar = (cx: LowerContext, value: Value): Operand =>
  whole(cx.emitter, lowered(cx, value)(0), value.type.element);

/** Where a condition holds in the program's first block. */
function inFirstBlock(cx: LowerContext, condition: Operand): Operand {
  if (cx.numCtas === 1) return condition;
  const e = cx.emitter;
  const isFirst = e.pure("setp.eq.u32", "pred", [blockRank(cx), int(0)]);
  return e.pure("and.pred", "pred", [condition, isFirst]);
}

export function lowerDrawProgram(cx: LowerContext, op: OpOf<"draw_program">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const name = must(cx.turns.queue, "queue of the launch");
  const param: Operand = { kind: "address", base: { kind: "symbol", name }, offset: 0n };
  const own = e.pure("ld.param.u32", "b32", [param]);
  const all = e.pure("mov.u64", "b64", [{ kind: "symbol", name: QUEUES.name }]);
  const at = e.add("b64", all, e.pure("mul.wide.u32", "b64", [own, int(NUMBER_BYTES)]));
  const isFirst = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]);
  const number = e.register("b32");
  e.emit("mov.b32", [number, int(0)]);
  e.emit(
    "atom.relaxed.gpu.global.inc.u32",
    [number, e.address(at), scalar(cx, operandsOf(op).last)],
    guardOf(inFirstBlock(cx, isFirst)),
  );
  cx.values.set(resultOf(op), () => number);
}

export function lowerSendProgram(cx: LowerContext, op: OpOf<"send_program">): void {
  emitDeferred(cx);
  meet(cx);
  const e = cx.emitter;
  const { number, mail, slot } = operandsOf(op);
  const own = e.inRegister(scalar(cx, number), "b32");
  const at = slotAddress(cx, mail, slot);
  if (cx.numCtas === 1) return putNumber(cx, own, at);
  const isFirstWarp = e.pure("setp.lt.u32", "pred", [threadInBlock(cx), int(LANES)]);
  whereTrue(cx, inFirstBlock(cx, isFirstWarp), () => {
    const sent = e.register("b32");
    e.emit("shfl.sync.idx.b32", [sent, own, int(0), int(LANES - 1), WARP]);
    const lane = threadInBlock(cx);
    const to = toBlock(cx, at, lane);
    e.emit(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32",
      [e.address(to, NUMBER_AT), sent, e.address(to)],
      guardOf(e.pure("setp.lt.u32", "pred", [lane, int(cx.numCtas)])),
    );
  });
}

/** In a block alone. Without a cluster `st.async` is no instruction (H200, driver 580). */
function putNumber(cx: LowerContext, number: Operand, at: Operand): void {
  const e = cx.emitter;
  const guard = guardOf(e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]));
  e.emit("st.shared.b32", [e.address(at, NUMBER_AT), number], guard);
  e.emit("mbarrier.arrive.shared::cta.b64", [{ kind: "sink" }, e.address(at)], guard);
}

export function lowerReceiveProgram(cx: LowerContext, op: OpOf<"receive_program">): void {
  emitDeferred(cx);
  const e = cx.emitter;
  const { mail, slot, parity } = operandsOf(op);
  const mailbox = slotAddress(cx, mail, slot);
  if (cx.numCtas > 1) {
    const isFirst = e.pure("setp.eq.u32", "pred", [threadInBlock(cx), int(0)]);
    e.emit(
      "mbarrier.arrive.expect_tx.shared::cta.b64",
      [{ kind: "sink" }, e.address(mailbox), int(NUMBER_BYTES)],
      guardOf(isFirst),
    );
  }
  const [again, isThere] = [e.newLabel(), e.register("pred")];
  const phase = scalar(cx, parity);
  e.label(again);
  e.emit("mbarrier.try_wait.parity.shared::cta.b64", [isThere, e.address(mailbox), phase]);
  e.emit("bra", [{ kind: "symbol", name: again }], { register: isThere, negated: true });
  const number = e.register("b32");
  e.emit("ld.shared.b32", [number, e.address(mailbox, NUMBER_AT)]);
  cx.values.set(resultOf(op), () => number);
}
