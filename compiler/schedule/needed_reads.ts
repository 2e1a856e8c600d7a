/** Which loads a reduction over several blocks has waited for in every thread, when any thread has its result. */
import type { Op, OpOf, Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { conversionOf, partsOf } from "../layout/exchanges.ts";
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
 * may be written by any thread that has the result, without a barrier.
 */
export function neededReads(reduction: OpOf<"reduce">): ReadonlySet<Op> {
  const reads = new Set<Op>();
  const seen = new Set<Op>();
  const pending: Op[] = [reduction];
  for (let op = pending.pop(); op !== undefined; op = pending.pop()) {
    if (seen.has(op)) continue;
    seen.add(op);
    if (op.name === "load") reads.add(op);
    else if (needsAll(op)) pending.push(...takenFrom(op).flatMap(({ def }) => def ?? []));
  }
  return reads;
}

/** The operands of which each thread takes all that it has. Threads with copies give nothing to others. */
function takenFrom(op: Op): readonly Value[] {
  const gives = op.name === "reduce" ||
    (op.name === "convert_layout" &&
      (partsOf(op).ranks !== undefined || conversionOf(op).kind === "shared"));
  return gives ? op.operands.filter((value) => copyBits(layoutOf(value)) === 0) : op.operands;
}
