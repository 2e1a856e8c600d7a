/** The passes over tile IR before layouts, in order, and what runs them. */
import { bug } from "../support/bug.ts";
import type { Func } from "../ir/func.ts";
import { verifyFunc } from "../ir/verify.ts";
import { accumulate } from "./accumulate.ts";
import { contract } from "./contract.ts";
import { dropDead } from "./drop_dead.ts";
import { hoistInvariants } from "./hoist.ts";
import { mergeEqual } from "./merge_equal.ts";
import type { Pass } from "./pass.ts";
import { simplify } from "./simplify.ts";

export interface Step {
  readonly pass: Pass;
  /** Why it stands where it stands, if the order matters. */
  readonly because?: string;
}

export const PASSES: readonly Step[] = [
  {
    pass: simplify,
    because: "the builder writes down everything it is told; less to do for the others",
  },
  {
    pass: hoistInvariants,
    because: "before merging, so that equal operations of several loops meet",
  },
  { pass: mergeEqual },
  { pass: simplify, because: "merging makes operands equal: x - x, c ? x : x" },
  { pass: mergeEqual, because: "simplifying makes small constants and splats anew" },
  { pass: accumulate, because: "counts uses, which equal operations would hide" },
  { pass: contract, because: "behind accumulate: sums of products belong to the products" },
  { pass: dropDead, because: "last: every pass before leaves unused operations behind" },
];

export interface RunOptions {
  /** Check the function before the first and after every pass. */
  readonly verify?: boolean;
  /** Whether products may be fused into sums; they may by default. */
  readonly contract?: boolean;
  /** Called after every pass. */
  readonly dump?: (pass: string, func: Func, changed: boolean) => void;
}

/** Runs passes in order. What a pass throws is told with its name and the function's. */
export function runPasses(
  func: Func,
  options: RunOptions = {},
  steps: readonly Step[] = PASSES,
): void {
  if (options.verify === true) verifyFunc(func);
  for (const { pass } of steps) {
    if (pass === contract && options.contract === false) continue;
    let changed: boolean;
    try {
      changed = pass.run(func);
      if (options.verify === true) verifyFunc(func);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return bug(`Pass ${pass.name} failed on @${func.name}: ${reason}`);
    }
    options.dump?.(pass.name, func, changed);
  }
}
