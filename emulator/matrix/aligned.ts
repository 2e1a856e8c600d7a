/** `.aligned` instructions of matrices: all lanes of the warp run them together. */
import { Fault } from "../fault.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";

const ALL = -1;

/** The function, which is called with all lanes only: without one, its part of the matrices would be missing. */
export function wholeWarp(
  name: string,
  context: HandlerContext,
  run: (w: number) => void,
): WarpFunction {
  const { site } = context;
  return (w, mask) => {
    if (mask !== ALL) {
      const lane = 31 - Math.clz32(~mask & -~mask);
      throw new Fault(
        "illegal instruction",
        `${name} needs all 32 lanes of the warp, and some are not there`,
        lane,
        site,
      );
    }
    run(w);
  };
}
