/** Which timings a merge keeps: the order of files and merging again change nothing. */
import { betterTiming, mergeTimings, type Part } from "../../../cli/tune/merge_timings.ts";
import {
  NO_TIMINGS,
  printTuneFile,
  type Timing,
  type TuneFile,
  withTimings,
} from "../../../ffi/kernel/tuning/tune_file.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import fc from "../../support/property.ts";

const timing = (microseconds: number, more: Partial<Timing> = {}): Timing => ({
  microseconds,
  rounds: 9,
  code: "a",
  ...more,
});

const part = (path: string, config: string, one: Timing, gpu = "G", arch = "sm_90"): Part => ({
  path,
  file: withTimings(NO_TIMINGS, {
    gpu,
    arch,
    kernel: "f",
    variant: "default",
    specialization: "general",
    key: "N=4",
  }, { [config]: one }),
});

function merged(own: TuneFile, parts: readonly Part[]): TuneFile {
  const file = mergeTimings(own, parts);
  if (typeof file === "string") throw new Error(file);
  return file;
}

Deno.test("Of two timings the one of a newer driver is kept, then what ran, more rounds, less time", () => {
  const steps: readonly Timing[] = [
    timing(1, { code: "" }),
    { failed: "x", code: "a" },
    timing(1, { rounds: 3 }),
    timing(9),
    timing(8),
    { failed: "x", code: "a", driver: 12000 },
    timing(9, { driver: 12000 }),
    timing(9, { driver: 13000 }),
  ];
  for (const [at, worse] of steps.entries()) {
    for (const better of steps.slice(at + 1)) {
      assertEquals([betterTiming(worse, better), betterTiming(better, worse)], [better, better]);
    }
  }
});

Deno.test("The order of files does not matter, and merging again changes nothing", () => {
  const timings = fc.oneof(
    fc.record({
      microseconds: fc.integer({ min: 1, max: 3 }),
      rounds: fc.constantFrom(3, 9),
      code: fc.constantFrom("", "a"),
      driver: fc.constantFrom(12000, 13000),
    }),
    fc.record({ failed: fc.constantFrom("x", "y"), code: fc.constantFrom("", "a") }),
  );
  const parts = fc.array(
    fc.tuple(fc.constantFrom("TM=1", "TM=2"), timings, fc.constantFrom("G", "H")),
    { maxLength: 6 },
  ).map((list) => list.map(([config, one, gpu], i) => part(`${i}.json`, config, one, gpu)));
  fc.assert(fc.property(parts, (list) => {
    const file = merged(NO_TIMINGS, list);
    assertEquals(printTuneFile(merged(NO_TIMINGS, list.toReversed())), printTuneFile(file));
    assertEquals(printTuneFile(merged(file, list)), printTuneFile(file));
  }));
});

Deno.test("Timings of other code replace those beside the source, and are an error between two files", () => {
  const old = part("own", "TM=1", timing(1, { code: "old" })).file;
  const fresh = part("A.json", "TM=1", timing(5));
  assertEquals(merged(old, [fresh]), fresh.file);
  const error = mergeTimings(old, [fresh, part("B.json", "TM=1", timing(5, { code: "b" }))]);
  assert(typeof error === "string");
  assertStringIncludes(error, "B.json and A.json have timings of different code for f, TM=1");
  const arch = mergeTimings(old, [part("A.json", "TM=2", timing(1), "G", "sm_80")]);
  assertEquals(arch, "A.json: G is sm_80 there, and sm_90 in the other files");
});
