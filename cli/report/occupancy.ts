/**
 * How many blocks of a kernel a multiprocessor holds at a time, by the rules of the CUDA toolkit's cuda_occupancy.h: each of
 * the four parts of a multiprocessor has its own registers and gives them to warps in units of 256; shared memory is
 * allocated in units, plus some for the system.
 */
import type { Target } from "../../compiler/targets.ts";

/** What one block takes. */
export interface BlockNeeds {
  readonly threads: number;
  /** Of a thread. */
  readonly registers: number;
  /** Static and dynamic together. */
  readonly sharedBytes: number;
}

/** The resource that limits it. */
export type Limit = "registers" | "shared memory" | "warps" | "blocks";

export interface Occupancy {
  readonly blocks: number;
  readonly warps: number;
  /** Warps by the most that there can be. */
  readonly share: number;
  readonly limit: Limit;
}

const LANES = 32;
const PARTS = 4;
const REGISTER_UNIT = 256;

/** Blocks that a multiprocessor of the target holds at a time. */
export function occupancyOf(target: Target, needs: BlockNeeds): Occupancy {
  const warpsPerBlock = Math.ceil(needs.threads / LANES);
  const perWarp = roundUp(Math.max(needs.registers, 1) * LANES, REGISTER_UNIT);
  const warpsByRegisters = Math.floor(target.registersPerSm / PARTS / perWarp) * PARTS;
  const shared = roundUp(needs.sharedBytes + target.sharedBytesReserved, target.sharedBytesUnit);
  // Where several limit it, the first is named.
  const bounds: readonly (readonly [Limit, number])[] = [
    ["warps", Math.floor(target.warpsPerSm / warpsPerBlock)],
    ["blocks", target.blocksPerSm],
    ["registers", Math.floor(warpsByRegisters / warpsPerBlock)],
    ["shared memory", shared === 0 ? Infinity : Math.floor(target.sharedBytesPerSm / shared)],
  ];
  const [limit, blocks] = bounds.reduce((least, bound) => bound[1] < least[1] ? bound : least);
  const warps = blocks * warpsPerBlock;
  return { blocks, warps, share: warps / target.warpsPerSm, limit };
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
