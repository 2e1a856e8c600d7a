/** Expected results of sort.cu. */
import { edgyWords, integers, randomWords } from "./data.ts";
import { type CorpusCase, inout, int } from "./types.ts";

const bitonic: CorpusCase = {
  file: "sort",
  kernel: "sort_bitonic",
  grid: [2, 1, 1],
  block: [256, 1, 1],
  sm: 80,
  arguments: () => {
    // All keys differ, so that there is one order.
    const next = randomWords(31);
    const keys = Int32Array.from({ length: 1024 }, (_, i) => (next() << 10) | i);
    const values = Int32Array.from(keys, (key) => key ^ 0x5a5a);
    const sorted = new Int32Array(1024);
    for (const half of [0, 512]) sorted.set(keys.slice(half, half + 512).sort(), half);
    return [inout(keys, sorted), inout(values, sorted.map((key) => key ^ 0x5a5a))];
  },
};

const warp: CorpusCase = {
  file: "sort",
  kernel: "sort_warp",
  grid: [1, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Float32Array.from(integers(32, 50, -100000, 100000), (value) => value / 8);
    const sorted = new Float32Array(50);
    for (const from of [0, 32]) sorted.set(x.slice(from, from + 32).sort(), from);
    return [inout(x, sorted), int(50)];
  },
};

const oddEven: CorpusCase = {
  file: "sort",
  kernel: "sort_odd_even",
  grid: [1, 1, 1],
  block: [64, 1, 1],
  sharedBytes: 2 * 127,
  sm: 80,
  arguments: () => {
    const x = Int16Array.from(edgyWords(33, 127));
    return [inout(x, x.slice().sort()), int(127)];
  },
};

export const SORT: readonly CorpusCase[] = [bitonic, warp, oddEven];
