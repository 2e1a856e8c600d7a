/** Which loops add up tiles element by element, for a reduction behind them. */
import { edgesOf } from "../../ir/flow.ts";
import type { Func, Op, Value } from "../../ir/func.ts";
import { inputsOf } from "../../ir/order.ts";
import { walkOps } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import { zip } from "../../support/zip.ts";

/**
 * Loops with results that are tiles, of which reductions are computed; and whether one of these has many results, which are
 * sums of columns then.
 */
export function accumulators(func: Func): ReadonlyMap<Op, "scalar" | "tile"> {
  /** What flows into results of control flow and parameters of regions. */
  const flows = new Map<Value, Value[]>();
  const [ofScalars, ofTiles]: [Value[], Value[]] = [[], []];
  walkOps(func.body, (op) => {
    if (op.name === "reduce") {
      const isTile = op.results.some(({ type }) => product(type.shape) > 1);
      (isTile ? ofTiles : ofScalars).push(...op.operands);
    }
    for (const { from, to } of edgesOf(op)) {
      for (const [value, source] of zip(to, from)) {
        flows.set(value, [...flows.get(value) ?? [], source]);
      }
    }
  });
  const found = new Map<Op, "scalar" | "tile">();
  const reduced = new Set<Value>();
  const follow = (pending: Value[], as: "scalar" | "tile"): void => {
    for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
      if (reduced.has(value)) continue;
      reduced.add(value);
      const { def, type } = value;
      if (def?.name === "while" && type.shape.length > 0) found.set(def, as);
      pending.push(...flows.get(value) ?? inputsOf(value));
    }
  };
  follow(ofTiles, "tile");
  follow(ofScalars, "scalar");
  return found;
}
