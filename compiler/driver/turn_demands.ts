/** For which launches blocks do programs along all axes in turn. */
import { apply, constant, printExpr } from "../contract/expr.ts";
import type { Requirement } from "../contract/types.ts";
import type { Func } from "../ir/func.ts";
import { loopOverPrograms } from "../ir/program_loop.ts";
import { must } from "../support/bug.ts";

/** What a launch must fulfil so that it pays that blocks do programs along all axes in turn. */
export function turnDemands(func: Func): readonly Requirement[] {
  const [map, axis, most] = loopOverPrograms(func)?.attrs.within ?? [];
  if (map === undefined || axis === undefined || most === undefined) return [];
  const { extent } = must(func.maps[map]?.axes[axis], "axis of a tensor map");
  const condition = apply("<=", extent, constant(most));
  return [{ condition, text: printExpr(condition) }];
}
