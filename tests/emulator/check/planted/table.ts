/** The planted mistakes: each kernel of kernels.cu, how it is launched, and what must be said of the wrong one. */
import type { FaultKind } from "../../../../emulator/fault.ts";

export interface Planted {
  readonly kernel: string;
  /** What is said of the wrong kernel: one of these; absent where both kernels are right. */
  readonly kinds?: readonly FaultKind[];
  readonly threads: number;
  readonly blocks?: number;
  readonly cluster?: number;
  readonly n?: number;
  readonly sharedBytes?: number;
}

const BARRIER: readonly FaultKind[] = ["missing barrier"];
const DIVERGENT: readonly FaultKind[] = ["divergent barrier"];
const RACE: readonly FaultKind[] = ["race"];
const PENDING: readonly FaultKind[] = ["pending copy"];
const UNDEFINED: readonly FaultKind[] = ["uninitialised register"];
const EXITED: readonly FaultKind[] = ["exited lanes"];

export const PLANTED: readonly Planted[] = [
  { kernel: "reverse", kinds: BARRIER, threads: 256 },
  { kernel: "stencil", kinds: BARRIER, threads: 256 },
  { kernel: "tile_loop", kinds: BARRIER, threads: 64, n: 4 },
  { kernel: "double_buffer", kinds: BARRIER, threads: 64, n: 4 },
  { kernel: "broadcast", kinds: BARRIER, threads: 128 },
  { kernel: "counter_start", kinds: BARRIER, threads: 128 },
  { kernel: "counter_end", kinds: BARRIER, threads: 128 },
  { kernel: "tree", kinds: BARRIER, threads: 256 },
  { kernel: "tree_tail", kinds: BARRIER, threads: 256 },
  { kernel: "scan", kinds: BARRIER, threads: 128 },
  { kernel: "warp_sums", kinds: BARRIER, threads: 128 },
  { kernel: "warp_sums_twice", kinds: BARRIER, threads: 128 },
  { kernel: "transpose", kinds: BARRIER, threads: 256 },
  { kernel: "global_exchange", kinds: BARRIER, threads: 256 },
  { kernel: "named_barrier", kinds: BARRIER, threads: 96 },
  { kernel: "part_of_warp", kinds: DIVERGENT, threads: 64 },
  { kernel: "one_warp_of_two", kinds: DIVERGENT, threads: 64 },
  { kernel: "second_warp_of_two", kinds: [...DIVERGENT, ...BARRIER], threads: 64 },
  { kernel: "trip_count", kinds: DIVERGENT, threads: 64, n: 4 },
  { kernel: "leaves_loop", kinds: DIVERGENT, threads: 64, n: 4 },
  { kernel: "split", kinds: DIVERGENT, threads: 64 },
  { kernel: "switch_of_barriers", kinds: DIVERGENT, threads: 32 },
  { kernel: "lanes_exchange", kinds: BARRIER, threads: 32 },
  { kernel: "lanes_exchange_back", kinds: BARRIER, threads: 32 },
  { kernel: "lanes_tree", kinds: BARRIER, threads: 32 },
  { kernel: "shuffle_is_no_barrier", kinds: BARRIER, threads: 32 },
  { kernel: "leader_writes", kinds: BARRIER, threads: 32 },
  { kernel: "half_masks", kinds: BARRIER, threads: 32 },
  { kernel: "half_masks_right", kinds: BARRIER, threads: 32 },
  { kernel: "tiles", kinds: BARRIER, threads: 64 },
  { kernel: "volatile_tree", kinds: BARRIER, threads: 64 },
  { kernel: "volatile_loop", kinds: BARRIER, threads: 32, n: 16 },
  { kernel: "volatile_scan", kinds: BARRIER, threads: 32 },
  { kernel: "volatile_maximum", kinds: BARRIER, threads: 32 },
  { kernel: "volatile_broadcast", kinds: BARRIER, threads: 32 },
  { kernel: "volatile_count_lanes", kinds: RACE, threads: 32 },
  { kernel: "volatile_count_warps", kinds: RACE, threads: 128 },
  { kernel: "volatile_count_blocks", kinds: RACE, threads: 32, blocks: 4 },
  { kernel: "volatile_vote", kinds: RACE, threads: 32 },
  { kernel: "histogram", kinds: RACE, threads: 128 },
  { kernel: "count_global", kinds: RACE, threads: 64 },
  { kernel: "one_result", kinds: RACE, threads: 64 },
  { kernel: "blocks_overlap", kinds: RACE, threads: 64, blocks: 4 },
  { kernel: "last_block", kinds: RACE, threads: 64, blocks: 4 },
  { kernel: "flag_between_blocks", kinds: RACE, threads: 32, blocks: 2 },
  { kernel: "spin_lock", kinds: RACE, threads: 32, blocks: 4 },
  { kernel: "look_back", kinds: RACE, threads: 32, blocks: 4 },
  { kernel: "swap_sum", kinds: [...RACE, ...BARRIER], threads: 64, blocks: 4 },
  { kernel: "swap_maximum", kinds: [...RACE, ...BARRIER], threads: 64, blocks: 4 },
  { kernel: "swap_shared", kinds: BARRIER, threads: 64 },
  { kernel: "swap_then_read", kinds: BARRIER, threads: 64 },
  { kernel: "not_in_mask", kinds: ["member mask"], threads: 32 },
  { kernel: "not_in_vote", kinds: ["member mask"], threads: 32 },
  { kernel: "lanes_pass_shuffle", kinds: DIVERGENT, threads: 32 },
  { kernel: "lanes_pass_vote", kinds: DIVERGENT, threads: 32 },
  { kernel: "masks_differ", kinds: DIVERGENT, threads: 32 },
  { kernel: "exited_in_ballot", kinds: EXITED, threads: 32 },
  { kernel: "exited_in_sync", kinds: EXITED, threads: 32 },
  { kernel: "exited_in_reduce", kinds: EXITED, threads: 32 },
  { kernel: "shuffle_from_exited", kinds: UNDEFINED, threads: 32, n: 20 },
  { kernel: "shuffle_from_outside", kinds: UNDEFINED, threads: 32 },
  { kernel: "shuffle_index_outside", kinds: UNDEFINED, threads: 32 },
  { kernel: "copy_no_wait", kinds: PENDING, threads: 64 },
  { kernel: "copy_no_barrier", kinds: [...PENDING, ...BARRIER], threads: 64 },
  { kernel: "copy_waits_too_little", kinds: PENDING, threads: 64 },
  { kernel: "copy_target_written", kinds: PENDING, threads: 64 },
  { kernel: "copy_source_written", kinds: PENDING, threads: 64 },
  { kernel: "copy_source_written_by_others", kinds: PENDING, threads: 64 },
  { kernel: "copy_ring", kinds: [...BARRIER, ...PENDING], threads: 64, n: 4 },
  { kernel: "read_only_own", kinds: ["read-only memory"], threads: 64 },
  { kernel: "read_only_barrier", kinds: ["read-only memory"], threads: 64 },
  { kernel: "read_only_blocks", kinds: ["read-only memory"], threads: 64, blocks: 2 },
  { kernel: "cluster_exit", kinds: ["exited block"], threads: 32, blocks: 2, cluster: 2 },
  { kernel: "cluster_exit_late", kinds: ["exited block"], threads: 32, blocks: 2, cluster: 2 },
  {
    kernel: "cluster_start",
    kinds: ["race", "uninitialised memory"],
    threads: 32,
    blocks: 2,
    cluster: 2,
  },
  {
    kernel: "cluster_store",
    kinds: ["race", "uninitialised memory"],
    threads: 32,
    blocks: 2,
    cluster: 2,
  },
  { kernel: "past_the_end", kinds: ["out of bounds"], threads: 32 },
  { kernel: "before_the_start", kinds: ["out of bounds"], threads: 32 },
  { kernel: "shared_end", kinds: ["out of bounds"], threads: 32, sharedBytes: 128 },
  { kernel: "misaligned", kinds: ["misaligned"], threads: 32 },
  { kernel: "never_written", kinds: ["uninitialised memory"], threads: 32 },
  { kernel: "never_ends", kinds: ["instruction budget", "deadlock"], threads: 32 },
  { kernel: "early_return", threads: 64, n: 40 },
  { kernel: "early_return_with_result", threads: 64, n: 40 },
  { kernel: "syncwarp_in_branches", threads: 32 },
  { kernel: "groups", threads: 64 },
  { kernel: "aggregated", threads: 64 },
  { kernel: "partial_shuffle", threads: 32 },
  { kernel: "ticket_lock", threads: 32, blocks: 4 },
  { kernel: "warps_take_turns", threads: 128 },
  { kernel: "stops_early", threads: 64, n: 40 },
  { kernel: "grid_barrier", threads: 64, blocks: 4 },
];
