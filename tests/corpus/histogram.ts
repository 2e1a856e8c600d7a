/** Expected results of histogram.cu. */
import { integers } from "./data.ts";
import { buffer, type CorpusCase, int, output } from "./types.ts";

const shared: CorpusCase = {
  file: "histogram",
  kernel: "histogram_shared",
  grid: [3, 1, 1],
  block: [192, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Uint8Array.from(integers(21, 4001, 0, 255), (value) => value & (value >> 1));
    const bins = new Uint32Array(256);
    for (const bin of x) bins[bin] = (bins[bin] ?? 0) + 1;
    return [buffer(x), output(bins), int(x.length)];
  },
};

const match: CorpusCase = {
  file: "histogram",
  kernel: "histogram_match",
  grid: [4, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(22, 500, 0, 12));
    const bins = new Uint32Array(13);
    for (const bin of x) bins[bin] = (bins[bin] ?? 0) + 1;
    return [buffer(x), output(bins), int(x.length)];
  },
};

const compareAndSwap: CorpusCase = {
  file: "histogram",
  kernel: "histogram_cas",
  grid: [3, 1, 1],
  block: [96, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Uint8Array.from(integers(23, 280, 0, 255));
    const bins = new Uint16Array(16);
    for (const bin of x) bins[bin & 15] = (bins[bin & 15] ?? 0) + 1;
    return [buffer(x), output(bins), int(x.length)];
  },
};

export const HISTOGRAM: readonly CorpusCase[] = [shared, match, compareAndSwap];
