/**
 * The order of loads of slices (layout/slice_results.ts): those of one slice begin when those of the one before are there.
 * ptxas gives all loads behind a loop one scoreboard, on which an instruction waits for all of them, so the first use of
 * a slice would wait for the loads of the next one that have just begun. It moves loads over instructions, but not over
 * what their addresses depend on: so these have something added that is zero, as the assembler cannot know, and comes of
 * what the slice before has loaded.
 */
import type { OpOf } from "../../ir/func.ts";
import type { Operand, Register } from "../../ptx/func.ts";
import { threadInBlock } from "../addresses.ts";
import type { LowerContext } from "../context.ts";
import { int } from "../emitter.ts";

/** The address of an access of a load, which is known when the slice before has been loaded. */
export function addressInOrder(cx: LowerContext, { attrs }: OpOf<"load">, start: Operand): Operand {
  const { slices } = cx;
  if (attrs.slice === undefined) return start;
  if (attrs.slice !== slices.slice) {
    slices.zero = slices.loaded && zeroOf(cx, slices.loaded);
    slices.slice = attrs.slice;
    slices.loaded = undefined;
  }
  return slices.zero === undefined ? start : cx.emitter.add("b64", start, slices.zero);
}

/** Notes a register that an access of a slice fills. */
export function noteLoaded({ slices }: LowerContext, op: OpOf<"load">, loaded: Register): void {
  if (op.attrs.slice !== undefined && loaded.type === "b32") slices.loaded ??= loaded;
}

/** Zero, computed from a register: t * t + t is even. */
function zeroOf(cx: LowerContext, loaded: Register): Operand {
  const e = cx.emitter;
  const thread = threadInBlock(cx);
  const even = e.pure("mad.lo.s32", "b32", [thread, thread, thread]);
  const never = e.pure("and.b32", "b32", [even, int(1)]);
  const zero = e.pure("and.b32", "b32", [loaded, never]);
  return e.pure("cvt.u64.u32", "b64", [zero]);
}
