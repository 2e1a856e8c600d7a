/**
 * Medians, quantiles and the Mann-Whitney U test: the statistics of recorded samples. Each throws `ArgumentError` for
 * what is no list of numbers.
 */
import { expectNumbers, expectThat } from "./arguments.ts";

/** What a table says of samples. */
export interface Summary {
  /** Half of the samples are below. */
  readonly median: number;
  /** The first quartile. */
  readonly low: number;
  /** The third quartile. */
  readonly high: number;
}

/** The value below which a share `q` of the samples lies; between two samples it is interpolated. */
export function quantile(samples: readonly number[], q: number): number {
  expectNumbers("samples", samples);
  expectThat(typeof q === "number" && q >= 0 && q <= 1, "q", "a number from 0 to 1", q);
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = q * (sorted.length - 1);
  const below = sorted[Math.floor(rank)] ?? NaN;
  const above = sorted[Math.ceil(rank)] ?? NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

/** Median and quartiles; NaN of no samples. */
export function summarize(samples: readonly number[]): Summary {
  return {
    median: quantile(samples, 0.5),
    low: quantile(samples, 0.25),
    high: quantile(samples, 0.75),
  };
}

/** Above this many samples the exact distribution is no longer worth its time. */
const EXACT_SAMPLES = 60;

/**
 * How likely two sets of samples from one distribution are to differ in rank at least as much as these do, either way:
 * the p-value of the two-sided Mann-Whitney U test (Mann and Whitney, "On a test of whether one of two random variables
 * is stochastically larger than the other", 1947). Ties share the mean of their ranks. The distribution is computed
 * exactly, for more than 60 samples by its normal approximation, corrected for ties and continuity. 1 when a side is
 * empty.
 */
export function mannWhitney(a: readonly number[], b: readonly number[]): number {
  expectNumbers("a", a);
  expectNumbers("b", b);
  const total = a.length + b.length;
  if (a.length === 0 || b.length === 0) return 1;
  // Twice the ranks, which are whole numbers even where ties share a rank.
  const ranks = doubledRanks([...a, ...b]);
  const sum = ranks.slice(0, a.length).reduce((so, rank) => so + rank, 0);
  // Half of all doubled ranks, which sum up to total * (total + 1), falls to a's share of the samples.
  const mean = a.length * (total + 1);
  const distance = Math.abs(sum - mean);
  if (total <= EXACT_SAMPLES) return exactTail(ranks, a.length, mean, distance);
  const spread = ranks.reduce((so, rank) => so + (rank - (total + 1)) ** 2, 0);
  const deviation = Math.sqrt(a.length * b.length * spread / (total * (total - 1)));
  if (deviation === 0) return 1;
  // A step of U is two of doubled ranks; half a step is the correction for continuity.
  return Math.min(1, 2 * normalTail(Math.max(distance - 1, 0) / deviation));
}

function doubledRanks(values: readonly number[]): number[] {
  const sorted = values.toSorted((x, y) => x - y);
  const rankOf = new Map<number, number>();
  // A group of equal values from `first` to `last` has the mean rank (first + last) / 2, counted from 1.
  for (let first = 0; first < sorted.length;) {
    let last = first;
    while (last + 1 < sorted.length && sorted[last + 1] === sorted[first]) last++;
    rankOf.set(sorted[first] ?? NaN, first + last + 2);
    first = last + 1;
  }
  return values.map((value) => rankOf.get(value) ?? NaN);
}

/** The share of all ways to choose `size` of the ranks whose sum is at least `distance` from the mean. */
function exactTail(
  ranks: readonly number[],
  size: number,
  mean: number,
  distance: number,
): number {
  const most = ranks.reduce((so, rank) => so + rank, 0);
  // ways[k][s]: how many choices of k ranks have the sum s.
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(most + 1));
  ways[0]?.fill(1, 0, 1);
  for (const rank of ranks) {
    for (let chosen = size; chosen >= 1; chosen--) {
      const [from, to] = [ways[chosen - 1], ways[chosen]];
      if (from === undefined || to === undefined) continue;
      for (let sum = most; sum >= rank; sum--) to[sum] = (to[sum] ?? 0) + (from[sum - rank] ?? 0);
    }
  }
  let [all, far] = [0, 0];
  ways[size]?.forEach((count, sum) => {
    all += count;
    if (Math.abs(sum - mean) >= distance) far += count;
  });
  return far / all;
}

/** P(Z > z) of the standard normal distribution, by Simpson's rule: z is at least 0. */
function normalTail(z: number): number {
  if (z > 38) return 0;
  const [steps, end] = [2000, z + 12];
  const width = (end - z) / steps;
  const density = (t: number): number => Math.exp(-t * t / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(z) + density(end);
  for (let i = 1; i < steps; i++) sum += density(z + i * width) * (i % 2 === 0 ? 2 : 4);
  return sum * width / 3;
}

/**
 * p-values corrected for several tests at once (Holm, "A simple sequentially rejective multiple test
 * procedure", 1979), in the same order.
 */
export function holm(pValues: readonly number[]): number[] {
  expectNumbers("pValues", pValues);
  const order = pValues.map((p, index) => ({ p, index })).sort((x, y) => x.p - y.p);
  const corrected = new Array<number>(pValues.length);
  let largest = 0;
  order.forEach(({ p, index }, rank) => {
    largest = Math.max(largest, Math.min(1, p * (pValues.length - rank)));
    corrected[index] = largest;
  });
  return corrected;
}
