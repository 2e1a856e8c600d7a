/** Expected results of undefined.cu and blocks.cu, and the kernels of undefined_bugs.cu. */
import { integers } from "./data.ts";
import { type Argument, buffer, type CorpusCase, inout, int, output } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

/** Optimised, and as for a debugger. */
const BUILDS = ["undefined", "undefined_debug"] as const;

function undefinedCase(
  kernel: string,
  threads: number,
  args: () => readonly Argument[],
): CorpusCase[] {
  return BUILDS.map((file): CorpusCase => ({
    file,
    kernel: `undefined_${kernel}`,
    grid: [1, 1, 1],
    block: [threads, 1, 1],
    sm: 80,
    arguments: args,
  }));
}

/** Positive numbers in their order: one warp adds them at once. */
const filters = ["active", "ballot", "group"].flatMap((kernel, i) =>
  undefinedCase(kernel, 32, () => {
    const x = Int32Array.from(integers(71 + i, 29, -50, 50));
    const kept = x.filter((value) => value > 0);
    const expected = new Int32Array(32);
    expected.set(kept);
    return [output(expected), output(Int32Array.of(kept.length)), buffer(x), int(29)];
  })
);

const own = (count: number): Int32Array<ArrayBuffer> =>
  Int32Array.from(integers(81, count, -100, 100));

const empty = undefinedCase("empty", 64, () => {
  const x = own(60);
  return [output(x.map((value) => 2 * value + 1)), buffer(x), int(60)];
});

const padding = undefinedCase("padding", 64, () => {
  const x = own(64);
  const bytes = new Uint8Array(16 * 60);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 60; i++) {
    const value = at(x, 59 - i);
    view.setInt8(16 * i, value);
    view.setInt32(16 * i + 4, 2 * value, true);
    view.setFloat64(16 * i + 8, 0.5 * value, true);
  }
  return [output(bytes), buffer(x), int(60)];
});

const fields = undefinedCase("fields", 64, () => {
  const x = own(64);
  return [output(x.map((value) => (value & 7) + 7 + (3 * value & 511))), buffer(x)];
});

const tail = undefinedCase("tail", 64, () => {
  const x = own(50);
  const sums = Int32Array.from(x);
  for (let i = 0; i < 50; i++) if (i % 32 > 0) sums[i] = at(sums, i) + at(sums, i - 1);
  const next = sums.map((sum, i) => i % 32 === 31 || i === 49 ? sum : at(sums, i + 1));
  return [output(next), buffer(x), int(50)];
});

function block(
  kernel: string,
  count: number,
  expected: (x: Int32Array<ArrayBuffer>) => Int32Array<ArrayBuffer>,
  ...rest: readonly Argument[]
): CorpusCase {
  return {
    file: "blocks",
    kernel: `blocks_${kernel}`,
    grid: [1, 1, 1],
    block: [64, 1, 1],
    sm: 80,
    arguments: () => {
      const x = Int32Array.from(integers(91, count, 0, 999));
      return [inout(x, expected(x)), ...rest];
    },
  };
}

const sum = (values: Int32Array): number => values.reduce((total, value) => total + value, 0);

const sortSome: CorpusCase = {
  ...block("merge_sort_some", 201, (x) => x.toSorted()),
  arguments: () => {
    const x = Int32Array.from(integers(92, 201, 0, 999));
    return [inout(x, x.toSorted()), inout(Int32Array.from(x), x.toSorted()), int(201)];
  },
};

const blocks: readonly CorpusCase[] = [
  block("merge_sort", 192, (x) => x.toSorted()),
  sortSome,
  block(
    "warp_merge_sort",
    256,
    (x) => Int32Array.of(...x.slice(0, 128).toSorted(), ...x.slice(128).toSorted()),
  ),
  block("radix_sort", 256, (x) => x.toSorted()),
  block("scan", 192, (x) => x.map((_, i) => sum(x.slice(0, i)) + sum(x))),
  block("reduce", 50, (x) => x.with(0, sum(x)), int(50)),
  block("load_store", 201, (x) => x.map((value) => 2 * value + 1), int(201)),
  block("exchange", 320, (x) => x.map((_, i) => at(x, (i % 5) * 64 + Math.floor(i / 5)))),
];

export const UNDEFINED: readonly CorpusCase[] = [
  ...filters,
  ...empty,
  ...padding,
  ...fields,
  ...tail,
  ...blocks,
];
