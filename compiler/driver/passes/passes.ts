/**
 * PASSES: everything that edits tile IR between the typed tree and PTX, in order, once. From this list come what
 * `tri inspect --after`, `--passes` and `--time` accept and print, the verifier between passes, and the table in
 * ARCHITECTURE.md. Before the list `compiler/build` makes the function of the typed tree; after it `compiler/lower`
 * emits PTX. Between the phases `tile` and `layout` the contract is inferred (`contract/infer.ts`): an analysis, which
 * changes nothing and so is not in the list.
 */
import { layoutAssignment } from "../../layout/assign.ts";
import { sliceResults } from "../../layout/slice_results.ts";
import { placeSums } from "../../layout/placed_sums.ts";
import { turnDots } from "../../layout/turn_dots.ts";
import { pairAccesses } from "../../layout/pairs/pair_accesses.ts";
import { shiftRows } from "../../layout/rows/shifted_rows.ts";
import { wordRows } from "../../layout/rows/word_rows.ts";
import { allocateShared } from "../../schedule/allocate_shared.ts";
import { combineParts } from "../../schedule/combine_parts.ts";
import { fillLoads } from "../../schedule/fill_loads.ts";
import { keepWeights } from "../../schedule/keep_weights.ts";
import { loadAhead } from "../../schedule/loads_ahead/load_ahead.ts";
import { memoryOrder } from "../../schedule/memory_order.ts";
import { loopPrograms } from "../../schedule/programs/loop_programs.ts";
import { stageOperands } from "../../schedule/stage_operands.ts";
import { ringRows } from "../../schedule/programs/ring_rows.ts";
import { stageRows } from "../../schedule/stage_rows.ts";
import { streamRows } from "../../schedule/stream_rows.ts";
import { unrollDots } from "../../schedule/warp_groups/unroll_dots.ts";
import { must } from "../../support/bug.ts";
import { accumulate } from "../../tile/accumulate.ts";
import { cse } from "../../tile/cse.ts";
import { dropDead } from "../../tile/drop_dead.ts";
import { flushPowers } from "../../tile/flush_powers.ts";
import { fuseMultiplyAdd } from "../../tile/fuse_multiply_add.ts";
import { hoistInvariants } from "../../tile/hoist_invariants.ts";
import type { Phase, TargetContext, TileContext } from "../../tile/pass.ts";
import { lateLoads } from "../../tile/late_loads.ts";
import { simplify } from "../../tile/simplify.ts";
import { steppedTiles } from "../../tile/stepped_tiles.ts";
import { straightenLoops } from "../../tile/straighten_loops.ts";
import { wholeMasks } from "../../tile/whole_masks.ts";
import { zeroRemainders } from "../../tile/zero_remainders.ts";
import { tensorViews } from "../../views/tensor_views.ts";
import { type Row, type Step, stepsOf } from "./pass_list.ts";

/** Once for all targets. */
const TILE: readonly Row<TileContext>[] = [
  { pass: simplify, because: "the builder writes down everything; less to do for the others" },
  {
    pass: straightenLoops,
    needs: ["simplify"],
    because: "bounds of loops are constants by then; the body's loads meet those of other loops",
  },
  { pass: hoistInvariants },
  {
    pass: cse,
    needs: ["hoist-invariants"],
    because: "equal operations of several loops meet where hoisting puts them",
  },
  {
    pass: wholeMasks,
    needs: ["cse"],
    because: "what does not change in a loop is before it by then",
  },
  {
    pass: zeroRemainders,
    needs: ["straighten-loops"],
    because: "what loops count is a number that they add to by then",
  },
  {
    pass: simplify,
    needs: ["cse", "zero-remainders"],
    because: "merging makes operands equal: x - x, c ? x : x",
  },
  {
    pass: cse,
    needs: ["simplify.2"],
    because: "simplifying makes small constants and splats again",
  },
  {
    pass: accumulate,
    needs: ["cse.2"],
    because: "it counts uses, which equal operations would hide",
  },
  {
    pass: lateLoads,
    needs: ["accumulate"],
    because: "equal operations before a loop and in it have one result by then",
  },
  {
    pass: steppedTiles,
    needs: ["late-loads"],
    because: "loads are in the iterations that use them by then",
  },
  {
    pass: flushPowers,
    needs: ["cse.2"],
    because: "what is computed in the same way is one value by then",
  },
  {
    pass: fuseMultiplyAdd,
    needs: ["accumulate", "flush-powers"],
    because: "sums of dots belong to the dots; some products are rounded apart",
  },
  {
    pass: dropDead,
    needs: ["fuse-multiply-add"],
    because: "the passes before leave unused operations",
  },
];

/** For each target. */
const LAYOUT: readonly Row<TargetContext>[] = [
  {
    pass: tensorViews,
    needs: ["drop-dead"],
    because: "it follows addresses, which layouts compute several times",
  },
  {
    pass: turnDots,
    needs: ["tensor-views"],
    because: "boxes of tensors say how operands lie",
  },
  {
    pass: sliceResults,
    needs: ["turn-dots"],
    because: "the loads of a loop say which layout its sums get",
  },
  {
    pass: shiftRows,
    needs: ["drop-dead"],
    because: "rows that nothing accesses have no alignment",
  },
  {
    pass: pairAccesses,
    needs: ["drop-dead"],
    because: "layouts follow from what accesses touch together",
  },
  {
    pass: wordRows,
    needs: ["drop-dead"],
    because: "layouts give threads words of the rows that it finds",
  },
  {
    pass: layoutAssignment,
    needs: ["drop-dead"],
    because: "what nothing needs gets no layout",
  },
  {
    pass: placeSums,
    needs: ["assign-layouts"],
    because: "conversions are operations by then",
  },
];

const SCHEDULE: readonly Row<TargetContext>[] = [
  {
    pass: loopPrograms,
    needs: ["assign-layouts"],
    because: "layouts say how much shared memory a program needs",
  },
  {
    pass: stageOperands,
    needs: ["loop-programs"],
    because: "copies run on from one program of a block into the next",
  },
  {
    pass: streamRows,
    needs: ["stage-operands"],
    because: "what dots copy has no priorities in the cache",
  },
  {
    pass: loadAhead,
    needs: ["stream-rows"],
    because: "what it loads ahead is at other addresses than in the text",
  },
  {
    pass: memoryOrder,
    needs: ["load-ahead"],
    because: "prefetched loads are where they happen; barriers of staging count",
  },
  {
    pass: ringRows,
    needs: ["memory-order"],
    because: "rows of other programs have no order",
  },
  {
    pass: combineParts,
    needs: ["ring-rows"],
    because: "of rows in a ring all warps have their parts at once",
  },
  {
    pass: stageRows,
    needs: ["ring-rows"],
    because: "a reduction orders the loads that it is computed from, not copies",
  },
  {
    pass: keepWeights,
    needs: ["stage-rows"],
    because: "loads that become copies have no priorities in the cache",
  },
  {
    pass: fillLoads,
    needs: ["stage-rows", "load-ahead"],
    because: "copies fill with zeros, and what is loaded ahead is chosen from where it is used",
  },
  {
    pass: allocateShared,
    needs: ["stage-rows", "combine-parts"],
    because: "barriers decide which exchanges may share memory",
  },
  {
    pass: unrollDots,
    needs: ["allocate-shared"],
    because: "iterations have the same barriers and memory wherever they are",
  },
];

/** The steps of the phase `tile`. */
export const TILE_STEPS: readonly Step<TileContext>[] = stepsOf([["tile", TILE]]);

/** All steps; those of the phase `tile` ask for no target, so any context will do for them. */
export const STEPS: readonly Step<TargetContext>[] = stepsOf<TargetContext>([
  ["tile", TILE],
  ["layout", LAYOUT],
  ["schedule", SCHEDULE],
]);

/** The steps of the other phases. */
export const TARGET_STEPS: readonly Step<TargetContext>[] = STEPS.slice(TILE_STEPS.length);

/** The steps by name, in order. */
export const PASS_NAMES: readonly string[] = STEPS.map(({ name }) => name);

/** The name of the last step of a phase. */
export function lastStepOf(phase: Phase): string {
  return must(STEPS.findLast((step) => step.phase === phase), `a step of ${phase}`).name;
}
