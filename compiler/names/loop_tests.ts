/**
 * What the test of a loop sees. Lowering puts the test before the first iteration and at the end of each one, so that its
 * parameters have no registers of their own: they are what the loop begins with, and what an iteration leaves.
 */
import { type Func, isOp, type Value } from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";

import { walkOps } from "../ir/walk.ts";
import type { Home } from "../lower/homes.ts";

/** A parameter of a test. */
export interface TestedValue {
  readonly initial: Value;
  readonly repeated: Value;
  /** The numbers of the loops in the code: several where one was copied. */
  readonly loops: ReadonlySet<number>;
}

/** The parameters of tests that are twice in the code, by the values of the function as it was built. */
export function testedValues(
  func: Func,
  homesOf: (id: number) => readonly Home[],
): ReadonlyMap<Value, TestedValue> {
  const found = new Map<Value, TestedValue>();
  const carriedBy = (values: readonly Value[]): ReadonlySet<number> =>
    new Set(values.flatMap(({ id }) => homesOf(id).flatMap(({ within }) => within ?? [])));
  walkOps(func.body, (op) => {
    if (!isOp(op, "while")) return;
    const { test, body, initial, repeated } = loopOf(op);
    const loops = carriedBy(body.params);
    // A test in the middle of a loop has registers.
    if (loops.size === 0 || carriedBy(test.params).size > 0) return;
    for (const [index, param] of test.params.entries()) {
      const [first, next] = [initial[index], repeated[index]];
      if (first !== undefined && next !== undefined) {
        found.set(param, { initial: first, repeated: next, loops });
      }
    }
  });
  return found;
}
