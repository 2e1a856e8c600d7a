/** A compiled kernel, as the scheduler sees it. */
import type { Site } from "../fault.ts";
import type { RegisterFileLayout } from "./layout.ts";
import type { Line } from "./lines.ts";
import type { Passing } from "./passing.ts";

/** What running code stops with; results from 0 on are blocks to continue with. */
export const STOP = {
  /** Lanes diverge; the register file's header has the targets. */
  diverged: -2,
  /** The block's first instruction needs lanes that are not here. */
  waits: -3,
  /** The block ends at a barrier. */
  barrier: -4,
  /** The block's first instruction must wait for other warps; it is to be tried again. */
  later: -5,
} as const;

/** An operand of a barrier: a row of 32-bit values. */
export type BarrierRow = number | undefined;

/** What a barrier does; rows are offsets in the register file. */
export interface BarrierStep {
  readonly kind: "sync" | "arrive" | "reduce" | "cluster arrive" | "cluster wait";
  /** Whether all lanes of a warp must come together. */
  readonly aligned: boolean;
  /** Number of the barrier. */
  readonly id: BarrierRow;
  /** Threads that it waits for; absent: all of the block. */
  readonly count: BarrierRow;
  readonly reduction?: {
    readonly operation: "popc" | "and" | "or";
    readonly predicate: { readonly row: number; readonly invert: 0 | -1 };
    /** Row of the result: a predicate for and/or, 32 bits for popc. */
    readonly result: number;
  };
}

/** What the scheduler needs of a block. */
export interface BlockFacts {
  /** For waiting first instructions: the row that holds the mask of lanes they need, or "all" that are live. */
  readonly needs: number | "all" | undefined;
  readonly barrier: BarrierStep | undefined;
  /** Whether its first instruction is a `bar.warp.sync`: lanes at different ones with the same mask meet. */
  readonly meets: boolean;
  /** The instruction that may wait, for messages. */
  readonly site: Site | undefined;
}

/** Why a warp stopped although it had fuel. */
export interface EarlyStop {
  /** A wait failed, or it polled what others change: nothing that it could go on with was done. */
  readonly kind: "yielded" | "polled" | undefined;
  /** Fuel that was left. */
  readonly left: number;
}

/** Code of a kernel in one thread of the host. */
export interface Code {
  /**
   * Runs block `pc` and those that follow for lanes `mask`, until a block `stop` or later is next, or fuel is spent.
   */
  run(registerFile: number, mask: number, pc: number, stop: number): number;
  /** The block that stopped. */
  readonly stoppedAt: WebAssembly.Global;
  /** Warp-instructions that may still be run. */
  readonly fuel: WebAssembly.Global;
  /** Whether the warp that ran last stopped early; asked once after each. */
  takeStop(): EarlyStop;
}

export interface Program {
  readonly kernel: string;
  readonly blocks: readonly BlockFacts[];
  readonly passing: Passing;
  readonly layout: RegisterFileLayout;
  /** Per block: how many instructions of each class it has. */
  readonly classes: readonly ReadonlyMap<string, number>[];
  /** Where each block's counts are: warps that ran it, then threads, 64 bits each. */
  readonly counts: number;
  readonly code: Code;
  /** By block its instruction: of programs that stop before each of them. */
  readonly lines: readonly (Line | undefined)[];
}
