/**
 * Elements of other indices. `exchange` gives element i the one at i ^ mask along an axis: another register, then
 * another lane, then another warp. `gather` looks elements up by index in shared memory. `histogram` counts there.
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { isPointer } from "../../ir/types.ts";
import { axisShifts, freeMask, type LinearLayout, log2, ofAxis } from "../../linear/linear.ts";
import { axisBits } from "../../layout/reduce.ts";
import { bug } from "../../support/bug.ts";
import type { LowerContext } from "../context.ts";
import { atRegister, ownerPredicate, threadInBlock } from "../addresses.ts";
import { lowered, setElements } from "../values.ts";
import { blockCopyBits, threadBases } from "../../linear/threads.ts";
import { convertScalar } from "../convert/convert.ts";
import { layoutOf, registerCount, wordBytes } from "../../layout/tiles.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { beginExchange, programBarrier } from "../memory/shared.ts";
import { butterfly } from "./shuffle.ts";
import { fromWord, toWord, wordBank } from "../convert/words.ts";
import { times } from "../../support/times.ts";

export function lowerExchange(cx: LowerContext, op: OpOf<"exchange">): void {
  const e = cx.emitter;
  const { value: source } = operandsOf(op);
  const { element } = source.type;
  const { axis, mask } = op.attrs;
  const moved = { register: 0, lane: 0, warp: 0, block: 0 };
  for (const { input, bit, step } of axisBits(layoutOf(source), axis)) {
    if ((mask >> step) & 1) moved[input] |= 1 << bit;
  }
  const bank = wordBank(element);
  let words = times(registerCount(source), (register) => {
    const value = lowered(cx, source)(register ^ moved.register);
    return toWord(e, whole(e, value, element), element);
  });
  if (moved.lane !== 0) words = words.map((word) => butterfly(e, word, bank, moved.lane));
  if (moved.block !== 0) bug("an exchange between blocks");
  if (moved.warp !== 0) words = fromWarp(cx, op, moved.warp, words);
  const results = words.map((word) => fromWord(e, word, element));
  setElements(cx, resultOf(op), results);
}

/** What the same lane of the warp whose number differs by `mask` holds. */
function fromWarp(
  cx: LowerContext,
  op: OpOf<"exchange">,
  mask: number,
  words: readonly Operand[],
): Operand[] {
  const e = cx.emitter;
  const { element } = operandsOf(op).value.type;
  const bank = wordBank(element);
  const size = wordBytes(element);
  const row = 32 * cx.numWarps * size;
  const start = beginExchange(cx, op);
  const addressOf = (thread: Operand, register: number): Operand => ({
    kind: "address",
    base: e.add("b32", start, e.mul("b32", thread, int(size))),
    offset: BigInt(register * row),
  });
  const other = e.pure("xor.b32", "b32", [threadInBlock(cx), int(32 * mask)]);
  words.forEach((word, register) =>
    e.emit(`st.shared.${bank}`, [addressOf(threadInBlock(cx), register), e.inRegister(word, bank)])
  );
  programBarrier(cx);
  return words.map((_, register) => {
    const result = e.register(bank);
    e.emit(`ld.shared.${bank}`, [result, addressOf(other, register)]);
    return result;
  });
}

/** Bases of a layout in bytes of words. */
function scaledBases(layout: LinearLayout, size: number): {
  readonly register: readonly number[];
  readonly thread: readonly number[];
} {
  const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
  return { register: scaled(layout.register), thread: scaled(threadBases(layout)) };
}

export function lowerGather(cx: LowerContext, op: OpOf<"gather">): void {
  const e = cx.emitter;
  const { value: source, index } = operandsOf(op);
  const result = resultOf(op);
  const { element } = source.type;
  const [from, to] = [layoutOf(source), layoutOf(result)];
  const { axis } = op.attrs;
  const bank = wordBank(element);
  const size = wordBytes(element);
  const start = beginExchange(cx, op);

  const owner = ownerPredicate(cx, blockCopyBits(from));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  const free = freeMask(from.register);
  for (let register = 0; register < registerCount(source); register++) {
    if (register & free) continue;
    const word = toWord(e, whole(e, lowered(cx, source)(register), element), element);
    const { base, constant } = atRegister(cx, scaledBases(from, size), register);
    e.emit(`st.shared.${bank}`, [
      { kind: "address", base: e.add("b32", start, base), offset: BigInt(constant) },
      e.inRegister(word, bank),
    ], guard);
  }
  programBarrier(cx);

  // Where the line of an element starts: its index without the axis, in the source's shape.
  const extent = from.shape[axis] ?? 1;
  const lines = scaledBases(lineLayout(to, from.shape, axis), size);
  const step = 1 << ofAxis(axisShifts(from.shape), axis);
  const results = times(registerCount(result), (register) => {
    const { element: type } = index.type;
    const at = whole(e, lowered(cx, index)(register), type);
    const word = convertScalar(e, at, isPointer(type) ? "uint64" : type, "int32");
    // An index outside gives some element, not one of another tile.
    const inside = e.pure("and.b32", "b32", [e.inRegister(word, "b32"), int(extent - 1)]);
    const { base, constant } = atRegister(cx, lines, register);
    const line = e.add("b32", start, base);
    const address = e.add("b32", line, e.mul("b32", inside, int(step * size)));
    const value = e.register(bank);
    e.emit(`ld.shared.${bank}`, [value, {
      kind: "address",
      base: address,
      offset: BigInt(constant),
    }]);
    return fromWord(e, value, element);
  });
  setElements(cx, result, results);
}

/** Bases of a layout in another shape that differs along an axis, without what they move along it. */
function lineLayout(layout: LinearLayout, shape: readonly number[], axis: number): LinearLayout {
  const [from, to] = [axisShifts(layout.shape), axisShifts(shape)];
  const move = (basis: number): number =>
    shape.reduce(
      (image, extent, d) =>
        d === axis ? image : image | (((basis >> (from[d] ?? 0)) & (extent - 1)) << (to[d] ?? 0)),
      0,
    );
  return {
    shape,
    register: layout.register.map(move),
    lane: layout.lane.map(move),
    warp: layout.warp.map(move),
    block: layout.block.map(move),
  };
}

export function lowerHistogram(cx: LowerContext, op: OpOf<"histogram">): void {
  const e = cx.emitter;
  const { value: source } = operandsOf(op);
  const result = resultOf(op);
  const { element } = source.type;
  const [from, to] = [layoutOf(source), layoutOf(result)];
  const bins = to.shape[0] ?? 1;
  const start = beginExchange(cx, op);
  const counterOf = (register: number): Operand => {
    const { base, constant } = atRegister(cx, scaledBases(to, 4), register);
    return { kind: "address", base: e.add("b32", start, base), offset: BigInt(constant) };
  };
  const guardOf = (predicate: Operand | undefined): Parameters<typeof e.emit>[2] =>
    predicate?.kind === "register" ? { register: predicate, negated: false } : undefined;
  const registers = times(registerCount(result), (register) => register)
    .filter((register) => (register & freeMask(to.register)) === 0);
  const zero = e.inRegister(int(0), "b32");
  for (const register of registers) {
    e.emit(
      "st.shared.b32",
      [counterOf(register), zero],
      guardOf(ownerPredicate(cx, blockCopyBits(to))),
    );
  }
  programBarrier(cx);

  const owner = ownerPredicate(cx, blockCopyBits(from));
  const free = freeMask(from.register);
  for (let register = 0; register < registerCount(source); register++) {
    if (register & free) continue;
    const type = isPointer(element) ? "uint64" : element;
    const value = convertScalar(e, whole(e, lowered(cx, source)(register), element), type, "int64");
    // Negative numbers are huge when unsigned.
    const inside = e.pure("setp.lt.u64", "pred", [e.inRegister(value, "b64"), int(bins)]);
    const bin = e.pure("cvt.u32.u64", "b32", [e.inRegister(value, "b64")]);
    const address = e.add("b32", start, e.pure("shl.b32", "b32", [bin, int(log2(4))]));
    const counted = owner === undefined ? inside : e.pure("and.pred", "pred", [inside, owner]);
    e.emit("red.relaxed.cta.shared.add.u32", [
      { kind: "address", base: address, offset: 0n },
      e.inRegister(int(1), "b32"),
    ], guardOf(counted));
  }
  programBarrier(cx);
  const counts: Operand[] = [];
  for (const register of registers) {
    const count = e.register("b32");
    e.emit("ld.shared.b32", [count, counterOf(register)]);
    counts[register] = count;
  }
  setElements(cx, result, counts, freeMask(to.register));
}
