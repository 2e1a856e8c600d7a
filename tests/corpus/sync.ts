/** Expected results of sync.cu. */
import { edgyWords, integers } from "./data.ts";
import { buffer, type CorpusCase, inout, int, output } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;
const bit = (truth: boolean): number => truth ? 1 : 0;

/** The lanes for which something holds. */
const lanesOf = (
  values: ArrayLike<number>,
  holds: (value: number, lane: number) => boolean,
): number =>
  Array.from(values).reduce((mask, value, lane) => mask | (bit(holds(value, lane)) << lane), 0);

const votes: CorpusCase = {
  file: "sync",
  kernel: "sync_votes",
  grid: [4, 1, 1],
  block: [96, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(61, 4 * 96, -92, 97));
    const out = new Int32Array(6 * x.length);
    x.forEach((_, i) => {
      const block = x.subarray(96 * Math.floor(i / 96)).subarray(0, 96);
      const warp = x.subarray(32 * Math.floor(i / 32)).subarray(0, 32);
      out.set([
        block.filter((value) => value > 0).length,
        bit(block.every((value) => value > -90)),
        bit(block.some((value) => value > 95)),
        lanesOf(warp, (value) => (value & 1) === 1),
        bit(warp.every((value) => value > -50)),
        bit(warp.some((value) => value > 80)),
      ], 6 * i);
    });
    return [buffer(x), output(out)];
  },
};

const popcount = (mask: number): number => {
  let count = 0;
  for (let lane = 0; lane < 32; lane++) count += (mask >>> lane) & 1;
  return count;
};

const partial: CorpusCase = {
  file: "sync",
  kernel: "sync_partial",
  grid: [2, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(edgyWords(62, 128));
    const out = new Uint32Array(128);
    for (let warp = 0; warp < 4; warp++) {
      const values = Array.from(x.subarray(32 * warp, 32 * warp + 32), (value) => value & 7);
      for (let round = 0; round < 8; round++) {
        const mask = lanesOf(values, (value) => value > round);
        if (mask === 0) break;
        const leader = 31 - Math.clz32(mask & -mask);
        const inside = values.filter((_, lane) => ((mask >>> lane) & 1) === 1);
        const same = inside.every((value) => value >> 2 === at(inside, 0) >> 2);
        values.forEach((value, lane) => {
          if (((mask >>> lane) & 1) === 0) return;
          const i = 32 * warp + lane;
          let result = Math.imul(at(out, i), 33) + popcount(mask);
          result += at(values, leader) * 5 + round;
          result ^= lanesOf(values, (other, l) => ((mask >>> l) & 1) === 1 && other === value);
          result += same ? mask + 7 : 0;
          out[i] = result;
        });
      }
    }
    return [buffer(x), output(out)];
  },
};

const shuffles: CorpusCase = {
  file: "sync",
  kernel: "sync_shuffles",
  grid: [1, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const x = edgyWords(63, 64);
    const out = new Uint32Array(8 * 64);
    for (let i = 0; i < 64; i++) {
      const lane = i & 31;
      const from = (source: number): number => at(x, (i & 32) + source);
      /** A source outside of the lane's segment leaves the lane its own value. */
      const within = (width: number, source: number): number =>
        Math.floor(source / width) === Math.floor(lane / width) ? from(source) : at(x, i);
      out.set([
        from((lane * 7 + 3) & 31),
        within(32, lane - 5),
        within(32, lane + 9),
        from(lane ^ 21),
        from((lane & ~7) | ((lane + 3) & 7)),
        within(16, lane - 3),
        within(4, lane + 2),
        from(lane ^ 1),
      ], 8 * i);
    }
    return [buffer(x), output(out)];
  },
};

const named: CorpusCase = {
  file: "sync",
  kernel: "sync_named",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const rounds = 7;
    const x = Int32Array.from(integers(64, 64 * rounds, -10000, 10000));
    const y = x.map((_, i) => {
      const k = Math.floor(i / 64);
      return at(x, 64 * k + 63 - i % 64) * 3 + k;
    });
    return [buffer(x), output(y), int(rounds)];
  },
};

const lock: CorpusCase = {
  file: "sync",
  kernel: "sync_lock",
  grid: [12, 1, 1],
  block: [32, 1, 1],
  sm: 80,
  arguments: () => {
    const total = 12 * 5;
    const log = Int32Array.from({ length: total }, (_, i) => 1 + i);
    return [output(Int32Array.of(total)), output(log), int(5)];
  },
};

const wholeGrid: CorpusCase = {
  file: "sync",
  kernel: "sync_grid",
  grid: [9, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const data = Int32Array.from(integers(65, 9, -100, 100));
    let after = data.slice();
    for (let round = 0; round < 4; round++) after = after.map((_, b) => at(after, (b + 8) % 9) + b);
    return [inout(data, after), output(Int32Array.of(4 * 2 * 9))];
  },
};

export const SYNC: readonly CorpusCase[] = [votes, partial, shuffles, named, lock, wholeGrid];
