/** `brx.idx`: lanes continue at the label that their index chooses. */
import { Fault, type Site } from "../fault.ts";
import { HEADER } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import { STOP } from "./program.ts";

/** The function at the end of block `pc`: lanes with the first lane's index go there, the others come again. */
export function indexedBranch(
  machine: Machine,
  row: number,
  targets: readonly number[],
  pc: number,
  site: Site,
): (w: number, mask: number) => number {
  return (w, mask) => {
    const { i32, u32 } = machine.views;
    const at = (w + row) >> 2;
    const first = 31 - Math.clz32(mask & -mask);
    const index = u32[at + first] ?? 0;
    const target = targets[index];
    if (target === undefined) {
      throw new Fault(
        "illegal instruction",
        `index ${index} of a branch with ${targets.length} targets`,
        first,
        site,
      );
    }
    let same = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      if (u32[at + lane] === index) same |= 1 << lane;
    }
    if (same === mask) return target;
    i32[(w + HEADER.diverged) >> 2] = same;
    i32[(w + HEADER.target) >> 2] = target;
    i32[(w + HEADER.other) >> 2] = pc;
    return STOP.diverged;
  };
}
