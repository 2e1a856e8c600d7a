/** Instructions that access memory, or work on addresses, fences and caches: the door to this folder. */
import type { Handler } from "../machine.ts";
import { convertAddress, isInSpace, mapToRank, rankOfAddress } from "./address.ts";
import { atomic } from "./atomic.ts";
import { cachePolicy, fence, nothing } from "./hints.ts";
import { load, store } from "./load_store.ts";

/** By opcode. */
export const MEMORY: Readonly<Record<string, Handler>> = {
  ld: load,
  ldu: load,
  st: store,
  atom: atomic,
  red: atomic,
  cvta: convertAddress,
  isspacep: isInSpace,
  mapa: mapToRank,
  getctarank: rankOfAddress,
  membar: fence,
  fence,
  prefetch: nothing,
  prefetchu: nothing,
  applypriority: nothing,
  discard: nothing,
  createpolicy: cachePolicy,
};
