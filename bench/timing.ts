/** How benchmarks are timed: what a caller may choose, and the defaults. */

/** How times are taken. */
export interface Timing {
  /** Samples of each contender. */
  readonly rounds: number;
  /** What the L2 cache holds before a call: what the last call left, or nothing of use. */
  readonly cache: "hot" | "cold";
  /** About how long a sample with a hot cache takes; decides how many calls are in its graph. */
  readonly sampleMilliseconds: number;
  /** The most calls in a graph. */
  readonly maxCalls: number;
  /** What is written between calls with a cold cache: twice the largest L2 cache (126 MB, B200). */
  readonly flushBytes: number;
}

/** What is done unless the caller says otherwise. */
export const DEFAULT_TIMING: Timing = {
  rounds: 25,
  cache: "hot",
  sampleMilliseconds: 2,
  maxCalls: 200,
  flushBytes: 256 * 2 ** 20,
};
