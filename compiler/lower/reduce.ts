/**
 * Reductions along an axis: first the registers of each thread, then lanes by butterfly shuffles, then warps through
 * shared memory, then the blocks of the program through that of each other. The order is fixed by the layout, both sides of every exchange combine the same two values, and
 * all copies of a result are therefore equal to the bit.
 */
import type { OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import {
  alongAxis,
  axisBits,
  countWithout,
  keptRegisterBits,
  reducedLayout,
} from "../layout/reduce.ts";
import { freeMask, type LinearLayout } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import type { Operand } from "../ptx/func.ts";
import { type Accumulator, type Combiner, combinerOf } from "./combine.ts";
import type { LowerContext } from "./context.ts";
import { atRegister, blockRank, ownerPredicate } from "./addresses.ts";
import { lowered, setElements } from "./values.ts";
import { blockThreadBases, threadBases } from "../linear/threads.ts";
import { reducedBytes } from "../layout/exchanges.ts";
import { layoutOf } from "../layout/tiles.ts";
import { whole } from "./element.ts";
import { int } from "./emitter.ts";
import { beginExchange, blockBarrier, inBlock, programBarrier } from "./shared.ts";
import { butterfly } from "./shuffle.ts";

/** The register whose bits `bits` are those of `value`, lowest first. */
function scatterBits(bits: readonly number[], value: number): number {
  return bits.reduce((register, bit, i) => (value >> i) & 1 ? register | (1 << bit) : register, 0);
}

export function lowerReduce(cx: LowerContext, op: OpOf<"reduce">): void {
  const { value: source } = operandsOf(op);
  const { axis } = op.attrs;
  const layout = layoutOf(source);
  const combiner = combinerOf(op.attrs.operator, source.type.element);
  const bits = axisBits(layout, axis);
  const bitsOf = (input: string): number[] =>
    bits.flatMap((one) => one.input === input ? [one.bit] : []);
  const kept = keptRegisterBits(layout, axis);

  let sums = Array.from(
    { length: 1 << kept.length },
    (_, register) =>
      foldRegisters(
        cx,
        combiner,
        bitsOf("register"),
        (at) => startAt(cx, op, combiner, scatterBits(kept, register) | at),
      ),
  );
  sums = sums.map((sum) => foldLanes(cx, combiner, bitsOf("lane"), sum));
  const warps = bitsOf("warp");
  const blocks = bitsOf("block");
  if (warps.length + blocks.length > 0) {
    const exchange: Exchange = { layout, axis, warps, blocks, start: beginExchange(cx, op) };
    if (warps.length > 0) sums = foldWarps(cx, combiner, exchange, sums);
    if (blocks.length > 0) {
      sums = foldBlocks(
        cx,
        combiner,
        { ...exchange, start: afterWarps(cx, op, exchange.start) },
        sums,
      );
    }
  }
  const results = sums.map((sum) => combiner.finish(cx.emitter, sum));
  setElements(cx, resultOf(op), results);
}

/** The accumulator of the element in one register. */
export function startAt(
  cx: LowerContext,
  op: OpOf<"reduce" | "scan">,
  combiner: Combiner,
  register: number,
): Accumulator {
  const e = cx.emitter;
  const { value: source } = operandsOf(op);
  const layout = alongAxis(layoutOf(source), op.attrs.axis);
  return combiner.start(
    e,
    whole(e, lowered(cx, source)(register), source.type.element),
    () => {
      const bases = { register: layout.register, thread: threadBases(layout) };
      const { base, constant } = atRegister(cx, bases, register);
      return e.add("b32", base, int(constant));
    },
  );
}

/** Combines pairs, pairs of pairs, …: short chains, and errors of sums grow slowly. */
function foldRegisters(
  cx: LowerContext,
  combiner: Combiner,
  bits: readonly number[],
  start: (register: number) => Accumulator,
): Accumulator {
  const fold = (count: number, register: number): Accumulator => {
    if (count === 0) return start(register);
    const bit = must(bits[count - 1], "register bit");
    return combiner.combine(
      cx.emitter,
      fold(count - 1, register),
      fold(count - 1, register | (1 << bit)),
    );
  };
  return fold(bits.length, 0);
}

function foldLanes(
  cx: LowerContext,
  combiner: Combiner,
  bits: readonly number[],
  sum: Accumulator,
): Accumulator {
  const e = cx.emitter;
  if (bits.length === 5 && combiner.redux !== undefined && e.target.redux) {
    const result = e.register("b32");
    const value = e.inRegister(must(sum[0], "word"), "b32");
    e.emit(`redux.sync.${combiner.redux}`, [result, value, int(0xffffffffn)]);
    return [result];
  }
  return bits.reduce(
    (at, bit) => combiner.combine(e, at, fromLane(cx, combiner, at, 1 << bit)),
    sum,
  );
}

/** The accumulator of the lane whose number differs by `mask`. */
export function fromLane(
  cx: LowerContext,
  combiner: Combiner,
  sum: Accumulator,
  mask: number,
): Accumulator {
  return zip(sum, combiner.banks).map(([word, bank]) => butterfly(cx.emitter, word, bank, mask));
}

/** What a reduction does through shared memory. */
interface Exchange {
  readonly layout: LinearLayout;
  readonly axis: number;
  /** Warp bits along the axis. */
  readonly warps: readonly number[];
  /** Block bits along the axis. */
  readonly blocks: readonly number[];
  /** Address of the first byte. */
  readonly start: Operand;
}

/** Where what blocks exchange begins. */
function afterWarps(cx: LowerContext, op: OpOf<"reduce">, start: Operand): Operand {
  const { warps } = reducedBytes(op);
  return warps === 0 ? start : cx.emitter.add("b32", start, int(warps));
}

/** Parts of reductions in shared memory: for each part, a word of each element, and then the next word. */
function placesOf(
  cx: LowerContext,
  { banks }: Combiner,
  { layout, axis, start }: Exchange,
  parts: number,
): (thread: readonly number[], register: number, word: number, part?: number) => {
  readonly base: Operand;
  readonly offset: bigint;
} {
  const reduced = reducedLayout(layout, axis);
  const elements = countWithout(layout.shape, axis);
  const sizes = banks.map((bank) => bank === "b64" ? 8 : 4);
  const starts = sizes.map((_, i) =>
    elements * parts * sizes.slice(0, i).reduce((a, b) => a + b, 0)
  );
  return (thread, register, word, part = 0) => {
    const size = must(sizes[word], "size of a word");
    const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
    const { base, constant } = atRegister(cx, {
      register: scaled(reduced.register),
      thread: scaled(thread),
    }, register);
    const offset = must(starts[word], "offset of a word") + constant + part * elements * size;
    return { base: cx.emitter.add("b32", start, base), offset: BigInt(offset) };
  };
}

/** Each warp leaves its part in shared memory; all threads read the parts of their element in one order. */
function foldWarps(
  cx: LowerContext,
  combiner: Combiner,
  exchange: Exchange,
  sums: readonly Accumulator[],
): Accumulator[] {
  const e = cx.emitter;
  const { layout, axis, warps, blocks } = exchange;
  const elements = countWithout(layout.shape, axis);
  const reading = blockThreadBases(reducedLayout(layout, axis));
  const writing = reading.map((basis, bit) => {
    const warp = warps.indexOf(bit - layout.lane.length);
    return warp < 0 ? basis : elements << warp;
  });
  const placeOf = placesOf(cx, combiner, exchange, 1 << warps.length);
  leave(cx, combiner, writing, sums, placeOf);
  // Nobody else reads what the warps of a block leave there, where the blocks meet behind it.
  if (blocks.length > 0) blockBarrier(cx);
  else programBarrier(cx);
  return sums.map((_, register) =>
    foldRegisters(cx, combiner, warps.map((__, i) => i), (part) =>
      combiner.banks.map((bank, i) => {
        const result = e.register(bank);
        const place = placeOf(reading, register, i, part);
        e.emit(`ld.shared.${bank}`, [result, { kind: "address", ...place }]);
        return result;
      }))
  );
}

/** Each block leaves its part in its shared memory; all threads of the program read them in the order of the blocks. */
function foldBlocks(
  cx: LowerContext,
  combiner: Combiner,
  exchange: Exchange,
  sums: readonly Accumulator[],
): Accumulator[] {
  const e = cx.emitter;
  const { layout, axis, blocks } = exchange;
  const own = blockThreadBases(reducedLayout(layout, axis));
  const placeOf = placesOf(cx, combiner, exchange, 1);
  leave(cx, combiner, own, sums, placeOf);
  programBarrier(cx);
  const mask = scatterBits(blocks, (1 << blocks.length) - 1);
  const others = e.pure("and.b32", "b32", [blockRank(cx), int(cx.numCtas - 1 & ~mask)]);
  const rankOf = (part: number): Operand =>
    e.inRegister(e.add("b32", others, int(scatterBits(blocks, part))), "b32");
  return sums.map((_, register) =>
    foldRegisters(
      cx,
      combiner,
      blocks.map((__, i) => i),
      (part) =>
        combiner.banks.map((bank, i) => {
          const result = e.register(bank);
          const { base, offset } = placeOf(own, register, i);
          const address: Operand = {
            kind: "address",
            base: inBlock(cx, base, rankOf(part)),
            offset,
          };
          e.emit(`ld.shared::cluster.${bank}`, [result, address]);
          return result;
        }),
    )
  );
}

/** Writes the words of accumulators; of threads that have the same one, the first. */
function leave(
  cx: LowerContext,
  { banks }: Combiner,
  thread: readonly number[],
  sums: readonly Accumulator[],
  placeOf: ReturnType<typeof placesOf>,
): void {
  const e = cx.emitter;
  const owner = ownerPredicate(cx, freeMask(thread));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  sums.forEach((sum, register) =>
    zip(sum, banks).forEach(([word, bank], i) => {
      const address: Operand = { kind: "address", ...placeOf(thread, register, i) };
      e.emit(`st.shared.${bank}`, [address, e.inRegister(word, bank)], guard);
    })
  );
}
