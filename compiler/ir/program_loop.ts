/** The loop in which a block does several programs in turn (`schedule/programs/loop_programs.ts`). */
import type { Persistence } from "../options.ts";
import { loopOf } from "./flow.ts";
import type { Func, OpOf, Region } from "./func.ts";

/** The loop over the programs of a block, if the function has one. */
export function loopOverPrograms({ body }: Func): OpOf<"while"> | undefined {
  for (const op of body.ops) if (op.name === "while" && op.attrs.programs === true) return op;
  return undefined;
}

/** What a block does for each of its programs, or for its only one. */
export function bodyOfProgram(func: Func): Region {
  const loop = loopOverPrograms(func);
  return loop === undefined ? func.body : loopOf(loop).body;
}

/** How blocks do several programs in turn; undefined: they do one. */
export function persistenceOf(func: Func): Persistence | undefined {
  const loop = loopOverPrograms(func);
  if (loop === undefined) return undefined;
  const { within, several = false, all_axes: areAll = false } = loop.attrs;
  if (within === undefined) return areAll ? "all" : several ? "several" : "x";
  return within.length === 0 ? "all" : "xyz";
}

/** How many programs a block does at a time, each by a partition of as many warps as a program has. */
export function partitionsOf(func: Func): number {
  return loopOverPrograms(func)?.attrs.partitions ?? 1;
}
