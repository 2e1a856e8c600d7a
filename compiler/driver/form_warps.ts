/**
 * The warps of a form whose loops have several dots, or dots of what others have led to: each warp group does them for the rows
 * of one instruction (`suitsChain` of layout/warp_group.ts). An entry that was written for other instructions, with four warps
 * for 128 rows, has a form with eight.
 */
import type { Func, OpOf, Region } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { isStanding, multipliesMuch } from "../layout/chains.ts";
import { phiWebsOf } from "../layout/phi_webs.ts";
import { GROUP_ROWS, GROUP_WARPS } from "../layout/warp_group.ts";

/** Most warps of a block of which some copy for the others. */
const MOST_WARPS = 16;

/** The warps that have 16 rows each of all dots in loops; undefined where loops have one dot that adds, or dots other rows. */
export function warpsOfRows(func: Func): number | undefined {
  const loops = dotsOfLoops(func.body);
  const dots = loops.flat();
  const [extent = 0, ...others] = new Set(dots.map((dot) => operandsOf(dot).a.type.shape[0] ?? 1));
  const warps = extent / GROUP_ROWS * GROUP_WARPS;
  const isChain = loops.some((each) => each.length > 1 || each.every(isStanding)) &&
    others.length === 0;
  return isChain && warps >= GROUP_WARPS && warps <= MOST_WARPS &&
      multipliesMuch(dots, phiWebsOf(func))
    ? warps
    : undefined;
}

/** The dots of each region within loops. */
function dotsOfLoops({ ops }: Region, inLoop = false): OpOf<"dot">[][] {
  const here = inLoop ? ops.filter((op) => op.name === "dot") : [];
  const inner = ops.flatMap((op) =>
    op.regions.flatMap((region) => dotsOfLoops(region, inLoop || op.name === "while"))
  );
  return here.length > 0 ? [here, ...inner] : inner;
}
