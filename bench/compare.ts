/** Comparing two recordings: which lines got faster or slower, and whether that can be chance. */
import { checkOptions, optionNames, own } from "../ffi/arguments/options.ts";
import { expectThat } from "./arguments.ts";
import type { BenchmarkRecord, Recording } from "./recording.ts";
import { expectRecording } from "./recording_reader.ts";
import { holm, mannWhitney, summarize } from "./statistics.ts";

/** What counts as a difference. */
export interface CompareOptions {
  /** The chance at which a difference may be taken for one that is none, over all points together. */
  readonly significance: number;
  /** Relative changes of the median below this do not count, however certain they are. */
  readonly leastChange: number;
}

/** A difference that is unlikely to be chance and large enough to matter. */
export const DEFAULT_COMPARE: CompareOptions = { significance: 0.01, leastChange: 0.02 };

/** One line at one point, in both recordings. */
export interface Change {
  /** The benchmark's name. */
  readonly benchmark: string;
  /** The line's name. */
  readonly line: string;
  /** The point on the axis. */
  readonly x: number;
  /** Median milliseconds per call in the first recording. */
  readonly before: number;
  /** And in the second. */
  readonly after: number;
  /** The p-value of the Mann-Whitney U test, corrected by Holm for all points of the comparison. */
  readonly p: number;
  /** What to make of it. */
  readonly verdict: "faster" | "slower" | "same";
}

/** Two recordings side by side. */
export interface Comparison {
  /** Every line and point that both have, in the order of the first. */
  readonly changes: readonly Change[];
  /** Why a difference may not be the kernels', and what only one recording has. */
  readonly notes: readonly string[];
}

const COMPARE_OPTIONS = optionNames<CompareOptions>({ significance: true, leastChange: true });

/**
 * Compares the samples of two recordings, line by line and point by point. Throws `ArgumentError` for what is no
 * recording, and options that are no numbers.
 */
export function compareRecordings(
  before: Recording,
  after: Recording,
  options: CompareOptions = DEFAULT_COMPARE,
): Comparison {
  expectRecording("before", before);
  expectRecording("after", after);
  checkOptions("options of compareRecordings", options, COMPARE_OPTIONS);
  for (const name of ["significance", "leastChange"] as const) {
    const value = own(options, name);
    expectThat(typeof value === "number" && value >= 0, name, "a number from 0", value);
  }
  const [old, now] = [samplesOf(before), samplesOf(after)];
  const pairs = [...old].flatMap(([key, sample]) => {
    const newer = now.get(key);
    return newer === undefined ? [] : [{ sample, newer }];
  });
  const corrected = holm(pairs.map(({ sample, newer }) => mannWhitney(sample.times, newer.times)));
  const changes = pairs.map(({ sample, newer }, index): Change => {
    const { benchmark, line, x } = sample;
    const [earlier, later] = [summarize(sample.times).median, summarize(newer.times).median];
    const p = corrected[index] ?? 1;
    const matters = p < options.significance &&
      Math.abs(later / earlier - 1) >= options.leastChange;
    const verdict = !matters ? "same" : later > earlier ? "slower" : "faster";
    return { benchmark, line, x, before: earlier, after: later, p, verdict };
  });
  return { changes, notes: notesOn(before, after, old, now) };
}

interface Sample {
  readonly benchmark: string;
  readonly line: string;
  readonly x: number;
  readonly times: readonly number[];
}

function samplesOf({ benchmarks }: Recording): Map<string, Sample> {
  return new Map(
    benchmarks.flatMap(samplesOfBenchmark).map((sample) => [
      `${sample.benchmark}, ${sample.line}, ${sample.x}`,
      sample,
    ]),
  );
}

function samplesOfBenchmark({ name, rows }: BenchmarkRecord): Sample[] {
  return rows.flatMap(({ x, times }) =>
    Object.entries(times).map(([line, samples]) => ({ benchmark: name, line, x, times: samples }))
  );
}

function notesOn(
  before: Recording,
  after: Recording,
  old: ReadonlyMap<string, Sample>,
  now: ReadonlyMap<string, Sample>,
): string[] {
  const differs = (what: string, a: string, b: string): string[] =>
    a === b ? [] : [`${what} differs: ${a} before, ${b} after`];
  const missing = (from: string, keys: string[]): string[] =>
    keys.length === 0 ? [] : [`only ${from}: ${keys.join("; ")}`];
  return [
    ...differs("the GPU", before.device.name, after.device.name),
    ...differs("the driver", before.device.driver, after.device.driver),
    ...differs("the cache", before.timing.cache, after.timing.cache),
    ...missing("before", [...old.keys()].filter((key) => !now.has(key))),
    ...missing("after", [...now.keys()].filter((key) => !old.has(key))),
  ];
}
