/** Expected results of async.cu. */
import { edgyWords, integers } from "./data.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

const rowSums: CorpusCase = {
  file: "async",
  kernel: "async_row_sums",
  grid: [3, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const columns = 996;
    const x = Float32Array.from(integers(301, 12 * columns, -1000, 1000));
    const sums = Float32Array.from(
      { length: 12 },
      (_, row) => x.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b, 0),
    );
    return [buffer(x), output(sums), int(columns)];
  },
};

const gather: CorpusCase = {
  file: "async",
  kernel: "async_gather",
  grid: [2, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 200;
    const x = Int32Array.from(edgyWords(302, 501));
    const index = Int32Array.from(integers(303, n, 0, 499));
    const y = index.map((from, i) => {
      const bytes = i % 5;
      const mask = bytes === 4 ? -1 : (1 << (8 * bytes)) - 1;
      return Math.imul(at(x, from), 3) + Math.imul(at(x, from + 1) & mask, 5) +
        Math.imul(at(x, from ^ 1), 7);
    });
    return [buffer(x), buffer(index), output(y), int(n)];
  },
};

const mbarrier: CorpusCase = {
  file: "async",
  kernel: "async_mbarrier",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(304, 128, -1000, 1000));
    let y = x;
    for (let round = 0; round < 5; round++) {
      const before = y;
      y = before.map((value, t) => value + at(before, (t * 5 + round + 1) & 127));
    }
    return [buffer(x), output(y)];
  },
};

const arrive: CorpusCase = {
  file: "async",
  kernel: "async_arrive",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const rounds = 9;
    const x = Int32Array.from(integers(305, 4 * 32 * rounds, -1000, 1000));
    const y = Int32Array.from({ length: 96 }, (_, t) => {
      const [warp, lane] = [1 + Math.floor(t / 32), t % 32];
      let sum = 0;
      for (let k = 0; k < rounds; k++) {
        const [px = 0, py = 0, pz = 0, pw = 0] = x.subarray(4 * (32 * k + ((lane + warp) & 31)));
        sum = Math.imul(sum, 3) + px + 2 * py - pz + (pw ^ warp);
      }
      return sum;
    });
    return [buffer(x), output(y), int(rounds)];
  },
};

export const ASYNC_COPIES: readonly CorpusCase[] = [rowSums, gather, mbarrier, arrive];
