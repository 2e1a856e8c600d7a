/** Which loops test at their end. */
import type { Region } from "./func.ts";

/** Not worth a branch more per iteration: a few operations on scalars. */
const CHEAP_OPS = 16;

/**
 * Whether lowering rotates a loop with this test: a copy of the test guards the first iteration, and the test is at the
 * end. The operations of the test run in two places then, with one schedule for both.
 */
export function isRotated(test: Region): boolean {
  return test.ops.length <= CHEAP_OPS &&
    test.ops.every((op) =>
      op.regions.length === 0 && op.results.every(({ type }) => type.shape.length === 0)
    );
}
