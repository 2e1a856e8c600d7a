/**
 * How long the elements of a value may wait until they are asked for. An element asks for those of the operands,
 * these for theirs, and so on: without a limit a chain of operations as long as the program would be computed from
 * its end, on a stack as deep. So after so many operations in a row the elements of one are computed where it stands.
 */
import type { Op, Value } from "../ir/func.ts";
import { rowOf } from "../ir/table.ts";
import { computed } from "./carried.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";

/** Operations in a row whose elements wait. */
const MAX_DEFERRED = 64;

/** Whether the elements are there once the operation has been lowered, or come when something waits for them. */
function isComputed(op: Op): boolean {
  const { effect, once } = rowOf(op);
  return once === true || effect === "write" || effect === "control";
}

/** Computes the elements of what was lowered last, if too many operations wait for each other. */
export function limitDeferred(cx: LowerContext, op: Op): void {
  const [result] = op.results;
  if (result === undefined || isComputed(op)) return;
  const deferred = 1 + deferredBehind(cx, op.operands);
  if (deferred <= MAX_DEFERRED) {
    cx.deferred.set(result, deferred);
  } else {
    cx.values.set(result, computed(result, lowered(cx, result)));
  }
}

/** The most operations in a row that wait behind one of these values. */
function deferredBehind(cx: LowerContext, values: readonly Value[]): number {
  return values.reduce((most, value) => Math.max(most, cx.deferred.get(value) ?? 0), 0);
}
