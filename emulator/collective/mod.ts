/** Instructions that lanes of a warp execute together. In: shuffles, votes, reductions and matches. Out: their handlers. */
import type { Handler } from "../machine.ts";
import { checkedMembers } from "./member_mask.ts";
import { REDUCE } from "./reduce.ts";
import { shuffle } from "./shuffle.ts";
import { VOTE } from "./vote.ts";

export { checkMembers } from "./member_mask.ts";
export { syncMask } from "./sync_mask.ts";

/**
 * What compiles these instructions. The mask of their functions holds the lanes that take part: those of the membermask
 * that have not exited, gathered by the scheduler; without `.sync` the lanes that run.
 */
export const COLLECTIVES: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries({ ...VOTE, ...REDUCE, shfl: shuffle, "shfl.sync": shuffle })
    .map(([opcode, handler]) => [opcode, checkedMembers(handler)]),
);
