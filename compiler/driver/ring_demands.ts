/** Which entries have a form whose rows are in a ring (schedule/programs/ring_rows.ts), and for which launches it is. */
import { apply, constant, param, printExpr } from "../contract/expr.ts";
import type { Requirement } from "../contract/types.ts";
import type { Func } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { ACCESS_BYTES, vectorAlong } from "../layout/anchors.ts";
import { alikeIf } from "../layout/rows/alignment.ts";
import { product } from "../linear/linear.ts";
import { passingRows } from "../schedule/programs/ring_plan.ts";
import { axisAnalysis } from "../tile/axis.ts";
import { shiftDemands } from "./shift_demands.ts";

/** What the ends of runs are copied by: the least of `cp.async`. */
const ELEMENT_BYTES = 4;
/**
 * What a block has of a row: half of it takes as long to reduce, which copies then wait for (layer norm of 4001 and 8191
 * floats: 0.36 and 0.72 of a copy).
 */
const PART_BYTES = 65536;
/**
 * Shorter rows leave slots empty: layer norm and RMS norm of 14,001 floats in tiles of one block 0.95 and 0.98 of a copy on an
 * H100, 0.90 and 0.92 by a ring; of 25,001 in two blocks layer norm 0.79 and 0.90.
 */
const LEAST_OF_ONE = 31 / 32;
const LEAST_OF_SEVERAL = 3 / 4;
/**
 * From how many blocks on the form gains, by the tensors of weights: none, one, or more. Rows that start anywhere are accessed
 * by single elements otherwise, or weights are; a block alone has one tensor's from its L1 cache, as fast. Of aligned
 * rows, what weights take of the L2 cache's throughput is saved, more than what one block a multiprocessor loses. Parts of
 * a copy on an H200, without and with it: aligned layer norm of 32,768, 65,536, 131,072 and 262,144 floats 0.95 and 0.95, 0.92
 * and 0.95, 0.89 and 0.95, 0.80 and 0.94; RMS norm of 65,536, 98,304 and 131,072 0.98 and 0.95, 0.90 and 0.95, 0.94 and 0.95;
 * softmax of 25,001, 32,767, 98,305 and 131,071 0.88 and 0.96, 0.95 and 0.95, 0.73 and 0.93, 0.86 and 0.95, aligned of
 * 98,304, 131,072 and 262,144 0.94 and 0.95, 0.99 and 0.96, 0.96 and 0.95.
 */
const LEAST_BLOCKS = {
  aligned: [Infinity, 8, 4],
  anywhere: [2, 2, 1],
} as const;

/** The most blocks that a cluster may have. */
const MOST_BLOCKS = 16;

/** What such a form is compiled with, whatever its entry is: a block has a multiprocessor's registers. */
export interface RingOptions {
  readonly numWarps: number;
  readonly maxRegisters: number;
  readonly numCtas: number;
}

/**
 * Half of the warps that a block may have: what a warp does beside its elements is half of the instructions. Layer norm of
 * 98,305, 131,071 and 196,608 floats with 32 and 16 warps: 0.81 and 0.93, 0.94 and 0.96, 0.81 and 0.90 of a copy; RMS norm of
 * 196,608 0.91 and 0.94. With 8 softmax of 98,305 loses 0.1.
 */
const WARPS = { numWarps: 16, maxRegisters: 128 } as const;

/** Conditions of launches, and how the form is compiled; undefined where rows are others. */
export function ringDemands(
  func: Func,
): { readonly when: readonly Requirement[]; readonly options: RingOptions } | undefined {
  const axisInfo = axisAnalysis(func);
  const passing = passingRows(func, axisInfo);
  if (passing === undefined) return undefined;
  const { load, store, weights, bound } = passing;
  const { element, shape } = resultOf(load).type;
  const extent = product(shape);
  const vector = ACCESS_BYTES / ELEMENT_BYTES;
  const blocks = extent * ELEMENT_BYTES / PART_BYTES;
  if (bytesOf(element) !== ELEMENT_BYTES || blocks < 1 || blocks > MOST_BLOCKS) return undefined;
  const isAligned = [load, store].every((op) =>
    vectorAlong(op, shape.length - 1, axisInfo) >= vector
  );
  const [none, one, more] = LEAST_BLOCKS[isAligned ? "aligned" : "anywhere"];
  if (blocks < ([none, one][weights.length] ?? more)) return undefined;
  const alike = isAligned ? [] : alikeIf(func, operandsOf(load).pointer, operandsOf(store).pointer);
  if (alike === undefined || bound?.name === undefined || !func.params.includes(bound)) {
    return undefined;
  }
  const least = blocks === 1 ? LEAST_OF_ONE : LEAST_OF_SEVERAL;
  const isLong = apply(">=", param(bound.name), constant(extent * least));
  return {
    when: [
      { condition: isLong, text: printExpr(isLong) },
      ...shiftDemands({ vector, alike }),
    ],
    options: { ...WARPS, numCtas: blocks },
  };
}
