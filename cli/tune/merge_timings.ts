/**
 * Which timings a merge keeps. Those of different GPU names are independent. Of two timings of one configuration at one
 * key the more telling is kept, by the order of BETTER, in which no two different timings are equal: so the order of the
 * files does not matter, and merging again changes nothing.
 */
import {
  type Timing,
  timingsAt,
  tuneCases,
  type TuneFile,
  withTimings,
} from "../../ffi/kernel/tuning/tune_file.ts";

/** A file of timings with the name that messages have for it. */
export interface Part {
  readonly path: string;
  readonly file: TuneFile;
}

/** What decides, the first where they differ: the larger number is kept. */
const BETTER: readonly ((timing: Timing) => number)[] = [
  // A known code is better than none, since tri tune skips what was timed with the code that it has.
  ({ code }) => code === "" ? 0 : 1,
  // A newer driver compiles and schedules otherwise.
  ({ driver = 0 }) => driver,
  // What ran on one machine can run; it failed on another one for other reasons.
  (timing) => "failed" in timing ? 0 : 1,
  (timing) => "failed" in timing ? 0 : timing.rounds,
  // What disturbs a measurement makes it longer.
  (timing) => "failed" in timing ? 0 : -timing.microseconds,
];

/** The better of two. */
export function betterTiming(a: Timing, b: Timing): Timing {
  for (const figure of BETTER) {
    const difference = figure(a) - figure(b);
    if (difference !== 0) return difference > 0 ? a : b;
  }
  // Failures alone come here; their texts decide, so that the order of the files does not.
  return JSON.stringify(a) <= JSON.stringify(b) ? a : b;
}

/**
 * The timings of a source with those of the parts. Parts that timed different code of one configuration were timed with
 * different sources: that is an error, whose text is returned. Timings of the source itself may be of older code; the
 * parts' replace them.
 */
export function mergeTimings(own: TuneFile, parts: readonly Part[]): TuneFile | string {
  let merged = own;
  const from = new Map<string, { readonly path: string; readonly code: string }>();
  for (const { path, file } of parts) {
    for (const { timed, timings } of tuneCases(file)) {
      const arch = merged.gpus[timed.gpu]?.arch;
      if (arch !== undefined && arch !== timed.arch) {
        return `${path}: ${timed.gpu} is ${timed.arch} there, and ${arch} in the other files`;
      }
      const known = timingsAt(merged, timed);
      const kept: Record<string, Timing> = {};
      for (const [config, timing] of Object.entries(timings)) {
        const id = JSON.stringify([timed, config]);
        const first = from.get(id);
        if (timing.code !== "") {
          if (first !== undefined && first.code !== timing.code) {
            return `${path} and ${first.path} have timings of different code for ${timed.kernel}, ${config}`;
          }
          from.set(id, { path, code: timing.code });
        }
        const other = known[config];
        const isOlder = timing.code !== "" && other !== undefined && other.code !== timing.code;
        kept[config] = other === undefined || isOlder ? timing : betterTiming(other, timing);
      }
      merged = withTimings(merged, timed, kept);
    }
  }
  return merged;
}
