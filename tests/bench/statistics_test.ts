import fc from "../support/property.ts";
import { holm, mannWhitney, quantile, summarize } from "../../bench/statistics.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("quantile() and summarize() interpolate between samples", () => {
  assertEquals(quantile([3, 1, 2], 0.5), 2);
  assertEquals(quantile([4, 1, 2, 3], 0.5), 2.5);
  assertEquals(summarize([5, 1, 2, 3, 4]), { median: 3, low: 2, high: 4 });
  assertEquals(summarize([7]), { median: 7, low: 7, high: 7 });
  assert(Number.isNaN(summarize([]).median));
});

/** U as its definition has it: pairs in which a's sample is larger, ties counted half. */
function pairsWon(a: readonly number[], b: readonly number[]): number {
  return a.flatMap((x) => b.map((y) => x > y ? 1 : x === y ? 0.5 : 0)).reduce(
    (sum: number, won) => sum + won,
    0,
  );
}

/** All ways to choose `size` places of `count`. */
function* choices(count: number, size: number, from = 0): Generator<readonly number[]> {
  if (size === 0) yield [];
  else {
    for (let first = from; first <= count - size; first++) {
      for (const rest of choices(count, size - 1, first + 1)) yield [first, ...rest];
    }
  }
}

/** The two-sided p-value by trying every way the samples could have been dealt. */
function permutationTest(a: readonly number[], b: readonly number[]): number {
  const all = [...a, ...b];
  const middle = a.length * b.length / 2;
  const distance = Math.abs(pairsWon(a, b) - middle);
  let [count, far] = [0, 0];
  for (const chosen of choices(all.length, a.length)) {
    const left = chosen.map((index) => all[index] ?? NaN);
    const right = all.filter((_, index) => !chosen.includes(index));
    count++;
    if (Math.abs(pairsWon(left, right) - middle) >= distance) far++;
  }
  return far / count;
}

Deno.test("mannWhitney() is the share of all permutations that are as far apart, ties included", () => {
  const samples = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(samples, samples, (a, b) => {
      const [p, expected] = [mannWhitney(a, b), permutationTest(a, b)];
      assert(Math.abs(p - expected) < 1e-12, `${p} instead of ${expected}`);
    }),
    { numRuns: 150 },
  );
});

Deno.test("mannWhitney() has the critical values of printed tables", () => {
  // n = m = 5, two-sided 5 %: U of 2 is significant, U of 3 is not (Mann and Whitney's table).
  const low = [1, 2, 3, 4, 5];
  assertEquals(mannWhitney(low, [6, 7, 8, 9, 10]).toFixed(6), (2 / 252).toFixed(6));
  assert(mannWhitney(low, [3.5, 6, 7, 8, 9]) < 0.05, "U = 2");
  assert(mannWhitney(low, [2.5, 6, 7, 8, 9]) > 0.05, "U = 3");
});

Deno.test("mannWhitney() approximates for many samples what it computes for few", () => {
  const draw = (count: number, shift: number): number[] =>
    Array.from({ length: count }, (_, i) => ((i * 7919) % 1009) / 1009 + shift);
  for (const shift of [0, 0.1, 0.2, 0.3]) {
    const exact = mannWhitney(draw(30, 0), draw(30, shift));
    const more = mannWhitney(draw(31, 0), draw(30, shift));
    assert(Math.abs(exact - more) < 0.05, `${exact} and ${more}`);
  }
  const far = mannWhitney(draw(100, 0), draw(100, 5));
  assert(far > 0 && far < 1e-30, `${far}`);
  assertEquals(mannWhitney(Array(40).fill(1), Array(40).fill(1)), 1);
});

Deno.test("mannWhitney() is symmetric, and 1 where there is nothing to compare", () => {
  const samples = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });
  fc.assert(fc.property(samples, samples, (a, b) => {
    const [p, q] = [mannWhitney(a, b), mannWhitney(b, a)];
    assert(Math.abs(p - q) < 1e-9 && p > 0 && p <= 1);
  }));
  assertEquals(mannWhitney([], [1, 2]), 1);
});

Deno.test("holm() multiplies the smallest p-value by their number, the next by one less, and keeps their order", () => {
  assertEquals(holm([0.01, 0.04, 0.03, 0.005]).map((p) => p.toFixed(4)), [
    "0.0300",
    "0.0600",
    "0.0600",
    "0.0200",
  ]);
  assertEquals(holm([0.9, 0.8]), [1, 1]);
  assertEquals(holm([]), []);
});
