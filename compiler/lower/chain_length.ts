/**
 * Limits how many operations in a row compute their elements on demand. An element demands those of the operands, these
 * demand theirs, and so on: without a limit a chain of operations as long as the program would be computed from its
 * end, on a stack as deep. After so many operations the elements of one are computed at once.
 */
import type { Op, Value } from "../ir/func.ts";
import { rowOf } from "../ir/table.ts";
import { computed } from "./carried.ts";
import type { LowerContext } from "./context.ts";
import { lowered } from "./values.ts";

/** Operations in a row that compute their elements on demand. */
const MAX_CHAIN = 64;

/** Whether the elements are there once the operation has been lowered, or come when something waits for them. */
function isComputed(op: Op): boolean {
  const { effect, once } = rowOf(op);
  return once === true || effect === "write" || effect === "control";
}

/** Computes the elements of what was lowered last, if too many operations wait for each other. */
export function limitChain(cx: LowerContext, op: Op): void {
  const [result] = op.results;
  if (result === undefined || isComputed(op)) return;
  const deferred = 1 + longestChain(cx, op.operands);
  if (deferred <= MAX_CHAIN) {
    cx.chainLengths.set(result, deferred);
  } else {
    cx.values.set(result, computed(result, lowered(cx, result)));
  }
}

/** The length of the longest chain of operations that depends on one of these values. */
function longestChain(cx: LowerContext, values: readonly Value[]): number {
  return values.reduce((most, value) => Math.max(most, cx.chainLengths.get(value) ?? 0), 0);
}
