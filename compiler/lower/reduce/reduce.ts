/**
 * Reductions along an axis: first the registers of each thread, then lanes by butterfly shuffles, then warps and blocks
 * through shared memory (`reduce_parts.ts`). The order is fixed by the layout, both sides of every exchange combine the
 * same two values, and all copies of a result are therefore equal to the bit.
 */
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { alongAxis, axisBits, keptRegisterBits, reducedLayout } from "../../layout/reduce.ts";
import { type LinearLayout, sameLayout } from "../../linear/linear.ts";
import { type Accumulator, type Combiner, combinerOf } from "./combine.ts";
import type { LowerContext } from "../context.ts";
import { atRegister } from "../addresses.ts";
import { lowered, setElements } from "../values.ts";
import { threadBases } from "../../linear/threads.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { foldLanes, foldRegisters, scatterBits } from "./fold.ts";
import { foldBlocks, foldWarps, type Parts } from "./reduce_parts.ts";
import { times } from "../../support/times.ts";

export function lowerReduce(cx: LowerContext, op: OpOf<"reduce">): void {
  const { value: source } = operandsOf(op);
  const { axis } = op.attrs;
  const layout = layoutOf(source);
  const combiner = combinerOf(op.attrs.operator, source.type.element);
  const bits = axisBits(layout, axis);
  const bitsOf = (input: string): number[] =>
    bits.flatMap((one) => one.input === input ? [one.bit] : []);
  const kept = keptRegisterBits(layout, axis);

  let sums = times(1 << kept.length, (register) =>
    foldRegisters(
      cx,
      combiner,
      bitsOf("register"),
      (at) => startAt(cx, op, combiner, scatterBits(kept, register) | at),
    ));
  sums = sums.map((sum) => foldLanes(cx, combiner, bitsOf("lane"), sum));
  const parts: Parts = {
    layout,
    axis,
    lanes: bitsOf("lane"),
    warps: bitsOf("warp"),
    blocks: bitsOf("block"),
    to: placeOf(op),
  };
  const finish = (combined: readonly Accumulator[]): void =>
    setElements(cx, resultOf(op), combined.map((sum) => combiner.finish(cx.emitter, sum)));
  if (parts.blocks.length > 0) {
    const received = foldBlocks(cx, op, combiner, parts, sums);
    const receive = (): void => finish(received());
    cx.remote.awaited.push(receive);
    cx.values.set(resultOf(op), (register) => {
      receiveParts(cx, op.attrs.alternates === true ? receive : undefined);
      return lowered(cx, resultOf(op))(register);
    });
  } else finish(parts.warps.length > 0 ? foldWarps(cx, op, combiner, parts, sums) : sums);
}

/** The layout of a result that is not what is left of its operand's. */
function placeOf(op: OpOf<"reduce">): LinearLayout | undefined {
  const { layout } = resultOf(op).type;
  const left = reducedLayout(layoutOf(operandsOf(op).value), op.attrs.axis);
  return layout === undefined || sameLayout(layout, left) ? undefined : layout;
}

/**
 * Waits for what other blocks send to the reductions whose results nothing has asked for so far. Before instructions that not all
 * threads get to, or that are left out of some builds: each block waits, whether or not its threads need the result.
 */
export function receiveParts({ remote: { awaited } }: LowerContext, last?: () => void): void {
  // They stay if nothing may be emitted.
  const count = last === undefined ? awaited.length : awaited.indexOf(last) + 1;
  for (const receive of awaited.slice(0, count)) receive();
  awaited.splice(0, count);
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
