/**
 * Rows of unknown alignment in aligned 16-byte chunks (layout/segments.ts).
 *
 * The layout wants lane j of a segment to hold elements j·v … j·v + v - 1. If the segment starts `s` elements past a
 * 16-byte boundary, chunk j in memory holds elements j·v - s … j·v - s + v - 1 instead:
 *
 *     memory     | .  .  0  1 | 2  3  4  5 | 6  7  8  9 |10 11  .  .     v = 4, s = 2, three lanes
 *     chunk        0 (rotated)  1            2            (0)
 *
 * Lanes 1 … L-1 load whole chunks. Chunk 0 is rotated: its first s elements are the last s of the segment. Those
 * left-overs, one chunk a segment, are loaded element by element in the boundary layout, where one instruction
 * serves many segments, and brought to lane 0 by shuffles. Then every lane shifts its own chunk and the next
 * lane's by s elements: selects for whole words, a funnel shift below a word. Stores run the same way backwards.
 *
 * Each element is accessed exactly once and nothing else is: no byte outside the segment is touched. A warp in
 * which any element is masked off takes the plain way, one element at a time.
 */
import type { Operand, Register } from "../ptx/func.ts";
import type { Op, Value } from "../ir/func.ts";
import { applyBases } from "../layout/linear.ts";
import { pointeeBytes, pointerOf } from "../layout/anchors.ts";
import { CHUNK_BYTES, type Segments, segmentsOf } from "../layout/segments.ts";
import { must } from "../support/bug.ts";
import { copyBits, type LowerContext, lowered, ownerPredicate, registerCount, threadIndex } from "./context.ts";
import { layoutOf } from "./convert_layout.ts";
import { type Ref, unpackAccess, whole } from "./element.ts";
import { type Emitter, int, operandKey } from "./emitter.ts";
import { accessElements, elementOf } from "./memory.ts";

const WORDS = CHUNK_BYTES / 4;
const ALL_LANES = 0xffffffffn;

interface Rows {
  readonly segments: Segments;
  readonly bytes: number;
  /** Register index of the first element of each group's chunk, by group. */
  readonly groups: readonly number[];
  readonly lane: Operand;
  /** Lane 0 of its segment. */
  readonly first: Register;
}

function rowsOf(cx: LowerContext, op: Op): Rows {
  const e = cx.emitter;
  const axis = typeof op.attrs.axis === "number" ? op.attrs.axis : 0;
  const bytes = pointeeBytes(pointerOf(op));
  const segments = must(segmentsOf(layoutOf(pointerOf(op)), axis, bytes), "segments");
  const lane = e.pure("and.b32", "b32", [threadIndex(cx), int(31)]);
  const position = e.pure("and.b32", "b32", [lane, int((1 << segments.lanesLog2) - 1)]);
  const first = e.pure("setp.eq.s32", "pred", [position, int(0)]);
  return {
    segments,
    bytes,
    groups: Array.from({ length: 1 << segments.groupBits.length }, (_, g) =>
      applyBases(segments.groupBits.map((bit) => 1 << bit), g)),
    lane,
    first: asRegister(first),
  };
}

function asRegister(operand: Operand): Register {
  if (operand.kind !== "register") throw new TypeError("expected a register");
  return operand;
}

/** Bytes past a 16-byte boundary at which a pointer's segment starts: the same for all its lanes. */
function skewOf(e: Emitter, pointer: Operand): Operand {
  return e.pure("and.b32", "b32", [e.pure("cvt.u32.u64", "b32", [pointer]), int(CHUNK_BYTES - 1)]);
}

/** What shifting by the skew needs: which whole words, and how many bits below a word. */
function skewParts(e: Emitter, skew: Operand): { byTwo: Operand; byOne: Operand; bits: Operand } {
  const bit = (mask: number): Operand => e.pure("setp.ne.s32", "pred", [e.pure("and.b32", "b32", [skew, int(mask)]), int(0)]);
  return { byTwo: bit(8), byOne: bit(4), bits: e.pure("shl.b32", "b32", [e.pure("and.b32", "b32", [skew, int(3)]), int(3)]) };
}

const choose = (e: Emitter, predicate: Operand, yes: Operand, no: Operand): Operand =>
  e.pure("selp.b32", "b32", [yes, no, predicate]);

/** A word from another lane. */
function shuffle(e: Emitter, value: Operand, from: Operand): Register {
  const result = e.register("b32");
  e.emit("shfl.sync.idx.b32", [result, e.inRegister(value, "b32"), from, int(31), int(ALL_LANES)]);
  return result;
}

/** The lane `step` further in its segment, around its end. */
function neighbour(e: Emitter, rows: Rows, step: number): Operand {
  const mask = (1 << rows.segments.lanesLog2) - 1;
  const moved = e.pure("and.b32", "b32", [e.add("b32", rows.lane, int(step)), int(mask)]);
  return e.pure("or.b32", "b32", [e.pure("and.b32", "b32", [rows.lane, int(~mask & 31)]), moved]);
}

const chunkAddress = (e: Emitter, pointer: Operand): Operand => ({
  kind: "address",
  base: e.pure("and.b64", "b64", [pointer, int(-CHUNK_BYTES)]),
  offset: 0n,
});

const quad = (words: readonly Operand[]): Operand => ({ kind: "vector", elements: words });

/** How left-overs lie in lanes: lane = slot · v + element, slot = upper lane bits of the segment, then its group. */
interface Slots {
  /** log2 of the segments side by side in a warp. */
  readonly besideLog2: number;
  /** log2 of the groups that one boundary register serves. */
  readonly groupsLog2: number;
}

function slotsOf(segments: Segments): Slots {
  const slotsLog2 = 5 - Math.log2(segments.vector);
  const besideLog2 = 5 - segments.lanesLog2;
  return { besideLog2, groupsLog2: Math.min(slotsLog2 - besideLog2, segments.groupBits.length) };
}

/** Address of the left-over element of a lane: its place in the rotated chunk 0. */
function leftOverAddress(cx: LowerContext, rows: Rows, boundary: Value, register: number): Operand {
  const e = cx.emitter;
  const { segments, bytes } = rows;
  const pointer = e.inRegister(whole(e, lowered(cx, boundary)(register), boundary.type.element), "b64");
  const element = e.pure("and.b32", "b32", [rows.lane, int(segments.vector - 1)]);
  const offset = e.mul("b32", element, int(bytes));
  // Where the segment starts past a boundary: take this element's own offset off again.
  const start = e.pure("sub.s32", "b32", [e.pure("cvt.u32.u64", "b32", [pointer]), offset]);
  const skew = e.pure("and.b32", "b32", [start, int(CHUNK_BYTES - 1)]);
  const before = e.pure("setp.lt.u32", "pred", [offset, skew]);
  const around = choose(e, before, int(CHUNK_BYTES << segments.lanesLog2), int(0));
  const moved = e.pure("sub.s32", "b32", [around, skew]);
  return { kind: "address", base: e.add("b64", pointer, e.pure("cvt.s64.s32", "b64", [moved])), offset: 0n };
}

/** Every element of a mask is set, in this thread. */
function allSet(cx: LowerContext, mask: Value): Operand {
  const e = cx.emitter;
  const def = mask.def;
  const both = (a: Operand, b: Operand): Operand =>
    a.kind === "integer" ? (a.value === 0n ? a : b) : b.kind === "integer" ? (b.value === 0n ? b : a) : e.pure("and.pred", "pred", [a, b]);
  // All of (a and b) is (all of a) and (all of b): rows and columns are tested apart.
  if (def?.name === "and") return both(allSet(cx, must(def.operands[0], "operand")), allSet(cx, must(def.operands[1], "operand")));
  if (def?.name === "broadcast" || def?.name === "expand_dims" || def?.name === "splat") return allSet(cx, must(def.operands[0], "operand"));
  const seen = new Set<string>();
  let all: Operand = int(1);
  for (let register = 0; register < registerCount(mask); register++) {
    const set = whole(e, lowered(cx, mask)(register), "bool");
    if (seen.has(operandKey(set))) continue;
    seen.add(operandKey(set));
    all = both(all, set);
  }
  return all;
}

/** Runs `fast` where no lane of the warp is masked off, `plain` elsewhere. */
function guarded(cx: LowerContext, mask: Value | undefined, fast: () => void, plain: () => void): void {
  const e = cx.emitter;
  const set = mask === undefined ? int(1) : allSet(cx, mask);
  if (set.kind === "integer") return set.value === 0n ? plain() : fast();
  const everywhere = e.register("pred");
  e.emit("vote.sync.all.pred", [everywhere, set, int(ALL_LANES)]);
  const [masked, done] = [e.label("masked"), e.label("done")];
  e.emit("bra.uni", [{ kind: "symbol", name: masked }], { register: everywhere, negated: true });
  e.scoped(fast);
  e.emit("bra.uni", [{ kind: "symbol", name: done }]);
  e.body.push({ kind: "label", name: masked });
  e.scoped(plain);
  e.body.push({ kind: "label", name: done });
}

export function lowerLoadRows(cx: LowerContext, op: Op): void {
  const e = cx.emitter;
  const [pointer, boundary, mask] = [pointerOf(op), must(op.operands[1], "left-overs"), op.operands[2]];
  const rows = rowsOf(cx, op);
  const element = elementOf(pointer);
  const results = rows.groups.map(() => Array.from({ length: WORDS }, () => e.register("b32")));
  guarded(cx, mask, () => loadChunks(cx, rows, pointer, boundary, results), () => {
    rows.groups.forEach((group, g) => {
      const elements = Array.from({ length: rows.segments.vector }, (_, i) => group | applyBases(rows.segments.vectorBits.map((b) => 1 << b), i));
      accessElements(cx, { pointer, mask, element, registers: elements }).words.forEach((word, k) =>
        e.emit("mov.b32", [must(results[g]?.[k], "result"), word]));
    });
  });
  const refs: Ref[] = [];
  rows.groups.forEach((group, g) => {
    const words = must(results[g], "results");
    const parts = rows.bytes === 8 ? joinWords(e, words) : unpackAccess(e, words, element, rows.segments.vector);
    parts.forEach((ref, i) => refs[group | applyBases(rows.segments.vectorBits.map((b) => 1 << b), i)] = ref);
  });
  cx.values.set(must(op.results[0], "result"), (register) => must(refs[register], "loaded element"));
}

/** Pairs of words as 64-bit registers. */
function joinWords(e: Emitter, words: readonly Operand[]): Operand[] {
  return Array.from({ length: words.length / 2 }, (_, i) =>
    e.pure("mov.b64", "b64", [quad(words.slice(2 * i, 2 * i + 2))]));
}

function loadChunks(
  cx: LowerContext,
  rows: Rows,
  pointer: Value,
  boundary: Value,
  results: readonly (readonly Register[])[],
): void {
  const e = cx.emitter;
  const { bytes, segments } = rows;
  // All loads first: what follows waits for them.
  const chunks = rows.groups.map((group) => {
    const address = e.inRegister(whole(e, lowered(cx, pointer)(group), pointer.type.element), "b64");
    const words = Array.from({ length: WORDS }, () => e.register("b32"));
    e.emit("ld.global.v4.b32", [quad(words), chunkAddress(e, address)], { register: rows.first, negated: true });
    return { skew: skewOf(e, address), words };
  });
  const loaded = Array.from({ length: registerCount(boundary) }, (_, t) => {
    const bank = bytes === 8 ? "b64" : bytes === 2 ? "b16" : "b32";
    const result = e.register(bank);
    e.emit(bytes === 1 ? "ld.global.u8" : `ld.global.b${8 * bytes}`, [result, leftOverAddress(cx, rows, boundary, t)]);
    return result;
  });
  const packed = loaded.map((register) => packLeftOvers(e, rows, register));
  const { besideLog2, groupsLog2 } = slotsOf(segments);
  const beside = e.mul("b32", e.pure("shr.u32", "b32", [rows.lane, int(segments.lanesLog2)]), int(segments.vector));
  const next = neighbour(e, rows, 1);
  chunks.forEach(({ skew, words }, g) => {
    const from = (element: number): Operand =>
      e.add("b32", beside, int(((g & ((1 << groupsLog2) - 1)) << besideLog2) * segments.vector + element));
    const source = must(packed[g >> groupsLog2], "left-overs");
    const own = words.map((word, k) => {
      const element = Math.floor((4 * k) / bytes);
      const half = bytes === 8 ? k & 1 : 0;
      return choose(e, rows.first, shuffle(e, must(source[half], "word"), from(element)), word);
    });
    const needed = bytes < 4 ? WORDS : WORDS - 1;
    const all = [...own, ...own.slice(0, needed).map((word) => shuffle(e, word, next))];
    const { byTwo, byOne, bits } = skewParts(e, skew);
    const at = (list: readonly Operand[], i: number): Operand => must(list[i], "word");
    const even = Array.from({ length: needed + 2 }, (_, i) => choose(e, byTwo, at(all, i + 2), at(all, i)));
    const shifted = Array.from({ length: needed + 1 }, (_, i) => choose(e, byOne, at(even, i + 1), at(even, i)));
    results[g]?.forEach((result, k) => {
      if (bytes < 4) e.emit("shf.r.wrap.b32", [result, at(shifted, k), at(shifted, k + 1), bits]);
      else e.emit("mov.b32", [result, at(shifted, k)]);
    });
  });
}

/** Left-overs as words: the word of elements i, i+1, … lies in the lane of element i. One or (8 bytes) two words. */
function packLeftOvers(e: Emitter, rows: Rows, loaded: Register): Operand[] {
  const later = (word: Operand, lanes: number): Operand =>
    shuffle(e, word, e.pure("and.b32", "b32", [e.add("b32", rows.lane, int(lanes)), int(31)]));
  switch (rows.bytes) {
    case 8: {
      const [lo, hi] = [e.register("b32"), e.register("b32")];
      e.emit("mov.b64", [quad([lo, hi]), loaded]);
      return [lo, hi];
    }
    case 2: {
      const word = e.pure("cvt.u32.u16", "b32", [loaded]);
      return [e.pure("prmt.b32", "b32", [word, later(word, 1), int(0x5410)])];
    }
    case 1: {
      const pair = e.pure("prmt.b32", "b32", [loaded, later(loaded, 1), int(0x5140)]);
      return [e.pure("prmt.b32", "b32", [pair, later(pair, 2), int(0x5410)])];
    }
    default:
      return [loaded];
  }
}

export function lowerStoreRows(cx: LowerContext, op: Op): void {
  const [pointer, boundary] = [pointerOf(op), must(op.operands[1], "left-overs")];
  const [value, mask] = [must(op.operands[2], "stored value"), op.operands[3]];
  const rows = rowsOf(cx, op);
  const element = elementOf(pointer);
  const registersOf = (group: number): number[] =>
    Array.from({ length: rows.segments.vector }, (_, i) => group | applyBases(rows.segments.vectorBits.map((b) => 1 << b), i));
  const words = rows.groups.map((group) => {
    const registers = registersOf(group);
    return accessElements(cx, { element, registers, value }).words;
  });
  guarded(cx, mask, () => storeChunks(cx, rows, pointer, boundary, words), () => {
    rows.groups.forEach((group) => {
      accessElements(cx, { pointer, mask, element, registers: registersOf(group), value });
    });
  });
}

function storeChunks(cx: LowerContext, rows: Rows, pointer: Value, boundary: Value, words: readonly (readonly Operand[])[]): void {
  const e = cx.emitter;
  const { bytes, segments } = rows;
  const { besideLog2, groupsLog2 } = slotsOf(segments);
  const previous = neighbour(e, rows, -1);
  const at = (list: readonly Operand[], i: number): Operand => must(list[i], "word");
  const chunks = words.map((own, g) => {
    const group = must(rows.groups[g], "group");
    const address = e.inRegister(whole(e, lowered(cx, pointer)(group), pointer.type.element), "b64");
    const { byTwo, byOne, bits } = skewParts(e, skewOf(e, address));
    // Words 0 … 3 come from the lane before, 4 … 7 are this lane's; shifting up by the skew leaves words 4 … 7.
    const lowest = bytes < 4 ? 0 : 1;
    const before = own.map((word, k) => k < lowest ? int(0) : shuffle(e, word, previous));
    const all = [...before, ...own];
    const even = all.map((word, i) => i < lowest + 2 ? int(0) : choose(e, byTwo, at(all, i - 2), word));
    const shifted = even.map((word, i) => i < lowest + 3 ? int(0) : choose(e, byOne, at(even, i - 1), word));
    const out = own.map((_, k) =>
      bytes < 4
        ? e.pure("shf.l.wrap.b32", "b32", [at(shifted, k + 3), at(shifted, k + 4), bits])
        : at(shifted, k + 4));
    e.emit("st.global.v4.b32", [chunkAddress(e, address), quad(out)], { register: rows.first, negated: true });
    return out;
  });

  // Left-overs: each lane fetches its element from lane 0 of its segment.
  const slot = e.pure("shr.u32", "b32", [rows.lane, int(Math.log2(segments.vector))]);
  const besideMask = (1 << besideLog2) - 1;
  const from = e.pure("shl.b32", "b32", [e.pure("and.b32", "b32", [slot, int(besideMask)]), int(segments.lanesLog2)]);
  const myGroup = e.pure("and.b32", "b32", [
    e.pure("shr.u32", "b32", [slot, int(besideLog2)]),
    int((1 << groupsLog2) - 1),
  ]);
  const offset = e.mul("b32", e.pure("and.b32", "b32", [rows.lane, int(segments.vector - 1)]), int(bytes));
  const myWord = e.pure("shr.u32", "b32", [offset, int(2)]);
  const mine = e.add("b32", e.mul("b32", myGroup, int(WORDS)), myWord);
  const wordsPerElement = bytes === 8 ? 2 : 1;
  const owner = ownerPredicate(cx, copyBits(layoutOf(boundary)));
  for (let t = 0; t < registerCount(boundary); t++) {
    const picked: Operand[] = new Array<Operand>(wordsPerElement).fill(int(0));
    for (let low = 0; low < 1 << groupsLog2; low++) {
      const out = must(chunks[(t << groupsLog2) | low], "chunk");
      out.forEach((word, k) => {
        const half = k % wordsPerElement;
        const wanted = e.pure("setp.eq.s32", "pred", [mine, int(low * WORDS + k - half)]);
        picked[half] = choose(e, wanted, shuffle(e, word, from), at(picked, half));
      });
    }
    const address = leftOverAddress(cx, rows, boundary, t);
    const guard = owner === undefined ? undefined : { register: asRegister(owner), negated: false };
    if (bytes === 8) {
      e.emit("st.global.v2.b32", [address, quad(picked)], guard);
      continue;
    }
    const shift = e.pure("shl.b32", "b32", [e.pure("and.b32", "b32", [offset, int(3)]), int(3)]);
    const word = bytes === 4 ? at(picked, 0) : e.pure("shr.u32", "b32", [at(picked, 0), shift]);
    if (bytes === 2) e.emit("st.global.b16", [address, e.pure("cvt.u16.u32", "b16", [word])], guard);
    else e.emit(`st.global.b${8 * bytes}`, [address, word], guard);
  }
}
