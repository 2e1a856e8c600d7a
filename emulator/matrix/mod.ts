/** Matrix instructions of warps and warp groups. In: mma, wgmma, wmma, ldmatrix and their kin. Out: their handlers. */
import type { Handler } from "../machine.ts";
import { mma } from "./mma.ts";
import { ldmatrix, movmatrix, stmatrix } from "./row_matrices.ts";
import { wgmma, wgmmaCommit, wgmmaFence, wgmmaWait } from "./wgmma.ts";
import { wmmaLoad, wmmaMultiply, wmmaStore } from "./wmma.ts";

export { checkRegisters, productRegisters } from "./in_flight.ts";
export { mayPassWait } from "./warp_group.ts";

/** By opcode. */
export const MATRIX: Readonly<Record<string, Handler>> = {
  mma,
  ldmatrix,
  stmatrix,
  movmatrix,
  "wmma.load": wmmaLoad,
  "wmma.store": wmmaStore,
  "wmma.mma": wmmaMultiply,
  "wgmma.mma_async": wgmma,
  "wgmma.fence": wgmmaFence,
  "wgmma.commit_group": wgmmaCommit,
  "wgmma.wait_group": wgmmaWait,
};
