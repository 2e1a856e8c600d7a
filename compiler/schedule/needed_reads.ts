/** Which loads a reduction over several blocks has waited for in every thread, when any thread has its result. */
import type { Op, OpOf } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { layoutOf } from "../layout/tiles.ts";
import { copyBits } from "../linear/threads.ts";

/**
 * Operations whose results need all elements of their operands that threads hold. A choice needs one of two, but for one that
 * covers what was read.
 */
function needsAll(op: Op): boolean {
  if (op.name === "reduce" || op.name === "convert_layout") return true;
  if (op.name === "select") return op.attrs.covers === true;
  // A scalar is one of the elements.
  if (op.name === "reshape") return resultOf(op).type.shape.length > 0;
  return hasTrait(op, "elementwise") || hasTrait(op, "reshapes");
}

/**
 * The loads that the parts of a reduction are computed from. Parts are sent when they are known, so what these loads read
 * may be written by any thread that has the result, without a barrier. Threads with copies of elements that others have send
 * nothing: no one waits for what they read.
 */
export function neededReads(reduction: OpOf<"reduce">): ReadonlySet<Op> {
  const reads = new Set<Op>();
  const seen = new Set<Op>();
  const pending: Op[] = [reduction];
  for (let op = pending.pop(); op !== undefined; op = pending.pop()) {
    if (seen.has(op)) continue;
    seen.add(op);
    if (op.name === "load") {
      if (!hasCopies(op)) reads.add(op);
    } else if (needsAll(op)) pending.push(...op.operands.flatMap(({ def }) => def ?? []));
  }
  return reads;
}

function hasCopies(load: OpOf<"load">): boolean {
  const loaded = resultOf(load);
  return loaded.type.shape.length === 0 || copyBits(layoutOf(loaded)) !== 0;
}
