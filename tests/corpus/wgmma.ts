/** Expected results of wgmma.cu. */
import { integers } from "./data.ts";
import { fromNumber, HALF, toBits } from "./small_floats.ts";
import { buffer, type CorpusCase, output } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;
const bits = (values: readonly number[]): Uint16Array<ArrayBuffer> =>
  Uint16Array.from(values, (value) => toBits(HALF, fromNumber(value)));

/** A (64 x 64) times B (32 rows of 64, transposed); `weigh` is what a step of the sum counts. */
function product(
  a: readonly number[],
  b: readonly number[],
  start: (row: number, column: number) => number,
  weigh: (k: number) => number,
): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: 64 * 32 }, (_, i) => {
    const [row, column] = [Math.floor(i / 32), i % 32];
    let sum = start(row, column);
    for (let k = 0; k < 64; k++) sum += weigh(k) * at(a, row * 64 + k) * at(b, column * 64 + k);
    return sum;
  });
}

const operands = (): [number[], number[]] => [
  integers(501, 64 * 64, -64, 64).map((value) => value / 16),
  integers(502, 32 * 64, -64, 64).map((value) => value / 16),
];

const shared: CorpusCase = {
  file: "wgmma",
  kernel: "wgmma_shared",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: "90a",
  arguments: () => {
    const [a, b] = operands();
    return [buffer(bits(a)), buffer(bits(b)), output(product(a, b, () => 0, () => 1))];
  },
};

const registers: CorpusCase = {
  file: "wgmma",
  kernel: "wgmma_registers",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: "90a",
  arguments: () => {
    const [a, b] = operands();
    // A lane's sums begin with their numbers: four for each group of eight columns.
    const start = (row: number, column: number): number =>
      4 * Math.floor(column / 8) + 2 * (Math.floor(row / 8) % 2) + column % 2;
    const weigh = (k: number): number => Math.floor(k / 16) % 2 === 1 ? -1 : 1;
    return [buffer(bits(a)), buffer(bits(b)), output(product(a, b, start, weigh))];
  },
};

export const WGMMA: readonly CorpusCase[] = [shared, registers];
