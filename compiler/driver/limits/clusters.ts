/** What programs of several blocks (`num_ctas`) cannot be, said before the passes for a target begin. */
import type { Func, Op } from "../../ir/func.ts";
import { walkOps } from "../../ir/walk.ts";
import { Unsupported } from "../../lower/unsupported.ts";
import { must } from "../../support/bug.ts";
import { query, type Target } from "../../targets.ts";

/** Throws {@linkcode Unsupported}. */
export function checkClusters({ body }: Func, target: Target, numCtas: number): void {
  if (numCtas === 1) return;
  const ops: Op[] = [];
  walkOps(body, (op) => ops.push(op));
  if (!query(target, ({ clusters }) => clusters)) {
    throw new Unsupported({
      code: "E7012",
      what: `a program of ${numCtas} blocks is a cluster, which targets before sm_90 do not have`,
      span: must(ops[0], "operation of a kernel").span,
      hint:
        "say `num_ctas` in a configuration with `if __TRI_ARCH__ >= 900`, beside one without it",
    });
  }
  const dot = ops.find(({ name }) => name === "dot");
  if (dot === undefined) return;
  throw new Unsupported({
    code: "E7013",
    what: `a product of tiles is not possible in a program of ${numCtas} blocks`,
    span: dot.span,
    hint:
      "leave out `num_ctas`: a block multiplies what is in its own registers and shared memory; blocks that read the same rows have them from the L2 cache",
  });
}
