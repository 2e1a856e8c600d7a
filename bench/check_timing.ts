/** What a program says of how times are taken. */
import { expectInteger } from "../ffi/arguments/numbers.ts";
import { checkOptions, optionNames } from "../ffi/arguments/options.ts";
import { expectThat, isOneOf } from "./arguments.ts";
import type { Timing } from "./timing.ts";

const TIMING_NAMES = optionNames<Timing>({
  rounds: true,
  cache: true,
  sampleMilliseconds: true,
  maxCalls: true,
  flushBytes: true,
});

/** Throws `ArgumentError` for a timing out of range. */
export function checkTiming(timing: Timing): void {
  checkOptions("timing", timing, TIMING_NAMES);
  const { rounds, cache, sampleMilliseconds, maxCalls, flushBytes } = timing;
  expectInteger("timing.rounds", rounds, 1);
  expectInteger("timing.maxCalls", maxCalls, 1);
  expectInteger("timing.flushBytes", flushBytes);
  expectThat(isOneOf(cache, ["hot", "cold"]), "timing.cache", '"hot" or "cold"', cache);
  expectThat(
    Number.isFinite(sampleMilliseconds) && sampleMilliseconds > 0,
    "timing.sampleMilliseconds",
    "a positive number",
    sampleMilliseconds,
  );
}
