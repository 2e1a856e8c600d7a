import { measure, NoTimesError } from "../../bench/measure.ts";
import { DEFAULT_TIMING } from "../../bench/timing.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";
import { TimedDevice } from "./support.ts";

const FEW = { ...DEFAULT_TIMING, rounds: 4, flushBytes: 1000 };

Deno.test("measure() returns milliseconds per call, in the order of the contenders", () => {
  using timed = new TimedDevice();
  const [slow, fast] = [timed.kernel("slow", () => 0.5), timed.kernel("fast", () => 0.01)];
  for (const cache of ["hot", "cold"] as const) {
    const samples = measure(timed.device, [slow, fast], { ...FEW, cache });
    assertEquals(samples.map((times) => times.map((time) => Number(time.toFixed(9)))), [
      [0.5, 0.5, 0.5, 0.5],
      [0.01, 0.01, 0.01, 0.01],
    ]);
  }
});

Deno.test("measure() with a hot cache launches graphs of about the wanted time, and no more calls than allowed", () => {
  using timed = new TimedDevice();
  const calls = [["slow", 1.1], ["fast", 0.01], ["tiny", 1e-9]] as const;
  measure(timed.device, calls.map(([name, time]) => timed.kernel(name, () => time)), FEW);
  const launches = timed.driver.names().filter((name) => name === "launchGraph").length;
  assertEquals(launches, 3 * (4 + 3), "four rounds and three to warm up");
  const perGraph = (name: string): number => {
    const ran = timed.ran.filter((other) => other === name).length;
    // One call to load, three to estimate.
    return (ran - 4) / 7;
  };
  assertEquals(["slow", "fast", "tiny"].map(perGraph), [2, 200, 200]);
});

Deno.test("measure() lets contenders take turns, and each come first", () => {
  using timed = new TimedDevice();
  const calls = ["a", "b", "c"].map((name) => timed.kernel(name, () => 5));
  measure(timed.device, calls, FEW);
  // After a call to load and three to estimate for each, a graph has one call.
  const turns = timed.ran.slice(3 * 4);
  assertEquals(turns.length, 3 * 7);
  const rounds = Array.from({ length: 7 }, (_, round) => turns.slice(3 * round, 3 * round + 3));
  for (const round of rounds) assertEquals(round.toSorted(), ["a", "b", "c"]);
  assertEquals(new Set(rounds.map(([first]) => first)).size, 3);
});

Deno.test("measure() with a cold cache writes more than the cache holds before each call, outside the times", () => {
  using timed = new TimedDevice();
  measure(timed.device, [timed.kernel("a", () => 1)], { ...FEW, cache: "cold" });
  const names = timed.driver.names().filter((name) =>
    ["fill", "recordEvent", "launch"].includes(name)
  );
  // The device records an event of its own when it opens no stream; samples are what is counted here.
  const samples = names.slice(names.indexOf("fill"));
  assertEquals(
    samples,
    Array.from({ length: 7 }, () => ["fill", "recordEvent", "launch", "recordEvent"]).flat(),
  );
  assertEquals(timed.driver.calls.find(({ name }) => name === "fill")?.args[2], 1000);
});

Deno.test("measure() gives back its events, graphs and memory, also when a contender throws", () => {
  using timed = new TimedDevice();
  const count = (name: string): number =>
    timed.driver.names().filter((other) => other === name).length;
  measure(timed.device, [timed.kernel("a", () => 1)], FEW);
  assertEquals(count("destroyGraph"), 1);
  const { allocatedBytes } = timed.driver;
  const broken = (): never => {
    throw new Error("no such luck");
  };
  for (const cache of ["hot", "cold"] as const) {
    assertThrows(
      () => measure(timed.device, [timed.kernel("b", () => 1), broken], { ...FEW, cache }),
      Error,
      "no such luck",
    );
  }
  assertEquals(count("destroyEvent"), 3 * 2);
  assertEquals(count("destroyGraph"), 2);
  timed.device.trim();
  assert(timed.driver.allocatedBytes <= allocatedBytes);
});

Deno.test("measure() refuses the emulator: it has no times", () => {
  using timed = new TimedDevice("emulator");
  const error = assertThrows(() => measure(timed.device, []), NoTimesError, "it has no times");
  assertStringIncludes(error.hint ?? "", "profile: true");
});
