/**
 * PASSES: everything that edits tile IR between the typed tree and PTX, in order, once. From this list come what
 * `tri inspect --after`, `--passes` and `--time` accept and print, the verifier between passes, and the table in
 * ARCHITECTURE.md. Before the list `compiler/build` makes the function of the typed tree; after it `compiler/lower`
 * emits PTX. Between the phases `tile` and `layout` the contract is inferred (`contract/infer.ts`): an analysis, which
 * changes nothing and so is not in the list.
 */
import { accumulate } from "../tile/accumulate.ts";
import { cse } from "../tile/cse.ts";
import { dropDead } from "../tile/drop_dead.ts";
import { fuseMultiplyAdd } from "../tile/fuse_multiply_add.ts";
import { hoistInvariants } from "../tile/hoist_invariants.ts";
import type { TargetContext, TileContext } from "../tile/pass.ts";
import { simplify } from "../tile/simplify.ts";
import { type Row, type Step, stepsOf } from "./pass_list.ts";

/** Once for all targets. */
const TILE: readonly Row<TileContext>[] = [
  { pass: simplify, because: "the builder writes down everything; less to do for the others" },
  { pass: hoistInvariants },
  {
    pass: cse,
    needs: ["hoist-invariants"],
    because: "equal operations of several loops meet where hoisting puts them",
  },
  {
    pass: simplify,
    needs: ["cse"],
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
    pass: fuseMultiplyAdd,
    needs: ["accumulate"],
    because: "sums of dots belong to the dots",
  },
  {
    pass: dropDead,
    needs: ["fuse-multiply-add"],
    because: "the passes before leave unused operations",
  },
];

/** The steps of the phase `tile`. */
export const TILE_STEPS: readonly Step<TileContext>[] = stepsOf([["tile", TILE]]);

/** All steps; those of the phase `tile` ask for no target, so any context will do for them. */
export const STEPS: readonly Step<TargetContext>[] = stepsOf<TargetContext>([["tile", TILE]]);
