/**
 * Loads of few elements that are spread over a tile, as a filter over the pixels of a row: each thread loads those that it needs,
 * from L1. In a layout of their own they would go through shared memory, and all warps would wait for each other, in loops
 * each time.
 */
import type { Func, Op, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { walkOps } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import { isElementwise } from "../carried_data.ts";

/** Those of at most `threads` elements: in their own layout no thread has more than one. */
export function spreadLoads(
  func: Func,
  users: ReadonlyMap<Value, readonly Op[]>,
  threads: number,
): ReadonlySet<Op> {
  const found = new Set<Op>();
  walkOps(func.body, (op) => {
    if (op.name !== "load") return;
    const { shape } = operandsOf(op).pointer.type;
    if (shape.length === 0 || product(shape) > threads) return;
    if (isSpread(resultOf(op), users)) found.add(op);
  });
  return found;
}

/**
 * Whether a value, or what is computed of it element by element, is repeated along an axis, and nothing else: what reduces or
 * stores the few elements has a layout for that.
 */
function isSpread(value: Value, users: ReadonlyMap<Value, readonly Op[]>): boolean {
  let isRepeated = false;
  const seen = new Set([value]);
  // A set is iterated over what is added meanwhile.
  for (const one of seen) {
    for (const user of users.get(one) ?? []) {
      const [result] = user.results;
      if (user.name === "broadcast") isRepeated = true;
      else if (result === undefined || !(isElementwise(user) || hasTrait(user, "reshapes"))) {
        return false;
      } else seen.add(result);
    }
  }
  return isRepeated;
}
