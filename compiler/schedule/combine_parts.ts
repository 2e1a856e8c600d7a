/**
 * Lets the warps of a block combine their parts of a reduction over several blocks first, so that a block sends one part to each
 * block, not one for each warp.
 *
 * What arrives counts at a barrier of the block that gets it, part by part: the 256 of a row in 16 blocks of 16 warps take
 * longer than a barrier of a block and one more exchange. But where warps come by their parts one after the other, as their
 * loads do, parts are sent meanwhile, and a barrier would only wait for the last one. So this is for reductions of what another
 * one has led to, whose warps have waited together, and for those of rows in a ring (`alternates`).
 *
 * Rows in a ring of 16 blocks of 32 warps on an H200: layer norm 0.90 of a copy instead of 0.81, softmax 0.90 instead of 0.79;
 * one row of 262,144 a cluster of 16 blocks of 16 warps: softmax 0.96 instead of 0.94. In first reductions, derivatives lost
 * 0.01 to 0.02 (tests/gpu/results/rows.md).
 */
import { isOp, type OpOf, setAttrs, type Value } from "../ir/func.ts";
import { walkOps } from "../ir/walk.ts";
import { crossesBlocks, partsOfReduction } from "../layout/exchanges.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";

/** Fewer parts, and those of two blocks, arrive as fast. */
const MANY_PARTS = 64;
const TWO_BLOCKS = 2;

export const combineParts: Pass<TargetContext> = {
  name: "combine-parts",
  doc: "in clusters the warps of a block that have waited together combine what they reduce first",
  run: ({ body }) => {
    const late = new Set<Value>();
    const chosen: OpOf<"reduce">[] = [];
    walkOps(body, (op) => {
      const isLate = op.operands.some((value) => late.has(value));
      const crosses = isOp(op, "reduce") && crossesBlocks(op);
      if (crosses && hasMany(op) && (isLate || op.attrs.alternates === true)) chosen.push(op);
      if (crosses || isLate) op.results.forEach((value) => late.add(value));
    });
    for (const op of chosen) setAttrs(op, { in_blocks: true });
    return chosen.length > 0;
  },
};

function hasMany(op: OpOf<"reduce">): boolean {
  const { parts, blocks } = partsOfReduction(op);
  return parts >= MANY_PARTS && blocks > TWO_BLOCKS;
}
