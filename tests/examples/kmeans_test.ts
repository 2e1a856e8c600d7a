/** k-means against Lloyd's algorithm in double precision, on points whose nearest centres are never in doubt. */
import { Device } from "../../ffi/mod.ts";
import { kMeans } from "../../examples/kmeans/kmeans.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(2);

/** Clouds of diameter 1 around the points of a grid with steps of 8, which the centres start near. */
function clouds(
  count: number,
  dimensions: number,
  k: number,
): { points: number[][]; start: number[][] } {
  const random = freshRandom();
  const middles = Array.from(
    { length: k },
    (_, i) =>
      Array.from(
        { length: dimensions },
        (_, d) => d < 2 ? 8 * (d === 0 ? i % 7 : Math.floor(i / 7)) : 0,
      ),
  );
  const near = (i: number): number[] =>
    must(middles[i % k], "middle").map((x) =>
      Math.fround(x + random.unit() / Math.sqrt(dimensions) - 0.3)
    );
  return {
    points: Array.from({ length: count }, (_, i) => near(i)),
    start: middles.map((_, i) => near(i)),
  };
}

for (const [count, dimensions, k] of [[131, 3, 37], [64, 17, 2], [5, 1, 1]] as const) {
  test(`kMeans() finds ${k} clouds of ${count} points in ${dimensions} dimensions`, async () => {
    using device = Device.open({ device: "emulator", workers: 1 });
    const { points, start } = clouds(count, dimensions, k);
    using x = device.tensor(Float32Array.from(points.flat()), [count, dimensions]);
    using first = device.tensor(Float32Array.from(start.flat()), [k, dimensions]);
    const { centres, labels, inertia } = await kMeans(x, first);
    assertEquals(numbersOf(labels), points.map((_, i) => i % k));
    const found = numbersOf(centres);
    let expected = 0;
    for (let c = 0; c < k; c++) {
      const members = points.filter((_, i) => i % k === c);
      for (let d = 0; d < dimensions; d++) {
        const mean = members.length === 0
          ? must(start[c]?.[d], "start")
          : members.reduce((sum, point) => sum + must(point[d], "coordinate"), 0) / members.length;
        const value = must(found[c * dimensions + d], "centre");
        assert(Math.abs(value - mean) < 1e-4, `centre ${c}, ${d}: ${value}, not ${mean}`);
        expected += members.reduce(
          (sum, point) => sum + (must(point[d], "coordinate") - mean) ** 2,
          0,
        );
      }
    }
    // Squares of distances are differences of numbers of up to 48² * 2, in float.
    assert(
      Math.abs(inertia - expected) < count * 48 ** 2 * 2 ** -20,
      `inertia ${inertia}, not ${expected}`,
    );
    centres.dispose();
    labels.dispose();
  });
}

Deno.test("kMeans() leaves a centre without points where it was, and counts its rounds", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  using x = device.tensor(Float32Array.of(0, 1), [2, 1]);
  using start = device.tensor(Float32Array.of(0.25, 100), [2, 1]);
  const { centres, labels, rounds } = await kMeans(x, start, { maxRounds: 9 });
  assertEquals([numbersOf(centres), numbersOf(labels), rounds], [[0.5, 100], [0, 0], 3]);
  centres.dispose();
  labels.dispose();
});
