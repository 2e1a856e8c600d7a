/** A warp without lanes, for machines that run nothing. */
import type { Block, Warp } from "./state.ts";

export function idleWarp(): Warp {
  const warps: Warp[] = [];
  const cluster: Block[] = [];
  const block: Block = {
    index: [0, 0, 0],
    linear: 0,
    threads: 0,
    shape: [1, 1, 1],
    shared: 0,
    sharedBytes: 0,
    warps,
    cluster,
    rank: 0,
    phase: 0,
    async: undefined,
    barriers: new Map(),
    exits: [],
  };
  return {
    block,
    index: 0,
    registerFile: 0,
    phase: 0,
    async: undefined,
    live: 0,
    paths: [],
    running: undefined,
    slice: 0,
    exhausted: false,
    clusterArrived: 0,
  };
}
