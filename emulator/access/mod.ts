/**
 * Accesses to memory. In: instructions that load, store, update memory atomically or work on addresses, fences and
 * caches. Out: handlers that compute the lanes' addresses, have them checked (`check/`) and counted (`count/`), and move
 * the values.
 */
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
