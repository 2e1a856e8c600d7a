/** Combines the accumulators of a thread's registers, and those of the lanes of a warp. */
import { zip } from "../../support/zip.ts";
import type { Accumulator, Combiner } from "./combine.ts";
import type { LowerContext } from "../context.ts";
import { type Emitter, int } from "../emitter.ts";
import { butterfly } from "../exchanges/shuffle.ts";

/** The number whose bits `bits` are those of `value`, lowest first. */
export function scatterBits(bits: readonly number[], value: number): number {
  return bits.reduce((register, bit, i) => (value >> i) & 1 ? register | (1 << bit) : register, 0);
}

/** Combines pairs, pairs of pairs, …: short chains, and errors of sums grow slowly. */
export function foldRegisters(
  cx: LowerContext,
  combiner: Combiner,
  bits: readonly number[],
  start: (register: number) => Accumulator,
): Accumulator {
  const fold = (bits: readonly number[], register: number): Accumulator => {
    const last = bits.at(-1);
    if (last === undefined) return start(register);
    const others = bits.slice(0, -1);
    return combiner.combine(
      cx.emitter,
      fold(others, register),
      fold(others, register | (1 << last)),
    );
  };
  return fold(bits, 0);
}

/**
 * Whether one instruction may combine the lanes of a warp. Not in a branch: where ptxas 13.0 runs a short one under a
 * predicate that it keeps in a uniform register (a condition on parameters alone), it guards REDUX with the other predicate
 * of that number.
 */
const allowsRedux = ({ target, scope }: Emitter): boolean =>
  target.redux && scope.kind !== "branch";

/** Combines the accumulators of the lanes whose numbers differ in `bits`; all of them get the result. */
export function foldLanes(
  cx: LowerContext,
  combiner: Combiner,
  bits: readonly number[],
  sum: Accumulator,
): Accumulator {
  const e = cx.emitter;
  const [word] = sum;
  // All lanes, of what has one word.
  if (bits.length === 5 && combiner.redux !== undefined && word !== undefined && allowsRedux(e)) {
    const result = e.register("b32");
    const value = e.inRegister(word, "b32");
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
