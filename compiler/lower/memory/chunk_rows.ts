/**
 * Rows that start anywhere, through shared memory (layout/rows/chunk_rows.ts): `cp.async` brings the aligned chunks that a
 * row lies in; the row is read back by words, two of which are shifted into one where it starts inside a word.
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import type { AccessGroup } from "../../layout/access_groups.ts";
import { WORD_BYTES } from "../../layout/anchors.ts";
import { CHUNK, CHUNK_BYTES, chunkGroups, chunkPlaces } from "../../layout/rows/chunk_rows.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { freeMask, type LinearLayout, ofAxis } from "../../linear/linear.ts";
import { blockCopyBits } from "../../linear/threads.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { atRegister, ownerPredicate } from "../addresses.ts";
import type { LowerContext } from "../context.ts";
import { type Ref, unpackAccess, vectorOf, whole } from "../element.ts";
import { type Emitter, int } from "../emitter.ts";
import { splitIndex } from "../exchanges/rotate.ts";
import { lowered, setElements } from "../values.ts";
import { bothHold, guardOf, maskGuard, pointerAt } from "./global.ts";
import { startOfArea } from "./shared.ts";
import { bufferOf } from "./shared_buffer.ts";
import { times } from "../../support/times.ts";

const BYTES = CHUNK_BYTES / CHUNK;
const CHUNK_WORDS = CHUNK_BYTES / WORD_BYTES;

/** A thread's chunks in a slot. */
interface Chunks {
  readonly groups: readonly AccessGroup[];
  /** Address of the chunk of a group, and `extra` more bytes. */
  readonly address: (group: AccessGroup, extra?: Operand) => Address;
  /** The threads whose chunk of a group begins at an element of its row. */
  readonly beginsAt: (group: AccessGroup, element: number) => "always" | "never" | Operand;
}

interface Address {
  readonly base: Operand;
  readonly constant: bigint;
}

function chunksOf(
  cx: LowerContext,
  op: OpOf<"copy_rows" | "local_rows">,
  layout: LinearLayout,
): Chunks {
  const e = cx.emitter;
  const { axis, continued } = op.attrs;
  const { buffer, slot } = operandsOf(op);
  const { slots, offset, address } = bufferOf(buffer);
  const places = chunkPlaces(layout.shape, { axis, isContinued: continued }, slots);
  const { along, outer } = splitIndex(layout, axis);
  const start = e.add("b32", startOfArea(e, address - offset), int(offset));
  const inSlot = e.mul("b32", whole(e, lowered(cx, slot)(0), "int32"), int(places.slot));
  return {
    groups: must(chunkGroups(layout, axis), "chunks of a thread"),
    address: ([register], extra = int(0)) => {
      const [row, column] = [atRegister(cx, outer, register), atRegister(cx, along, register)];
      const inRow = e.add("b32", e.mul("b32", column.base, int(BYTES)), extra);
      const inTile = e.add("b32", e.mul("b32", row.base, int(places.pitch)), inRow);
      const fixed = e.sumOf(e.add("b32", start, inTile));
      // The slot comes last: all else stays the same in a loop.
      const base = e.add("b32", fixed.base, inSlot);
      const constant = BigInt(row.constant * places.pitch + column.constant * BYTES);
      return { base, constant: fixed.constant + constant };
    },
    beginsAt: ([register], element) => {
      const { base, constant } = atRegister(cx, along, register);
      if (base.kind === "integer") {
        return Number(base.value) + constant === element ? "always" : "never";
      }
      return e.pure("setp.eq.s32", "pred", [base, int(element - constant)]);
    },
  };
}

/** `value` within bounds. */
function clamped(e: Emitter, value: Operand, least: number, most: number | Operand): Operand {
  const limit = typeof most === "number" ? int(most) : most;
  return value.kind === "integer" && limit.kind === "integer"
    ? int(Math.max(least, Math.min(Number(limit.value), Number(value.value))))
    : e.pure("max.s32", "b32", [e.pure("min.s32", "b32", [value, limit]), int(least)]);
}

export function lowerCopyRows(cx: LowerContext, op: OpOf<"copy_rows">): void {
  const e = cx.emitter;
  const { pointer, when } = operandsOf(op);
  const { axis, continued } = op.attrs;
  const layout = layoutOf(pointer);
  const copies: Copies = {
    chunks: chunksOf(cx, op, layout),
    extent: ofAxis(layout.shape, axis),
    most: onlyIf(e, int(CHUNK_BYTES), conditionIn(cx, when)),
    owner: ownerPredicate(cx, blockCopyBits(layout)),
  };
  for (const group of copies.chunks.groups) {
    const chunk = chunkOf(cx, op, copies, group);
    if (continued) copyContinued(cx, op, copies, chunk);
    else copyWithLast(e, copies, chunk);
  }
}

type Condition = "always" | "never" | Operand;

/** What the copies of an operation share. */
interface Copies {
  readonly chunks: Chunks;
  /** Elements of a row. */
  readonly extent: number;
  /** Bytes that a copy reads at most: none where the operation copies nothing. */
  readonly most: Operand;
  readonly owner: Operand | undefined;
}

/** A chunk of a row, in memory and in its slot. */
interface Chunk {
  readonly group: AccessGroup;
  readonly source: Operand;
  /** Bytes of it before the row's element. */
  readonly inside: Operand;
  /** Bytes from its start to the end of what is there. */
  readonly bytes: Operand;
  readonly to: Address;
}

const conditionIn = (cx: LowerContext, value: Value, register = 0): Condition =>
  maskGuard(cx.emitter, whole(cx.emitter, lowered(cx, value)(register), "bool"));

/** `value` where a condition holds, else zero. */
function onlyIf(e: Emitter, value: Operand, condition: Condition): Operand {
  if (condition === "always") return value;
  return condition === "never" ? int(0) : e.pure("selp.b32", "b32", [value, int(0), condition]);
}

function chunkOf(
  cx: LowerContext,
  op: OpOf<"copy_rows">,
  { chunks }: Copies,
  group: AccessGroup,
): Chunk {
  const e = cx.emitter;
  const { pointer, count, rows } = operandsOf(op);
  const [register] = group;
  const address = pointerAt(cx, pointer, register);
  const low = e.pure("cvt.u32.u64", "b32", [address]);
  const inside = e.pure("and.b32", "b32", [low, int(CHUNK_BYTES - 1)]);
  const source = e.pure("and.b64", "b64", [address, int(-CHUNK_BYTES)]);
  const elements = clamped(e, whole(e, lowered(cx, count)(register), "int32"), -CHUNK, CHUNK);
  const bytes = e.add("b32", e.mul("b32", elements, int(BYTES)), inside);
  const taken = onlyIf(e, bytes, conditionIn(cx, rows, register));
  return { group, source, inside, bytes: taken, to: chunks.address(group) };
}

/** Copies so many of the 16 bytes from the chunk's start, or `further` bytes from there, on; the rest becomes zero. */
function copyChunk(
  e: Emitter,
  { source, to }: Pick<Chunk, "source" | "to">,
  size: Operand,
  guard: Operand | undefined,
  further = 0,
): void {
  const start: Operand = { kind: "address", base: to.base, offset: to.constant };
  const from = e.address(source, BigInt(further));
  e.emit(
    "cp.async.cg.shared.global",
    [start, from, int(CHUNK_BYTES), size],
    guardOf(guard),
  );
}

const moved = ({ base, constant }: Address, bytes: number): Address => ({
  base,
  constant: constant + BigInt(bytes),
});

/** A chunk and, at the end of a row, of the one after it what belongs to the row. */
function copyWithLast(e: Emitter, { chunks, extent, most, owner }: Copies, chunk: Chunk): void {
  copyChunk(e, chunk, clamped(e, chunk.bytes, 0, most), owner);
  const isLast = chunks.beginsAt(chunk.group, extent - CHUNK);
  if (isLast === "never") return;
  const rest = clamped(e, e.add("b32", chunk.bytes, int(-CHUNK_BYTES)), 0, most);
  const last = { ...chunk, to: moved(chunk.to, CHUNK_BYTES) };
  copyChunk(e, last, rest, bothHold(e, isLast, owner), CHUNK_BYTES);
}

/** A chunk of a row that goes on; the first one of the ring's first slot also after the last slot. */
function copyContinued(
  cx: LowerContext,
  op: OpOf<"copy_rows">,
  { chunks, extent, most, owner }: Copies,
  chunk: Chunk,
): void {
  const e = cx.emitter;
  const { buffer, slot, before } = operandsOf(op);
  const isFirst = chunks.beginsAt(chunk.group, 0);
  // What belongs to the row of the slot before, even where it is the last one.
  const ended = onlyIf(e, onlyIf(e, chunk.inside, conditionIn(cx, before)), isFirst);
  const size = clamped(e, chunk.bytes, 0, e.pure("max.s32", "b32", [most, ended]));
  copyChunk(e, chunk, size, owner);
  if (isFirst === "never") return;
  const at = e.inRegister(whole(e, lowered(cx, slot)(0), "int32"), "b32");
  const isFirstSlot = e.pure("setp.eq.s32", "pred", [at, int(0)]);
  const again = { ...chunk, to: moved(chunk.to, bufferOf(buffer).slots * extent * BYTES) };
  copyChunk(e, again, size, bothHold(e, isFirst, bothHold(e, isFirstSlot, owner)));
}

export function lowerLocalRows(cx: LowerContext, op: OpOf<"local_rows">): void {
  const e = cx.emitter;
  const { start } = operandsOf(op);
  const result = resultOf(op);
  const layout = layoutOf(result);
  const chunks = chunksOf(cx, op, layout);
  const refs: Ref[] = [];
  for (const group of chunks.groups) {
    const at = whole(e, lowered(cx, start)(group[0]), start.type.element);
    const words = op.attrs.continued
      ? wordsFrom(e, chunks, group, at)
      : chosenWords(e, chunks.address(group), at);
    const bits = e.pure("shl.b32", "b32", [at, int(3)]);
    const shifted = times(CHUNK_WORDS, (i) => {
      const pair = [must(words[i], "word"), must(words[i + 1], "word")];
      return e.pure("shf.r.wrap.b32", "b32", [...pair, bits]);
    });
    const elements = unpackAccess(e, shifted, result.type.element, group.length);
    for (const [register, ref] of zip(group, elements)) refs[register] = ref;
  }
  setElements(cx, result, refs, freeMask(layout.register));
}

/** The words of a chunk and the one after it from the start of a row on, loaded one by one. */
function wordsFrom(e: Emitter, chunks: Chunks, group: AccessGroup, start: Operand): Operand[] {
  const wordStart = e.pure("and.b32", "b32", [start, int(CHUNK_BYTES - WORD_BYTES)]);
  const { base, constant } = chunks.address(group, wordStart);
  return times(CHUNK_WORDS + 1, (i) => {
    const word = e.register("b32");
    const offset = constant + BigInt(i * WORD_BYTES);
    e.emit("ld.shared.b32", [word, { kind: "address", base, offset }]);
    return word;
  });
}

/**
 * The same chosen among all words of both chunks: words that several chunks of one row have at the same place lie in few
 * banks.
 */
function chosenWords(e: Emitter, { base, constant }: Address, start: Operand): Operand[] {
  let words: Operand[] = [0, CHUNK_BYTES].flatMap((bytes) => {
    const chunk = times(CHUNK_WORDS, () => e.register("b32"));
    const offset = constant + BigInt(bytes);
    e.emit("ld.shared.v4.b32", [vectorOf(chunk), { kind: "address", base, offset }]);
    return chunk;
  });
  for (let distance = CHUNK_WORDS / 2; distance >= 1; distance /= 2) {
    const bit = e.pure("and.b32", "b32", [start, int(distance * WORD_BYTES)]);
    const isAfter = e.pure("setp.ne.b32", "pred", [bit, int(0)]);
    words = words.slice(0, words.length - distance).map((word, i) =>
      e.pure("selp.b32", "b32", [must(words[i + distance], "word"), word, isAfter])
    );
  }
  return words;
}
