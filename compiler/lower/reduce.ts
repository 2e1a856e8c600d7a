/**
 * Reductions along an axis: first the registers of each thread, then lanes by butterfly shuffles, then warps through
 * shared memory. The order is fixed by the layout, both sides of every exchange combine the same two values, and
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
import type { LinearLayout } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import { zip } from "../support/zip.ts";
import type { Operand } from "../ptx/func.ts";
import { type Accumulator, type Combiner, combinerOf } from "./combine.ts";
import type { LowerContext } from "./context.ts";
import { atRegister, ownerPredicate } from "./addresses.ts";
import { lowered, setElements } from "./values.ts";
import { threadBases } from "../linear/threads.ts";
import { layoutOf } from "../layout/tiles.ts";
import { whole } from "./element.ts";
import { int } from "./emitter.ts";
import { beginExchange, blockBarrier } from "./shared.ts";
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
  if (warps.length > 0) sums = foldWarps(cx, op, combiner, { layout, axis, warps }, sums);
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

interface WarpStep {
  readonly layout: LinearLayout;
  readonly axis: number;
  /** Warp bits along the axis. */
  readonly warps: readonly number[];
}

/** Each warp leaves its part in shared memory; all threads read the parts of their element in one order. */
function foldWarps(
  cx: LowerContext,
  op: OpOf<"reduce">,
  combiner: Combiner,
  { layout, axis, warps }: WarpStep,
  sums: readonly Accumulator[],
): Accumulator[] {
  const e = cx.emitter;
  const reduced = reducedLayout(layout, axis);
  const elements = countWithout(layout.shape, axis);
  const parts = elements << warps.length;
  const sizes = combiner.banks.map((bank) => bank === "b64" ? 8 : 4);
  const starts = sizes.map((_, i) => parts * sizes.slice(0, i).reduce((a, b) => a + b, 0));
  const start = beginExchange(cx, op);

  const reading = threadBases(reduced);
  const writing = reading.map((basis, bit) => {
    const warp = warps.indexOf(bit - layout.lane.length);
    return warp < 0 ? basis : elements << warp;
  });
  const address = (
    thread: readonly number[],
    register: number,
    word: number,
    part = 0,
  ): Operand => {
    const size = must(sizes[word], "size of a word");
    const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
    const { base, constant } = atRegister(cx, {
      register: scaled(reduced.register),
      thread: scaled(thread),
    }, register);
    const offset = must(starts[word], "offset of a word") + constant + part * elements * size;
    return { kind: "address", base: e.add("b32", start, base), offset: BigInt(offset) };
  };
  const copies = writing.reduce((mask, basis, bit) => basis === 0 ? mask | (1 << bit) : mask, 0);
  const owner = ownerPredicate(cx, copies);
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  sums.forEach((sum, register) =>
    zip(sum, combiner.banks).forEach(([word, bank], i) =>
      e.emit(
        `st.shared.${bank}`,
        [address(writing, register, i), e.inRegister(word, bank)],
        guard,
      )
    )
  );
  blockBarrier(cx);
  return sums.map((_, register) =>
    foldRegisters(cx, combiner, warps.map((__, i) => i), (part) =>
      combiner.banks.map((bank, i) => {
        const result = e.register(bank);
        e.emit(`ld.shared.${bank}`, [result, address(reading, register, i, part)]);
        return result;
      }))
  );
}
