/** Expected results of scan.cu. */
import { edgyLongs, edgyWords } from "./data.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

const shared: CorpusCase = {
  file: "scan",
  kernel: "scan_shared",
  grid: [3, 1, 1],
  block: [256, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 700;
    const x = Int32Array.from(edgyWords(11, n));
    const y = new Int32Array(n);
    for (let i = 0; i < n; i++) y[i] = (i % 256 === 0 ? 0 : y[i - 1] ?? 0) + (x[i] ?? 0);
    return [buffer(x), output(y), int(n)];
  },
};

const shuffle: CorpusCase = {
  file: "scan",
  kernel: "scan_shuffle",
  grid: [2, 1, 1],
  block: [256, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 480;
    const x = BigInt64Array.from(
      edgyLongs(12, n).map((v) => BigInt.asUintN(64, v)),
      (v) => BigInt.asIntN(64, v),
    );
    const y = new BigInt64Array(n);
    for (let i = 0; i < n; i++) y[i] = (i % 256 === 0 ? 0n : y[i - 1] ?? 0n) + (x[i] ?? 0n);
    return [buffer(x), output(y), int(n)];
  },
};

const lookBack: CorpusCase = {
  file: "scan",
  kernel: "scan_look_back",
  grid: [24, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 3000;
    const x = Int32Array.from(edgyWords(13, n));
    const y = new Int32Array(n);
    for (let i = 0; i < n; i++) y[i] = (y[i - 1] ?? 0) + (x[i] ?? 0);
    const states = BigUint64Array.from({ length: 24 }, (_, block) => {
      const last = y[Math.min(n, 128 * (block + 1)) - 1] ?? 0;
      return (2n << 32n) | BigInt(last >>> 0);
    });
    return [buffer(x), output(y), output(Uint32Array.of(24)), output(states), int(n)];
  },
};

export const SCAN: readonly CorpusCase[] = [shared, shuffle, lookBack];
