/** The loop in which a block does several programs in turn (`schedule/loop_programs.ts`). */
import type { Func, OpOf } from "./func.ts";

/** The loop over the programs of a block, if the function has one. */
export function loopOverPrograms({ body }: Func): OpOf<"while"> | undefined {
  for (const op of body.ops) if (op.name === "while" && op.attrs.programs === true) return op;
  return undefined;
}
