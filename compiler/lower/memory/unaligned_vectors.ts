/**
 * Loads of vectors that start anywhere, where what is around them is there too (layout/rows/shifted_rows.ts): by the aligned
 * pieces that a vector lies in, of which one is shifted.
 */
import type { Operand, Register } from "../../ptx/func.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { pointeeBytes } from "../../ir/types.ts";
import { ACCESS_BYTES, WORD_BYTES } from "../../layout/anchors.ts";
import { type AccessGroup, groupRegisters } from "../../layout/access_groups.ts";
import { runRegisters } from "../../layout/rows/rotate.ts";
import { must } from "../../support/bug.ts";
import { times } from "../../support/times.ts";
import { zip } from "../../support/zip.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import type { LowerContext } from "../context.ts";
import { accessShape, packAccess, type Ref, unpackAccess, vectorOf, whole } from "../element.ts";
import { type Emitter, int } from "../emitter.ts";
import { lowered } from "../values.ts";
import { type Accesses, elementOf, guardOf, loadSpelling, maskGuard, pointerAt } from "./global.ts";

/**
 * Of layer norm of 8191 halves an H200 made 0.92 of a copy with pieces of 8 bytes, 0.85 with words, which are more accesses,
 * and 0.88 with 16 bytes, of which more is chosen.
 */
const PIECE_BYTES = 8;

/** A thread's vectors; undefined if the layout gives it none, or the load is another one, as of whole words. */
export function unalignedVectors(op: OpOf<"load">): Accesses | undefined {
  const { pointer } = operandsOf(op);
  const { layout, shape } = pointer.type;
  const bytes = pointeeBytes(pointer);
  if (op.attrs.in_vectors !== true || layout === undefined || bytes >= WORD_BYTES) return undefined;
  const bits = runRegisters(layout, shape.length - 1, ACCESS_BYTES / bytes);
  if (bits.some((bit) => bit < 0)) return undefined;
  return { groups: groupRegisters(layout, bits), load: loadUnaligned };
}

/** Loads the elements of one vector. */
function loadUnaligned(
  cx: LowerContext,
  op: OpOf<"load">,
  group: AccessGroup,
  axisInfo: AxisFacts,
): readonly Ref[] {
  const e = cx.emitter;
  const { pointer, mask, other } = operandsOf(op);
  const element = elementOf(pointer);
  const [first] = group;
  const guard = mask === undefined
    ? "always"
    : maskGuard(e, whole(e, lowered(cx, mask)(first), "bool"));
  const fill = other && packAccess(e, group.map((r) => lowered(cx, other)(r)), element);
  const count = ACCESS_BYTES / WORD_BYTES;
  if (guard === "never") {
    return unpackAccess(e, fill ?? times(count, () => int(0)), element, group.length);
  }
  const { base, constant } = e.sumOf(pointerAt(cx, pointer, first));
  // What is a multiple of pieces is added last, so that vectors share what comes before.
  const rest = BigInt.asUintN(Math.log2(PIECE_BYTES), constant);
  const start = e.inRegister(e.add("b64", base, int(rest)), "b64");
  const aligned = e.pure("and.b64", "b64", [start, int(-PIECE_BYTES)]);
  const bytes = e.pure("cvt.u32.u64", "b32", [start]);
  const shape = accessShape(WORD_BYTES, PIECE_BYTES / WORD_BYTES);
  const spelling = loadSpelling(cx, op, shape, PIECE_BYTES, axisInfo);
  const guarded = guard === "always" ? undefined : guardOf(guard);
  const words = times(ACCESS_BYTES / PIECE_BYTES + 1, (i) => {
    const loaded: Register[] = times(shape.count, () => e.register("b32"));
    cx.loaded.registers += shape.count;
    if (guarded !== undefined) { for (const word of loaded) e.emit("mov.b32", [word, int(0)]); }
    const address = e.address(aligned, constant - rest + BigInt(i * PIECE_BYTES));
    e.emit(spelling, [vectorOf(loaded), address], guarded);
    return loaded;
  }).flat();
  const found = shifted(e, words, bytes);
  const isFilled = guard !== "always" && fill?.some((word) => !isZero(word));
  const run = isFilled
    ? zip(found, must(fill, "fill")).map(([word, none]) =>
      e.pure("selp.b32", "b32", [word, none, guard])
    )
    : found;
  return unpackAccess(e, run, element, group.length);
}

const isZero = (word: Operand): boolean => word.kind === "integer" && word.value === 0n;

/** The words of a vector, from those of its pieces and its address. */
function shifted(e: Emitter, words: readonly Operand[], address: Operand): readonly Operand[] {
  const bit = e.pure("and.b32", "b32", [address, int(WORD_BYTES)]);
  const isLater = e.pure("setp.ne.s32", "pred", [bit, int(0)]);
  const bits = e.pure("shl.b32", "b32", [address, int(3)]);
  const from = words.slice(1).map((later, i) =>
    e.pure("selp.b32", "b32", [later, must(words[i], "word"), isLater])
  );
  return from.slice(1).map((high, i) =>
    // Shifts are by less than a word: amounts wrap.
    e.pure("shf.r.wrap.b32", "b32", [must(from[i], "word"), high, bits])
  );
}
