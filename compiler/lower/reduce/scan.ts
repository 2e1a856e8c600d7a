/**
 * Scans along an axis, bit by bit of the index along it, low bits first. After step k every element has the
 * combination of its aligned block of 2^k elements up to itself, and that of the whole block; the next step meets
 * the neighbouring block, which is another register, lane or warp:
 *
 *     upper half of the pair:  prefix = block(lower) ∘ prefix
 *     both halves:             block = block(lower) ∘ block(upper)
 */
import type { Operand } from "../../ptx/func.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { type AxisBit, axisBits } from "../../layout/reduce.ts";
import { bug } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { type Accumulator, type Combiner, combinerOf } from "./combine.ts";
import type { LowerContext } from "../context.ts";
import { threadInBlock } from "../addresses.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { int } from "../emitter.ts";
import { fromLane } from "./fold.ts";
import { startAt } from "./reduce.ts";
import { beginExchange, programBarrier } from "../memory/shared.ts";
import { byRegister, ofRegister, setElements } from "../values.ts";
import { times } from "../../support/times.ts";

/** What each register holds at some step. */
interface State {
  readonly prefixes: readonly Accumulator[];
  readonly blocks: readonly Accumulator[];
}

export function lowerScan(cx: LowerContext, op: OpOf<"scan">): void {
  const { value: source } = operandsOf(op);
  const layout = layoutOf(source);
  const combiner = combinerOf(op.attrs.operator, source.type.element);
  const begin = exchangesOf(cx, op);
  const first = times(
    1 << layout.register.length,
    (register) => startAt(cx, op, combiner, register),
  );
  const { prefixes } = axisBits(layout, op.attrs.axis).reduce(
    (state, bit) => STEPS[bit.input]({ cx, combiner, begin }, bit.bit, state),
    { prefixes: first, blocks: first } as State,
  );
  const results = prefixes.map((prefix) => combiner.finish(cx.emitter, prefix));
  setElements(cx, resultOf(op), results);
}

/** Begins one exchange of an operation after the other, all at the same address. */
function exchangesOf(cx: LowerContext, op: OpOf<"scan">): () => Operand {
  let start: Operand | undefined;
  return () => {
    if (start !== undefined) programBarrier(cx);
    start ??= beginExchange(cx, op);
    return start;
  };
}

interface Scan {
  readonly cx: LowerContext;
  readonly combiner: Combiner;
  /** Begins one of its exchanges. */
  readonly begin: () => Operand;
}

type Step = (scan: Scan, bit: number, state: State) => State;

const STEPS: Readonly<Record<AxisBit["input"], Step>> = {
  register: ({ cx, combiner }, bit, { prefixes, blocks }) => {
    const block = (register: number): Accumulator => ofRegister(blocks, register);
    const both = byRegister(
      [...blocks.entries()].filter(([register]) => (register & (1 << bit)) === 0).map((
        [register, lower],
      ) => [register, combiner.combine(cx.emitter, lower, block(register | (1 << bit)))] as const),
    );
    return {
      prefixes: prefixes.map((prefix, register) =>
        register & (1 << bit)
          ? combiner.combine(cx.emitter, block(register & ~(1 << bit)), prefix)
          : prefix
      ),
      blocks: blocks.map((_, register) => both(register & ~(1 << bit))),
    };
  },
  lane: ({ cx, combiner }, bit, state) => {
    const others = shared(state.blocks, (block) => fromLane(cx, combiner, block, 1 << bit));
    return meet(cx, combiner, 1 << bit, state, others);
  },
  warp: (scan, bit, state) => {
    const others = fromWarp(scan, 1 << bit, state.blocks);
    return meet(scan.cx, scan.combiner, 32 << bit, state, others);
  },
  block: () => bug("a scan across blocks"),
};

/** Computed once for registers that hold one block together. */
function shared(
  blocks: readonly Accumulator[],
  compute: (block: Accumulator) => Accumulator,
): Accumulator[] {
  const known = new Map<Accumulator, Accumulator>();
  return blocks.map((block) => {
    const found = known.get(block) ?? compute(block);
    known.set(block, found);
    return found;
  });
}

/** Takes in what the neighbouring blocks hold; in the upper half of the pair, the thread's bit is set. */
function meet(
  cx: LowerContext,
  combiner: Combiner,
  threadBit: number,
  { prefixes, blocks }: State,
  others: readonly Accumulator[],
): State {
  const e = cx.emitter;
  const upper = e.pure("setp.ne.s32", "pred", [
    e.pure("and.b32", "b32", [threadInBlock(cx), int(threadBit)]),
    int(0),
  ]);
  const choose = (yes: Accumulator, no: Accumulator): Accumulator =>
    zip(zip(yes, no), combiner.banks).map(([[a, b], bank]) =>
      e.pure(`selp.${bank}`, bank, [a, b, upper])
    );
  return {
    prefixes: zip(prefixes, others).map(([prefix, other]) =>
      choose(combiner.combine(e, other, prefix), prefix)
    ),
    blocks: zip(blocks, others).map(([block, other]) => combiner.combine(e, block, other)),
  };
}

/** The blocks of the warp whose number differs by `mask`, through shared memory. */
function fromWarp(
  { cx, combiner, begin }: Scan,
  mask: number,
  blocks: readonly Accumulator[],
): Accumulator[] {
  const e = cx.emitter;
  const threads = 32 * cx.numWarps;
  const distinct = [...new Set(blocks)];
  const sizes = combiner.banks.map((bank) => bank === "b64" ? 8 : 4);
  const row = threads * sizes.reduce((a, b) => a + b, 0);
  const words = combiner.banks.map((bank, i) => ({
    bank,
    size: bank === "b64" ? 8 : 4,
    before: threads * sizes.slice(0, i).reduce((a, b) => a + b, 0),
  }));
  const start = begin();
  const other = e.pure("xor.b32", "b32", [threadInBlock(cx), int(32 * mask)]);
  const addressOf = (
    thread: Operand,
    index: number,
    { size, before }: (typeof words)[number],
  ): Operand => ({
    kind: "address",
    base: e.add("b32", start, e.mul("b32", thread, int(size))),
    offset: BigInt(index * row + before),
  });
  distinct.forEach((block, index) =>
    zip(block, words).forEach(([value, word]) => {
      e.emit(`st.shared.${word.bank}`, [
        addressOf(threadInBlock(cx), index, word),
        e.inRegister(value, word.bank),
      ]);
    })
  );
  programBarrier(cx);
  return shared(blocks, (block) =>
    words.map((word) => {
      const result = e.register(word.bank);
      e.emit(`ld.shared.${word.bank}`, [result, addressOf(other, distinct.indexOf(block), word)]);
      return result;
    }));
}
