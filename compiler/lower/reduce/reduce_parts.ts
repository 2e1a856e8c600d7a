/**
 * What reductions do through shared memory: each warp leaves its part, and all threads combine the parts of their element
 * in one order.
 *
 * Warps of several blocks send their parts to each block of the program (`st.async`), which waits for their bytes: a part
 * goes one way, nothing else is ordered, and a block that has what it waited for may end. It waits where a result is first
 * asked for, so parts of several reductions are under way together.
 */
import type { OpOf } from "../../ir/func.ts";
import { BARRIER_ROOM, blockPartBytes, exchangeBytes } from "../../layout/exchanges.ts";
import { countWithout, reducedLayout } from "../../layout/reduce.ts";
import { freeMask, type LinearLayout } from "../../linear/linear.ts";
import { blockThreadBases, threadBases } from "../../linear/threads.ts";
import { zip } from "../../support/zip.ts";
import type { Instruction, Operand, Register } from "../../ptx/func.ts";
import { atRegister, ownerPredicate, threadInBlock } from "../addresses.ts";
import type { Accumulator, Combiner } from "./combine.ts";
import type { LowerContext } from "../context.ts";
import { type Emitter, int } from "../emitter.ts";
import type { WordBank } from "../convert/words.ts";
import { vectorOf } from "../element.ts";
import { ofRegister } from "../values.ts";
import { foldLanes, foldRegisters, scatterBits } from "./fold.ts";
import { beginExchange, meet, programBarrier, toBlock } from "../memory/shared.ts";
import { times } from "../../support/times.ts";

/** Where the parts of a reduction come from: the hardware bits along the axis. */
export interface Parts {
  readonly layout: LinearLayout;
  readonly axis: number;
  readonly lanes: readonly number[];
  readonly warps: readonly number[];
  readonly blocks: readonly number[];
  /** The layout of the result, if it is another one than what is left of the operand's (layout/placed_sums.ts). */
  readonly to?: LinearLayout | undefined;
}

/** Where a word of the parts is in shared memory: for each part, the word of each element, and then the next word. */
type Places = (thread: readonly number[], register: number, part?: number) => {
  /** What the thread contributes to the address. */
  readonly base: Operand;
  readonly offset: number;
};

/** One for each word. */
function placesOf(
  cx: LowerContext,
  { banks }: Combiner,
  { layout, axis, warps, blocks }: Parts,
  /** Where registers lie. */
  { register: registers }: LinearLayout = reducedLayout(layout, axis),
): Places[] {
  const elements = countWithout(layout.shape, axis);
  const sizes = banks.map(bytesOf);
  return sizes.map((size, word) => (thread, register, part = 0) => {
    const before = sizes.slice(0, word).reduce((a, b) => a + b, 0) <<
      (warps.length + blocks.length);
    const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
    const { base, constant } = atRegister(cx, {
      register: scaled(registers),
      thread: scaled(thread),
    }, register);
    return { base, offset: elements * (before + part * size) + constant };
  });
}

const bytesOf = (bank: WordBank): number => bank === "b64" ? 8 : 4;

/** Combines the parts of a block's warps: all write before a barrier of the block, and read after it. */
export function foldWarps(
  cx: LowerContext,
  op: OpOf<"reduce">,
  combiner: Combiner,
  parts: Parts,
  sums: readonly Accumulator[],
): Accumulator[] {
  const start = beginExchange(cx, op);
  return exchangeParts(cx, combiner, parts, sums, start, () => programBarrier(cx));
}

/** Writes the parts of the block's warps, waits, and combines them. */
function exchangeParts(
  cx: LowerContext,
  combiner: Combiner,
  parts: Parts,
  sums: readonly Accumulator[],
  start: Operand,
  wait: () => void,
): Accumulator[] {
  const e = cx.emitter;
  const places = placesOf(cx, combiner, parts);
  const thread = blockThreadBases(sentTo(parts));
  const guard = ownerGuard(cx, freeMask(thread));
  eachWord(combiner, places, sums, ({ value, bank, place, register }) => {
    const { base, offset } = place(thread, register);
    const address = e.address(e.add("b32", start, base), BigInt(offset));
    e.emit(`st.shared.${bank}`, [address, e.inRegister(value, bank)], guard);
  });
  wait();
  return parts.to === undefined
    ? readParts(cx, combiner, parts, sums.length, start, places)
    : readElsewhere(cx, combiner, { ...parts, to: parts.to }, start);
}

/**
 * Sends the parts of the warps of several blocks, and gives what waits for those of the others and combines them. All
 * lanes of a warp have its part: each sends it to another block, as far as the axis has lanes for that.
 */
export function foldBlocks(
  cx: LowerContext,
  op: OpOf<"reduce">,
  combiner: Combiner,
  ofWarps: Parts,
  sumsOfWarps: readonly Accumulator[],
): () => Accumulator[] {
  const e = cx.emitter;
  const barrier = placeOfTurn(cx, op, beginExchange(cx, op));
  const { in_blocks = false } = op.attrs;
  const parts = in_blocks ? { ...ofWarps, warps: [] } : ofWarps;
  const sums = in_blocks ? inBlock(cx, combiner, ofWarps, sumsOfWarps, barrier) : sumsOfWarps;
  meet(cx);
  const start = e.add("b32", barrier, int(BARRIER_ROOM));
  const places = placesOf(cx, combiner, parts);
  const sent = sentTo(parts);
  const thread = threadBases(sent);
  const { byThread, inTurn } = receivers(parts);
  const guard = ownerGuard(
    cx,
    freeMask(zip(thread, byThread).map(([place, rank]) => place | rank)),
  );
  // What each block sends to one, so many times.
  const senders = blockThreadBases(sent).filter((basis) => basis !== 0).length;
  const words = combiner.banks.reduce((bytes, bank) => bytes + bytesOf(bank), 0) * sums.length;
  expectBytes(cx, barrier, words << senders + parts.blocks.length);
  for (const turn of inTurn) {
    const { base, constant } = atRegister(cx, { register: [], thread: byThread }, 0, turn);
    const rank = e.inRegister(e.add("b32", base, int(constant)), "b32");
    const [toBarrier, to] = [toBlock(cx, barrier, rank), toBlock(cx, start, rank)];
    eachWord(combiner, places, sums, ({ value, bank, place, register }) => {
      const { base, offset } = place(thread, register);
      e.emit(`st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.${bank}`, [
        e.address(e.add("b32", to, base), BigInt(offset)),
        e.inRegister(value, bank),
        e.address(toBarrier),
      ], guard);
    });
  }
  return () => {
    awaitBytes(cx, op, barrier);
    return readParts(cx, combiner, parts, sums.length, start, places);
  };
}

/**
 * Combines the parts of a block's warps behind the place of those of blocks. Threads come to write them again when they have what
 * the blocks have sent, or, of a reduction that `alternates`, when all have begun the next one, so they have been read.
 */
function inBlock(
  cx: LowerContext,
  combiner: Combiner,
  parts: Parts,
  sums: readonly Accumulator[],
  barrier: Operand,
): Accumulator[] {
  const words = combiner.banks.reduce((bytes, bank) => bytes + bytesOf(bank), 0);
  const each = countWithout(parts.layout.shape, parts.axis) * words;
  const before = BARRIER_ROOM + blockPartBytes(each << parts.blocks.length);
  const place = cx.emitter.add("b32", barrier, int(before));
  return exchangeParts(
    cx,
    combiner,
    { ...parts, blocks: [], to: undefined },
    sums,
    place,
    () => cx.emitter.emit("bar.sync", cx.blockBarrier),
  );
}

/**
 * Where a reduction is this time. One that `alternates` has two places: parts of the next time may come while threads read
 * those of this one, but those of the time after that come from blocks that all threads have sent the next ones to.
 */
function placeOfTurn(cx: LowerContext, op: OpOf<"reduce">, first: Operand): Operand {
  const times = cx.remote.phases.get(op);
  if (op.attrs.alternates !== true || times === undefined) return first;
  const e = cx.emitter;
  const [isOdd, place] = [e.register("b32"), e.register("b32")];
  e.emit("and.b32", [isOdd, times, int(1)]);
  e.emit("mad.lo.u32", [place, isOdd, int(exchangeBytes(op) / 2), first]);
  return place;
}

/** The layout of the parts that threads have: an element's index below the number of the part. */
function sentTo({ layout, axis, warps, blocks }: Parts): LinearLayout {
  const reduced = reducedLayout(layout, axis);
  const elements = countWithout(layout.shape, axis);
  const numbered = (bases: readonly number[], along: readonly number[], first: number): number[] =>
    bases.map((basis, bit) =>
      along.includes(bit) ? elements << (first + along.indexOf(bit)) : basis
    );
  return {
    ...reduced,
    warp: numbered(reduced.warp, warps, 0),
    // The shared memory of a block has its own elements only.
    block: numbered(reduced.block.map(() => 0), blocks, warps.length),
  };
}

/** The blocks that a thread sends its part to: one for each lane along the axis, and those that are left in turn. */
function receivers({ layout, lanes, blocks }: Parts): {
  /** Rank of a block, by the bits of the thread's index in its program. */
  readonly byThread: readonly number[];
  /** Bits of ranks that no lane represents. */
  readonly inTurn: readonly number[];
} {
  const byLane = blocks.slice(0, lanes.length);
  const rest = blocks.slice(lanes.length);
  const byThread = threadBases({
    ...layout,
    lane: layout.lane.map((_, bit) => {
      const block = byLane[lanes.indexOf(bit)];
      return block === undefined ? 0 : 1 << block;
    }),
    warp: layout.warp.map(() => 0),
    block: layout.block.map((_, bit) => blocks.includes(bit) ? 0 : 1 << bit),
  });
  return {
    byThread,
    inTurn: times(1 << rest.length, (turn) => scatterBits(rest, turn)),
  };
}

/** Lets the phase of a block's barrier end when so many bytes are there. */
function expectBytes(cx: LowerContext, barrier: Operand, bytes: number): void {
  const e = cx.emitter;
  const isFirst = e.pure("setp.eq.s32", "pred", [threadInBlock(cx), int(0)]);
  e.emit(
    "mbarrier.arrive.expect_tx.shared::cta.b64",
    [{ kind: "sink" }, e.address(barrier), int(bytes)],
    guardOf(isFirst),
  );
}

/**
 * What other blocks send is in the block's own shared memory when the phase ends, whatever the scope, as CUTLASS waits for
 * multicast copies too (`ClusterTransactionBarrier`). An acquire of the cluster's scope would be for global memory: it empties
 * the L1 cache of the multiprocessor (`CCTL.IVALL`) for each warp, and with it the weights of the programs there. Layer norm
 * of 32,768 columns: 0.921 of a copy instead of 0.902.
 */
function awaitBytes(cx: LowerContext, op: OpOf<"reduce">, barrier: Operand): void {
  const e = cx.emitter;
  const phase = cx.remote.phases.get(op);
  const { alternates = false } = op.attrs;
  const parity = phase !== undefined && alternates ? parityOfTurn(e, phase) : phase;
  const [again, isOver] = [e.newLabel(), e.register("pred")];
  e.label(again);
  e.emit(
    "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64",
    [isOver, e.address(barrier), parity ?? int(0)],
  );
  e.emit("bra", [{ kind: "symbol", name: again }], { register: isOver, negated: true });
  if (phase === undefined) return;
  e.emit(alternates ? "add.u32" : "xor.b32", [phase, phase, int(1)]);
}

/** The parity of a place's phase, by how often a reduction that `alternates` has been done. */
function parityOfTurn(e: Emitter, times: Register): Register {
  const [turns, parity] = [e.register("b32"), e.register("b32")];
  e.emit("shr.u32", [turns, times, int(1)]);
  e.emit("and.b32", [parity, turns, int(1)]);
  return parity;
}

/** Up to eight parts each thread reads itself. Of more it reads four, a vector, and other lanes read the others. */
const OWN_BITS = 3;
const VECTOR_BITS = 2;

/** The parts of each element of a thread, combined. */
function readParts(
  cx: LowerContext,
  combiner: Combiner,
  { layout, axis, lanes, warps, blocks }: Parts,
  count: number,
  start: Operand,
  places: readonly Places[],
): Accumulator[] {
  const elements = countWithout(layout.shape, axis);
  const bits = warps.length + blocks.length;
  const low = bits <= OWN_BITS ? bits : VECTOR_BITS;
  const reading = lanes.slice(0, bits - low);
  const { lane, ...reduced } = reducedLayout(layout, axis);
  const thread = blockThreadBases({
    ...reduced,
    lane: lane.map((basis, bit) =>
      reading.includes(bit) ? elements << (low + reading.indexOf(bit)) : basis
    ),
  });
  // Bits of a part's number that no lane represents.
  const own = times(bits, (bit) => bit)
    .filter((bit) => bit < low || bit >= low + reading.length);
  // Parts of one element lie side by side.
  const read = { start, places, thread, own, isVector: elements === 1 };
  return times(
    count,
    (register) => foldLanes(cx, combiner, reading, readElement(cx, combiner, read, register)),
  );
}

/** The same of the elements that threads have in another layout: each reads all parts of its own. */
function readElsewhere(
  cx: LowerContext,
  combiner: Combiner,
  parts: Parts & { readonly to: LinearLayout },
  start: Operand,
): Accumulator[] {
  const { to, warps } = parts;
  const places = placesOf(cx, combiner, parts, to);
  const own = times(warps.length, (bit) => bit);
  const read = { start, places, thread: blockThreadBases(to), own, isVector: false };
  return times(
    2 ** to.register.length,
    (register) => readElement(cx, combiner, read, register),
  );
}

/** How a thread reads the parts of its elements. */
interface Reading {
  readonly start: Operand;
  readonly places: readonly Places[];
  readonly thread: readonly number[];
  /** Bits of the numbers of the parts that it reads. */
  readonly own: readonly number[];
  /** Whether parts lie side by side. */
  readonly isVector: boolean;
}

/** The parts of an element that a thread reads, combined. */
function readElement(
  cx: LowerContext,
  combiner: Combiner,
  { start, places, thread, own, isVector }: Reading,
  register: number,
): Accumulator {
  const e = cx.emitter;
  const words = zip(combiner.banks, places).map(([bank, place]) => {
    const loaded = times(1 << own.length, () => e.register(bank));
    const size = isVector ? Math.min(loaded.length, 16 / bytesOf(bank)) : 1;
    for (let first = 0; first < loaded.length; first += size) {
      const { base, offset } = place(thread, register, scatterBits(own, first));
      const address = e.address(e.add("b32", start, base), BigInt(offset));
      const into = loaded.slice(first, first + size);
      const vector = size === 1 ? "" : `.v${size}`;
      e.emit(`ld.shared${vector}.${bank}`, [vectorOf(into), address]);
    }
    return loaded;
  });
  return foldRegisters(
    cx,
    combiner,
    own.map((_, i) => i),
    (at) => words.map((loaded) => ofRegister(loaded, at)),
  );
}

interface Word {
  readonly value: Operand;
  readonly bank: WordBank;
  readonly place: Places;
  readonly register: number;
}

function eachWord(
  { banks }: Combiner,
  places: readonly Places[],
  sums: readonly Accumulator[],
  visit: (word: Word) => void,
): void {
  sums.forEach((sum, register) =>
    zip(sum, zip(banks, places)).forEach(([value, [bank, place]]) =>
      visit({ value, bank, place, register })
    )
  );
}

/** Of threads that have the same part, the first. */
function ownerGuard(cx: LowerContext, copies: number): Instruction["guard"] {
  const owner = ownerPredicate(cx, copies);
  return owner === undefined ? undefined : guardOf(owner);
}

const guardOf = (predicate: Operand): Instruction["guard"] =>
  predicate.kind === "register" ? { register: predicate, negated: false } : undefined;
