/** Rows that start anywhere, and are long enough to be worth aligned vectors and ends apart (shifted_rows.ts). */
import type { Func, OpOf, Region } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { pointeeBytes } from "../../ir/types.ts";
import { product } from "../../linear/linear.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { ACCESS_BYTES, type Threads, vectorAlong } from "../anchors.ts";

/** Tiles of fewer bytes gain little, or lose: of 2001 floats softmax 1 to 2 %, layer norm -25 %. */
const LEAST_BYTES = 16384;
/**
 * Of halves an access of a single element moves half as much, so shorter rows gain: of 1001 halves RMS norm made 0.98 of a copy
 * instead of 0.80 on an H200. Rows that are only read gain where threads have several vectors to load at once: cross-entropy of
 * 3001 and 4001 halves 0.78 and 0.94 instead of 0.57 and 0.71 with four warps; with eight 0.57 and 0.74.
 */
const LEAST_OF_HALVES = 2048;
const VECTORS_OF_READ_ROWS = 4;
/** A vector of doubles is two: single ones are nearly as wide (and not timed). */
const LEAST_VECTOR = 4;

/** The rows of a function. */
export interface LongRows {
  /** The first access to rows whose alignment is not known. */
  readonly leader: OpOf<"load">;
  readonly axis: number;
  /** Elements of a vector. */
  readonly vector: number;
  /** Of a program. */
  readonly threads: number;
  readonly blocks: number;
}

export function longRowsOf(
  { body }: Func,
  threads: Threads,
  axisInfo: AxisFacts,
): LongRows | undefined {
  for (const op of body.ops) {
    if (op.name !== "load") continue;
    const { pointer } = operandsOf(op);
    const { shape } = pointer.type;
    const axis = shape.length - 1;
    const extent = shape[axis] ?? 1;
    const bytes = pointeeBytes(pointer);
    const vector = ACCESS_BYTES / bytes;
    const count = 32 * threads.numWarps * threads.numCtas;
    const gains = isStored(body, shape) || extent >= VECTORS_OF_READ_ROWS * vector * count;
    const least = bytes === 2 && gains ? LEAST_OF_HALVES : LEAST_BYTES;
    const isRow = vector >= LEAST_VECTOR && extent * bytes >= least &&
      (axisInfo(pointer).contiguity[axis] ?? 1) >= extent;
    if (!isRow || vectorAlong(op, axis, axisInfo) >= vector) continue;
    // Each thread has whole vectors of one row, and one element of its ends.
    const isLarge = product(shape) === extent && extent >= count * vector;
    return isLarge
      ? { leader: op, axis, vector, threads: count, blocks: threads.numCtas }
      : undefined;
  }
  return undefined;
}

/** Whether tiles of a shape are stored. */
function isStored({ ops }: Region, shape: readonly number[]): boolean {
  return ops.some((op) =>
    op.name === "store" && operandsOf(op).pointer.type.shape.join() === shape.join()
  );
}
