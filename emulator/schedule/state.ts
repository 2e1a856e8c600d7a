/** Blocks, warps and barriers as the scheduler sees them. */
import type { BlockState, WarpState } from "../machine.ts";

/** What a path waits for. */
export type Waiting = "lanes" | "barrier" | "cluster" | "fault";

/** Lanes of a warp that run together: a diverged warp has several paths. */
export interface Path {
  pc: number;
  mask: number;
  waiting: Waiting | undefined;
  /** Number of the barrier that it waits at. */
  barrier: number;
  /** The slice of its warp in which it ran last. */
  ran: number;
}

export interface Warp extends WarpState {
  readonly block: Block;
  /** Lanes that have not exited; a copy is in the register file's header. */
  live: number;
  paths: Path[];
  /** The path that runs or ran last. */
  running: Path | undefined;
  /** Slices so far. */
  slice: number;
  /** Whether the last slice ended in the middle of something: then another path begins the next one. */
  exhausted: boolean;
  /** Lanes that wait at the cluster's barrier. */
  clusterArrived: number;
}

/** A block as the scheduler sees it. */
export interface Block extends BlockState {
  readonly warps: readonly Warp[];
  readonly cluster: readonly Block[];
  /** Barriers where threads have arrived, by number. */
  readonly barriers: Map<number, Barrier>;
  /** The blocks of the program in which threads have exited, in runs that are checked. */
  readonly exits: number[];
}

/** A barrier between its first arrival and its end. */
export interface Barrier {
  /** Arrived lanes by warp. */
  readonly arrived: Map<Warp, number>;
  /** The blocks of the program that threads have arrived from. */
  readonly pcs: number[];
  /** Threads that it waits for; undefined: all of the block. */
  readonly expected: number | undefined;
  /** Threads that said true, and that arrived, for reductions. */
  yes: number;
  all: boolean;
}
