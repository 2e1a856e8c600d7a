/** What special registers hold (PTX ISA 9.0, chapter 10), written into a warp's register file before it starts. */
import { TARGETS } from "../../compiler/targets.ts";
import type { SpecialRow } from "../compile/layout.ts";
import { LANES } from "../register_file.ts";
import type { Machine } from "../machine.ts";
import type { Warp } from "./state.ts";

/** Facts about a launch that special registers hold. */
export interface LaunchFacts {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly cluster: readonly [number, number, number];
  /** Whether the launch or the kernel named a cluster. */
  readonly hasCluster: boolean;
  readonly dynamicSharedBytes: number;
  /** Reserved shared memory included. */
  readonly sharedBytes: number;
  /** Where reserved shared memory begins; absent for kernels that do not ask for it. */
  readonly reserved?: number;
  readonly number: number;
}

type Triple = readonly [number, number, number];
type Value = (launch: LaunchFacts, warp: Warp, lane: number) => number;

const AXES = ["x", "y", "z", "w"] as const;

/** Shared memory that the system keeps for itself and for libraries: as much as GPUs since sm_80 do. */
export const RESERVED_BYTES = TARGETS.sm_80.sharedBytesReserved;

/** Whether a register names a location in reserved shared memory. */
export function isReserved(name: string): boolean {
  return name.startsWith("reserved_smem_offset_");
}

/** A register for each axis. */
function axes(
  name: string,
  of: (launch: LaunchFacts, warp: Warp) => Triple,
): [string, (launch: LaunchFacts, warp: Warp) => number][] {
  return AXES.map((axis, i) => [`${name}.${axis}`, (launch, warp) => of(launch, warp)[i] ?? 0]);
}

const thread = (warp: Warp, lane: number): number => LANES * warp.index + lane;
const each = (a: Triple, b: Triple, of: (a: number, b: number) => number): Triple => [
  of(a[0], b[0]),
  of(a[1], b[1]),
  of(a[2], b[2]),
];
const clusters = ({ grid, cluster }: LaunchFacts): Triple =>
  each(grid, cluster, (blocks, size) => Math.ceil(blocks / size));
const inCluster = ({ cluster }: LaunchFacts, warp: Warp): Triple =>
  each(warp.block.index, cluster, (at, size) => at % size);

/** Registers that differ between blocks, and not between the lanes of one. */
const OF_BLOCK: ReadonlyMap<string, (launch: LaunchFacts, warp: Warp) => number> = new Map([
  ...axes("ctaid", (_, warp) => warp.block.index),
  ...axes(
    "clusterid",
    ({ cluster }, warp) => each(warp.block.index, cluster, (at, size) => Math.floor(at / size)),
  ),
]);

/**
 * Registers that are the same for all warps that run in one slot, during a launch; 64-bit ones have their upper half
 * zero.
 */
const OF_SLOT: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["tid.x", ({ block }, warp, lane) => thread(warp, lane) % block[0]],
  ["tid.y", ({ block }, warp, lane) => Math.floor(thread(warp, lane) / block[0]) % block[1]],
  ["tid.z", ({ block }, warp, lane) => Math.floor(thread(warp, lane) / (block[0] * block[1]))],
  ...axes("ntid", ({ block }) => block),
  ...axes("nctaid", ({ grid }) => grid),
  ["laneid", (_launch, _warp, lane) => lane],
  ["warpid", (_, warp) => warp.index],
  ["nwarpid", (_, warp) => warp.block.warps.length],
  ["smid", () => 0],
  ["nsmid", () => 1],
  ["gridid", (launch) => launch.number],
  ["is_explicit_cluster", ({ hasCluster }) => hasCluster ? 1 : 0],
  ...axes("nclusterid", clusters),
  ...axes("cluster_ctaid", inCluster),
  ...axes("cluster_nctaid", ({ cluster }) => cluster),
  ["cluster_ctarank", (_, warp) => warp.block.rank],
  ["cluster_nctarank", (_, warp) => warp.block.cluster.length],
  ["lanemask_eq", (_launch, _warp, lane) => 1 << lane],
  ["lanemask_lt", (_launch, _warp, lane) => (1 << lane) - 1],
  ["lanemask_le", (_launch, _warp, lane) => (2 << lane) - 1],
  ["lanemask_gt", (_launch, _warp, lane) => ~((2 << lane) - 1)],
  ["lanemask_ge", (_launch, _warp, lane) => ~((1 << lane) - 1)],
  ["dynamic_smem_size", ({ dynamicSharedBytes }) => dynamicSharedBytes],
  ["total_smem_size", ({ sharedBytes, reserved }) => reserved ?? sharedBytes],
  ["aggr_smem_size", ({ sharedBytes }) => sharedBytes],
  ["reserved_smem_offset_begin", ({ reserved = 0 }) => reserved],
  ["reserved_smem_offset_end", ({ reserved = 0 }) => reserved + RESERVED_BYTES],
  ["reserved_smem_offset_cap", () => RESERVED_BYTES],
  ["reserved_smem_offset_0", ({ reserved = 0 }) => reserved],
  ["reserved_smem_offset_1", ({ reserved = 0 }) => reserved + RESERVED_BYTES / 2],
  ["current_graph_exec", () => 0],
]);

/** Whether the emulator has a register that keeps its value. */
export function isConstantSpecial(name: string): boolean {
  return OF_SLOT.has(name) || OF_BLOCK.has(name) || /^(?:pm\d(?:_64)?|envreg\d+)$/.test(name);
}

/** Fills the rows of the special registers that a kernel reads; `known`: those of the slot are there already. */
export function writeSpecials(
  machine: Machine,
  rows: readonly SpecialRow[],
  launch: LaunchFacts,
  warp: Warp,
  known: boolean,
): void {
  const { i32 } = machine.views;
  for (const { name, row, wide } of rows) {
    const at = (warp.registerFile + row) >> 2;
    const ofBlock = OF_BLOCK.get(name);
    if (ofBlock !== undefined) {
      i32.fill(ofBlock(launch, warp), at, at + LANES);
      continue;
    }
    const value = known ? undefined : OF_SLOT.get(name);
    if (value === undefined) continue;
    if (name === "is_explicit_cluster") i32[at] = -value(launch, warp, 0);
    else if (wide) {
      for (let lane = 0; lane < LANES; lane++) {
        i32[at + 2 * lane] = value(launch, warp, lane);
        i32[at + 2 * lane + 1] = 0;
      }
    } else {
      for (let lane = 0; lane < LANES; lane++) i32[at + lane] = value(launch, warp, lane);
    }
  }
}
