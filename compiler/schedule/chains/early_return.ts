/**
 * An early `return` around chained dots, as of programs whose rows are beyond the end of a short sequence:
 *
 *     if (first >= M) return;  …; chain     if (c) {} else { …; chain }     leave c; …; chain
 *
 * The builder puts what follows into a branch. A chain is done by warp groups at the top level alone, because the warp
 * beside those of the program starts copies there, so the branch is taken apart.
 */
import { branchOf } from "../../ir/flow.ts";
import { type Func, newOp, type OpOf, type Region } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { scalarType } from "../../ir/types.ts";
import { terminatorOf, walkOps } from "../../ir/walk.ts";
import { chainedDots } from "../../layout/chains.ts";
import { phiWebsOf } from "../../layout/phi_webs.ts";

/** Takes branches apart that the program ends with, one side of which is empty and the other has chained dots. */
export function leaveEarly(func: Func): void {
  for (let last = lastBranch(func); last !== undefined; last = lastBranch(func)) {
    const { condition, then, otherwise } = branchOf(last);
    const isThenEmpty = isEmpty(then);
    const rest = isThenEmpty ? otherwise : then;
    if (last.results.length > 0 || (!isThenEmpty && !isEmpty(otherwise))) return;
    if (!hasChain(func, rest)) return;
    const { span } = last;
    const bool = scalarType("bool");
    const not = isThenEmpty ? undefined : newOp(func, "not", [condition], [bool], span);
    const leaves = not === undefined ? condition : resultOf(not);
    func.body.ops.splice(
      -2,
      1,
      ...not === undefined ? [] : [not],
      newOp(func, "leave", [leaves], [], span),
      ...rest.ops.slice(0, -1),
    );
  }
}

/** The branch before the function's end. */
function lastBranch({ body }: Func): OpOf<"if"> | undefined {
  const last = body.ops.at(-2);
  return terminatorOf(body).name === "return" && last?.name === "if" ? last : undefined;
}

const isEmpty = ({ ops }: Region): boolean => ops.length === 1;

function hasChain(func: Func, region: Region): boolean {
  const chained = chainedDots(func, phiWebsOf(func));
  let found = false;
  walkOps(region, (op) => found ||= op.name === "dot" && chained.has(op));
  return found;
}
