/** What warps beside those of a program may do too. */
import type { Op } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { conversionOf, hasBlockBarrier } from "../layout/exchanges.ts";
import { isBox } from "../layout/warp_group.ts";

/** Neither writes memory nor uses that of the block, so that warps beside the program's may do it too. */
export function repeats(op: Op): boolean {
  const { effect } = rowOf(op);
  if (effect !== "pure" && effect !== "read" && effect !== "control") return false;
  if (op.name === "convert_layout") {
    return conversionOf(op).kind !== "shared" || isBox(operandsOf(op).value);
  }
  if (op.name === "reduce") return !hasBlockBarrier(op);
  return op.regions.every(({ ops }) => ops.every(repeats)) &&
    (hasTrait(op, "avoidsShared") || hasTrait(op, "elementwise"));
}
