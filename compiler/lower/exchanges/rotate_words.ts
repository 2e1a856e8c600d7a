/**
 * Rows of narrow elements, rotated by amounts known at run time only, and read by words (layout/rows/rotate.ts): the word at
 * position i has elements from i - amount on, which lie in two words of shared memory.
 */
import type { Operand } from "../../ptx/func.ts";
import { bytesOf } from "../../ir/types.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { WORD_BYTES } from "../../layout/anchors.ts";
import { groupRegisters } from "../../layout/access_groups.ts";
import { rotatedPitch, wordRegisters } from "../../layout/rows/rotate.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { freeMask, type LinearLayout, log2, product } from "../../linear/linear.ts";
import { blockCopyBits } from "../../linear/threads.ts";
import { must } from "../../support/bug.ts";
import { atRegister, ownerPredicate } from "../addresses.ts";
import type { LowerContext } from "../context.ts";
import { packAccess, unpackAccess, whole } from "../element.ts";
import { int } from "../emitter.ts";
import { type Coordinate, splitIndex } from "./rotate.ts";
import { beginExchange, programBarrier } from "../memory/shared.ts";
import { lowered, memo } from "../values.ts";
import { times } from "../../support/times.ts";

export function lowerRotatedWords(cx: LowerContext, op: OpOf<"rotate">): void {
  const e = cx.emitter;
  const { value: source, amount } = operandsOf(op);
  const [src, dst] = [layoutOf(source), layoutOf(resultOf(op))];
  const { element } = source.type;
  const { axis, bound } = op.attrs;
  const bytes = bytesOf(element);
  const rowBytes = must(src.shape[axis], "extent") * bytes;
  const pitch = rotatedPitch(rowBytes / bytes, bytes);
  const start = beginExchange(cx, op);
  const order = rowOrder(src, axis);
  const groupsOf = (layout: LinearLayout): ReturnType<typeof groupRegisters> =>
    groupRegisters(layout, wordRegisters(layout, axis, bytes));
  /** Where a row begins. */
  const rowAt = (layout: LinearLayout, register: number): Operand => {
    const row = atRegister(cx, reordered(splitIndex(layout, axis).outer, order), register);
    const base = e.mul("b32", row.base, int(pitch));
    return e.add("b32", e.add("b32", start, base), int(row.constant * pitch));
  };
  /** Where an element is in its row, in bytes. */
  const along = (layout: LinearLayout, register: number): ReturnType<typeof atRegister> => {
    const { base, constant } = atRegister(cx, splitIndex(layout, axis).along, register);
    return { base: e.mul("b32", base, int(bytes)), constant: constant * bytes };
  };

  const owner = ownerPredicate(cx, blockCopyBits(src));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  for (const group of groupsOf(src)) {
    const [word] = packAccess(e, group.map((r) => lowered(cx, source)(r)), element);
    const { base, constant } = along(src, group[0]);
    const address = e.add("b32", e.add("b32", rowAt(src, group[0]), base), int(constant));
    e.emit("st.shared.b32", [e.address(address), must(word, "word of elements")], guard);
  }
  programBarrier(cx);
  // Each word where it is stored, so that few are in registers at once: nothing comes between the two.
  const wordAt = memo(cx, (register) => {
    const by = whole(e, lowered(cx, amount)(register), amount.type.element);
    const shift = e.mul("b32", by, int(bytes));
    const down = e.pure("and.b32", "b32", [e.inRegister(shift, "b32"), int(-WORD_BYTES)]);
    const { base, constant } = along(dst, register);
    const row = rowAt(dst, register);
    const high = e.pure("sub.s32", "b32", [e.inRegister(base, "b32"), down]);
    /** Words before the row are those at its end. */
    const wrapped = (offset: number): Operand =>
      e.pure("and.b32", "b32", [
        e.inRegister(e.add("b32", high, int(offset)), "b32"),
        int(rowBytes - WORD_BYTES),
      ]);
    const at = (offset: number): Operand =>
      e.address(
        constant >= bound * bytes
          ? e.add("b32", e.add("b32", row, high), int(offset))
          : e.add("b32", row, wrapped(offset)),
      );
    const words = [constant - WORD_BYTES, constant].map((offset) => {
      const word = e.register("b32");
      e.emit("ld.shared.b32", [word, at(offset)]);
      return word;
    });
    const bits = e.pure("shl.b32", "b32", [e.inRegister(shift, "b32"), int(3)]);
    return e.pure("shf.l.wrap.b32", "b32", [...words, bits]);
  });
  const words = wordRegisters(dst, axis, bytes);
  const inWord = words.reduce((mask, bit) => mask | (1 << bit), 0);
  const free = freeMask(dst.register);
  cx.values.set(resultOf(op), (register) => {
    const word = whole(e, wordAt(register & ~inWord & ~free), "uint32");
    const i = words.reduce((sum, bit, to) => sum | (((register >> bit) & 1) << to), 0);
    return must(unpackAccess(e, [word], element, 1 << words.length)[i], "element of a word");
  });
}

/**
 * In which order bits of a row's number count in shared memory: those in which lanes that write differ first, so that
 * they write to different banks.
 */
function rowOrder(layout: LinearLayout, axis: number): readonly number[] {
  const { shape, lane } = layout;
  const rows = product(shape) / must(shape[axis], "extent");
  const bits = times(log2(rows), (bit) => 1 << bit);
  const lanes = splitIndex(layout, axis).outer.thread.slice(0, lane.length);
  return [...new Set([...lanes.filter((image) => bits.includes(image)), ...bits])];
}

/** Row numbers with their bits in another order. */
function reordered(rows: Coordinate, order: readonly number[]): Coordinate {
  const moved = (image: number): number =>
    order.reduce((sum, bit, to) => (image & bit) === 0 ? sum : sum | (1 << to), 0);
  return { register: rows.register.map(moved), thread: rows.thread.map(moved) };
}
