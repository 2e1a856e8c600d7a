/** Expected results of library.cu. */
import { integers } from "./data.ts";
import { buffer, type CorpusCase, type Data, inout, int, output } from "./types.ts";

const FILE = "library";
const SLOTS = 16;

/** What the first operations give, the variable having been `start`; it is 12 afterwards. */
const common = (start: number): number[] => [
  start,
  start + 1,
  start + 3,
  start + 2,
  start + 5,
  start + 9,
  7,
  9,
  11,
  12,
];
/** The same of operations on bits and extremes, from 12 to 100. */
const BITS = [12, 12, 15, 10, 2, 100];

function atomics<T extends Data>(
  name: string,
  threads: number,
  more: readonly number[],
  of: (values: readonly number[]) => T,
): CorpusCase {
  return {
    file: FILE,
    kernel: `library_atomics_${name}`,
    grid: [1, 1, 1],
    block: [threads, 1, 1],
    sm: 80,
    arguments: () => {
      const start = integers(71, threads, 0, 1000);
      const results = start.flatMap((value) => {
        const all = [...common(value), ...more];
        return [...all, ...Array.from({ length: SLOTS - all.length }, () => 0)];
      });
      const last = start.map(() => more.at(-1) ?? 12);
      return [inout(of(start), of(last)), output(of(results))];
    },
  };
}

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

const barrier: CorpusCase = {
  file: FILE,
  kernel: "library_barrier",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(72, 128, -100, 100));
    let y = x.slice();
    for (let k = 0; k < 3; k++) y = y.map((_, i) => 3 * at(y, 127 - i) + k);
    return [buffer(x), output(y)];
  },
};

const pipeline: CorpusCase = {
  file: FILE,
  kernel: "library_pipeline",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const rows = 7;
    const x = Int32Array.from(integers(73, 128 * rows, -1000, 1000));
    const y = new Int32Array(128);
    x.forEach((value, i) => {
      y[127 - i % 128] = at(y, 127 - i % 128) + value;
    });
    return [buffer(x), output(y), int(rows)];
  },
};

const groups: CorpusCase = {
  file: FILE,
  kernel: "library_groups",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = integers(74, 128, -1000, 1000);
    const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
    const y = x.flatMap((value, i) => {
      const tile = x.slice(i & ~15, (i & ~15) + 16);
      const warp = x.slice(i & ~31, (i & ~31) + 32).map((other) => (other & 1) === 1);
      const before = warp.slice(0, i & 31).filter((isOdd) => isOdd).length;
      return [
        sum(tile),
        sum(tile.slice(0, (i & 15) + 1)),
        Math.max(...x.slice(i & ~63, (i & ~63) + 64)),
        (value & 1) === 1 ? warp.filter((isOdd) => isOdd).length * 100 + before : 0,
      ];
    });
    return [buffer(Int32Array.from(x)), output(Int32Array.from(y))];
  },
};

export const LIBRARY: readonly CorpusCase[] = [
  atomics("i32", 96, BITS, (values) => Int32Array.from(values)),
  atomics("u64", 96, BITS, (values) => BigUint64Array.from(values.map(BigInt))),
  atomics("f32", 64, [], (values) => Float32Array.from(values)),
  barrier,
  pipeline,
  groups,
];
