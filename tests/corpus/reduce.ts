/** Expected results of reduce.cu. */
import { edgyWords, integers } from "./data.ts";
import { buffer, type CorpusCase, inout, int, output } from "./types.ts";

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total = (total + value) | 0;
  return total;
};

const tree: CorpusCase = {
  file: "reduce",
  kernel: "reduce_tree",
  grid: [3, 1, 1],
  block: [256, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 5000;
    const x = Int32Array.from(edgyWords(1, n));
    const sums = Int32Array.from(
      { length: 3 },
      (_, block) => sum(x.filter((_, i) => Math.floor(i / 256) % 3 === block)),
    );
    return [buffer(x), output(sums), int(n)];
  },
};

const shuffle: CorpusCase = {
  file: "reduce",
  kernel: "reduce_shuffle",
  grid: [5, 1, 1],
  block: [224, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 1000;
    // Small whole numbers: any order of adding gives the same.
    const x = Float32Array.from(integers(2, n, -1000, 1000));
    const sums = Float32Array.from(
      { length: 5 },
      (_, block) => sum(x.subarray(224 * block, 224 * (block + 1))),
    );
    return [buffer(x), output(sums), int(n)];
  },
};

const redux: CorpusCase = {
  file: "reduce",
  kernel: "reduce_redux",
  grid: [2, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 250;
    const x = edgyWords(3, n);
    const out = new Uint32Array(64);
    for (let warp = 0; warp < 8; warp++) {
      const values = Array.from({ length: 32 }, (_, lane) => x[32 * warp + lane] ?? 0);
      const signed = values.map((value) => value | 0);
      out.set([
        sum(values),
        Math.min(...values),
        Math.max(...values),
        Math.min(...signed),
        Math.max(...signed),
        values.reduce((all, value) => all & (value | 0x10), -1),
        values.reduce((any, value) => any | (value & 0xf), 0),
        values.reduce((odd, value) => odd ^ value, 0),
      ], 8 * warp);
    }
    return [buffer(x), output(out), int(n)];
  },
};

const lastBlock: CorpusCase = {
  file: "reduce",
  kernel: "reduce_last_block",
  grid: [40, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 2500;
    const x = Int32Array.from(edgyWords(4, n));
    const part = Int32Array.from({ length: 40 }, (_, b) => sum(x.subarray(64 * b, 64 * (b + 1))));
    return [buffer(x), output(part), output(Int32Array.of(sum(x))), int(n)];
  },
};

const atomics: CorpusCase = {
  file: "reduce",
  kernel: "reduce_atomics",
  grid: [4, 1, 1],
  block: [96, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 371;
    const x = Int32Array.from(edgyWords(5, n));
    const words = Uint32Array.from(x);
    const longs = [...words].map(BigInt);
    const all = <T>(values: readonly T[], start: T, combine: (a: T, b: T) => T): T =>
      values.reduce(combine, start);
    const ints = Int32Array.of(sum(x), -sum(x), Math.min(...x, 0), Math.max(...x, 0));
    const bits = Uint32Array.of(
      Math.min(...words, 0x7fffffff),
      Math.max(...words),
      all([...words], -1, (a, b) => a & (b | 0xff00ff00)),
      all([...words], 0, (a, b) => a | (b & 0x00ff00ff)),
      all([...words], 0, (a, b) => a ^ b),
      n % 100,
      // From 0 down: 99 first.
      (100 - n % 100) % 100,
    );
    return [
      buffer(x),
      output(ints),
      inout(Uint32Array.of(0x7fffffff, 0, 0xffffffff, 0, 0, 0, 0), bits),
      output(Float32Array.of(all([...x], 0, (a, b) => a + (b & 0xff)))),
      output(Float64Array.of(all([...x], 0, (a, b) => a + b))),
      output(BigUint64Array.of(
        BigInt.asUintN(64, all([...x].map(BigInt), 0n, (a, b) => a + b)),
        all(longs, 0n, (a, b) => a > 3n * b ? a : 3n * b),
        all(longs, 0n, (a, b) => a ^ (b << 17n)),
      )),
      int(n),
    ];
  },
};

export const REDUCE: readonly CorpusCase[] = [tree, shuffle, redux, lastBlock, atomics];
