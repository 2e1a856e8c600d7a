/** Every function that the module exports, with values of other kinds for each argument. */
import * as bench from "../../bench/mod.ts";
import { TriError } from "../../ffi/errors.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { recordingOf, TimedDevice } from "./support.ts";

const FILE = new URL("file:///nowhere/recording.json");

/** Right arguments of each function. */
function rightCalls(timed: TimedDevice): Readonly<Record<string, readonly unknown[]>> {
  const recording = recordingOf({ a: { 1: [1, 2] } });
  const definition = {
    name: "b",
    title: "B",
    x: { names: ["N"], values: [1] },
    measure: { unit: "ms" },
    inputs: () => ({}),
    lines: { a: { label: "A", prepare: () => undefined } },
  } as const;
  return {
    addLines: [recording, recording],
    benchmark: [definition],
    compareRecordings: [recording, recording, bench.DEFAULT_COMPARE],
    describeDevice: [timed.device],
    holm: [[0.5]],
    isBenchmark: [definition],
    mannWhitney: [[1, 2], [3]],
    measure: [timed.device, [], bench.DEFAULT_TIMING],
    parseRecording: [bench.printRecording(recording), "recording.json"],
    printRecording: [recording],
    quantile: [[1, 2], 0.5],
    readRecording: [FILE],
    recordedLine: [{ file: FILE, benchmark: "b", line: "a", label: "A" }],
    roundSample: [1],
    runBenchmark: [bench.benchmark(definition), timed.device, { timing: bench.DEFAULT_TIMING }],
    summarize: [[1, 2]],
    valueOf: ["ms", 1, 1],
    workOf: [{ unit: "ms" }, 1],
  };
}

/** No function takes one of these anywhere, but for those that take anything. */
const WRONG: readonly unknown[] = [
  null,
  true,
  1n,
  Symbol("s"),
  "constructor",
  [Symbol("s")],
  ["1"],
  { wrong: 1 },
  () => 1,
  new Proxy(new Date(0), {}),
  new URL("https://localhost/"),
  new Date(0),
];

const TAKES_ANYTHING: ReadonlySet<string> = new Set([
  "isBenchmark 0",
  "parseRecording 1",
  "workOf 1",
]);

Deno.test("every function of bench refuses values of another kind by a TriError", async () => {
  using timed = new TimedDevice();
  const functions: Readonly<Record<string, unknown>> = bench;
  const calls = rightCalls(timed);
  for (const [name, right] of Object.entries(calls)) {
    const call = functions[name];
    assert(typeof call === "function", name);
    for (let index = 0; index < right.length; index++) {
      for (const wrong of WRONG) {
        const what = `${name}, argument ${index} of type ${typeof wrong}`;
        try {
          await Reflect.apply(call, undefined, right.with(index, wrong));
          assert(TAKES_ANYTHING.has(`${name} ${index}`), `${what}: not refused`);
        } catch (error) {
          assert(
            error instanceof TriError,
            `${what}: ${error instanceof Error ? error.stack : ""}`,
          );
        }
      }
    }
  }
});

Deno.test("rightCalls() has every function that bench exports", () => {
  using timed = new TimedDevice();
  const functions = Object.entries(bench).flatMap(([name, value]) =>
    typeof value === "function" && /^[a-z]/.test(name) ? [name] : []
  );
  assertEquals(Object.keys(rightCalls(timed)), functions.toSorted());
});
