/** What carries calls out: NCCL for GPUs, the processor for emulators. */
import type { Call } from "./call.ts";

/** A checked call on a rank of this process. */
export interface RankCall {
  readonly rank: number;
  readonly call: Call;
}

/** The ranks of a world that are in this process. */
export interface Transport {
  /** Queues the calls as one group. Their memory is registered with their streams. Throws `NcclError`. */
  run(calls: readonly RankCall[]): void;
  /** Throws `NcclError` where queued work of the rank has failed. */
  check(rank: number): void;
  /** Ends queued work of all ranks, without waiting for it. */
  abort(): void;
  /** Gives it back after queued work is done. */
  close(): void;
}
