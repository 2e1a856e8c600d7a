/** What a run of a debugged launch looks for. */
import type { Focus, StopReason } from "./debug_launch.ts";
import type { TrackedWarp } from "./track.ts";

/** A place to stop, and the thread to look at there. */
export interface Found {
  readonly reason: StopReason;
  readonly focus: Focus;
}

/** What a run looks for; undefined: nothing here. */
export type Judge = (seen: Seen) => Found | undefined;

/** What is known at a step. */
export interface Seen {
  readonly number: number;
  readonly warp: TrackedWarp;
  /** Whether a statement of the warp begins. */
  readonly begins: boolean;
}

/** Where a run pauses. */
export interface Goal {
  /** Judges steps from this one on. */
  readonly from: number;
  /** The step to pause before in any case. */
  readonly last: number;
  readonly judge: Judge;
  /** Pauses at the first step that is found; else notes the last one. */
  readonly first: boolean;
  found: (Found & { readonly number: number }) | undefined;
}

export const NO_JUDGE: Judge = (): undefined => undefined;
