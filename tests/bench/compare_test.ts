import { compareRecordings, DEFAULT_COMPARE } from "../../bench/compare.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { recordingOf } from "./support.ts";

/** Samples around a centre, each different. */
function around(centre: number, count = 12): number[] {
  return Array.from({ length: count }, (_, i) => centre * (1 + (i - count / 2) / 1000));
}

Deno.test("compareRecordings() distinguishes slower, faster and equal", () => {
  const before = recordingOf({ ours: { 1: around(1), 2: around(1), 3: around(1) } });
  const after = recordingOf({ ours: { 1: around(1.1), 2: around(0.9), 3: around(1) } });
  const { changes, notes } = compareRecordings(before, after);
  assertEquals(changes.map(({ x, verdict }) => [x, verdict]), [
    [1, "slower"],
    [2, "faster"],
    [3, "same"],
  ]);
  assertEquals(notes, []);
});

Deno.test("compareRecordings() takes no small change and no uncertain one for a difference", () => {
  const before = recordingOf({ ours: { 1: around(1), 2: [1, 1.2, 0.9] } });
  const after = recordingOf({ ours: { 1: around(1.01), 2: [1.3, 1.5, 1.1] } });
  const verdicts = (leastChange: number): unknown =>
    compareRecordings(before, after, { ...DEFAULT_COMPARE, leastChange }).changes
      .map(({ verdict }) => verdict);
  assertEquals(verdicts(0.02), ["same", "same"]);
  assertEquals(verdicts(0.005), ["slower", "same"], "three samples prove nothing");
});

Deno.test("compareRecordings() corrects for the number of points", () => {
  const times = (shift: number): Record<number, number[]> =>
    Object.fromEntries(Array.from({ length: 20 }, (_, x) => [x, around(x === 0 ? shift : 1, 6)]));
  const [first] = compareRecordings(
    recordingOf({ ours: times(1) }),
    recordingOf({ ours: times(1.5) }),
  ).changes;
  // 2 of the 924 ways to divide the samples into six and six are as far apart; there are 20 points.
  assert(Math.abs((first?.p ?? 0) - 20 * 2 / 924) < 1e-12);
  assertEquals(first?.verdict, "same");
});

Deno.test("compareRecordings() notes other GPUs, other caches and what only one has", () => {
  const before = recordingOf({ ours: { 1: around(1), 2: around(1) } });
  const after = recordingOf({ ours: { 1: around(1) }, torch: { 1: [1] } }, {
    device: { name: "Other GPU", arch: "sm_80", driver: "CUDA 13.0" },
    timing: { cache: "cold", rounds: 5 },
  });
  assertEquals(compareRecordings(before, after).notes, [
    "the GPU differs: Fake GPU before, Other GPU after",
    "the cache differs: hot before, cold after",
    "only before: b, ours, 2",
    "only after: b, torch, 1",
  ]);
});
