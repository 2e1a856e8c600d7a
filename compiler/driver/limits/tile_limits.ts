/**
 * Tiles that no thread can hold. A thread has at most 255 registers; what is a few times more spills and runs
 * slowly, what is far more would also take minutes to compile.
 */
import type { Func } from "../../ir/func.ts";
import type { EntryOptions } from "../entry_options.ts";
import { walkOps } from "../../ir/walk.ts";
import { product } from "../../linear/linear.ts";
import type { Reporter } from "../../support/diagnostic.ts";

const LANES = 32;
const MAX_WARPS = 32;
/** Four times the registers of a thread. */
const MAX_ELEMENTS_PER_THREAD = 1024;

/** Reports the first tile that is too large for the warps (E3023); whether all fit. */
export function checkTileLimits(
  func: Func,
  { numWarps, numCtas }: Pick<EntryOptions, "numWarps" | "numCtas">,
  reporter: Reporter,
): boolean {
  const threads = LANES * numWarps * numCtas;
  let fits = true;
  walkOps(func.body, ({ results, span }) => {
    const huge = results.find(({ type }) =>
      product(type.shape) > threads * MAX_ELEMENTS_PER_THREAD
    );
    if (huge === undefined || !fits) return;
    fits = false;
    const each = product(huge.type.shape) / threads;
    reporter.error(
      "E3023",
      span,
      `the tile [${
        huge.type.shape.join(", ")
      }] gives each of the ${threads} threads ${each} elements; the limit is ${MAX_ELEMENTS_PER_THREAD}`,
      {
        hint: numWarps === MAX_WARPS
          ? "make the tile smaller; a thread has 255 registers"
          : `make the tile smaller, or use more warps than ${numWarps}: \`#pragma tri num_warps=${MAX_WARPS}\`; a thread has 255 registers`,
      },
    );
  });
  return fits;
}
