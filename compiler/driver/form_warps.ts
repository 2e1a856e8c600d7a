/**
 * The warps of a form whose loops have several dots, or dots of what others have led to: each warp group does them for the rows
 * of one instruction (`suitsChain` of layout/warp_group.ts). An entry that was written for other instructions, with four warps
 * for 128 rows, has a form with eight.
 */
import type { Func, Region } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { GROUP_ROWS, GROUP_WARPS } from "../layout/warp_group.ts";

/** Most warps of a block of which some copy for the others. */
const MOST_WARPS = 16;

/** The warps that have 16 rows each of all dots in loops; undefined where loops have one dot, or dots other rows. */
export function warpsOfRows(func: Func): number | undefined {
  const rows = new Set<number>();
  let isChain = false;
  const visit = ({ ops }: Region, inLoop: boolean): void => {
    let count = 0;
    for (const op of ops) {
      if (op.name === "dot" && inLoop) {
        count++;
        rows.add(operandsOf(op).a.type.shape[0] ?? 1);
      }
      for (const region of op.regions) visit(region, inLoop || op.name === "while");
    }
    isChain ||= count > 1;
  };
  visit(func.body, false);
  const [extent = 0, ...others] = rows;
  const warps = extent / GROUP_ROWS * GROUP_WARPS;
  return isChain && others.length === 0 && warps >= GROUP_WARPS && warps <= MOST_WARPS
    ? warps
    : undefined;
}
