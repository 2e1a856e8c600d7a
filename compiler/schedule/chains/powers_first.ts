/**
 * Whether what threads compute for the last dot of a chain must be done before they wait for the one of the iteration before.
 *
 * ptxas moves that wait up, to before most of the powers, whatever PTX says, and as a rule rightly: two warp groups take turns
 * then, one with the tensor cores and one with its powers. But where one reduction follows another one, as the sums of powers that
 * each iteration divides by, all of this long way is then behind the wait. A wait for a barrier that has a loop, be its phase
 * over, is what ptxas moves nothing across.
 */
import type { OpOf, Region, Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { walkOps } from "../../ir/walk.ts";

/** Columns of a tile for which threads compute long enough; with 64 it gains nothing (tests/gpu/results/attention.md). */
const COLUMNS = 128;

export function powersComeFirst(body: Region, last: OpOf<"dot">): boolean {
  const { a } = operandsOf(last);
  return (a.type.shape[1] ?? 0) >= COLUMNS && reductionsBefore(body, a) > 1;
}

/** How many reductions of an iteration follow each other before a value. */
function reductionsBefore(body: Region, value: Value): number {
  const counts = new Map<Value, number>();
  for (const op of body.ops) {
    let count = 0;
    const see = (values: readonly Value[]): void => {
      for (const one of values) count = Math.max(count, counts.get(one) ?? 0);
    };
    see(op.operands);
    for (const region of op.regions) walkOps(region, ({ operands }) => see(operands));
    if (op.name === "reduce") count++;
    for (const result of op.results) counts.set(result, count);
  }
  return counts.get(value) ?? 0;
}
