import type { DeviceInfo } from "../../../../ffi/driver.ts";
import { Choice } from "../../../../ffi/kernel/tuning/choice.ts";
import { defineKernel } from "../../../../ffi/kernel/define.ts";
import { farTiming, type Lookup } from "../../../../ffi/kernel/tuning/far_timing.ts";
import type { KernelFacts, MeasuredFacts } from "../../../../ffi/kernel/facts/facts.ts";
import { ArgumentError, type Device } from "../../../../ffi/mod.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../../support/assert.ts";
import fc from "../../../support/property.ts";
import { fakeGpu } from "../support.ts";

function deviceInfo(name: string, arch: string): DeviceInfo {
  return {
    ordinal: 0,
    kind: "gpu",
    name,
    arch,
    sm: Number(arch.slice(3)),
    multiprocessors: 1,
    memoryBytes: 1,
    maxThreadsPerBlock: 1024,
    maxSharedBytes: 1,
    maxGrid: [1, 1, 1],
    driverVersion: 0,
  };
}

const H200 = deviceInfo("NVIDIA H200", "sm_90");

/** Microseconds of a, b and c where one of them is the fastest. */
const best = (index: number): readonly number[] => [0, 1, 2].map((i) => i === index ? 1 : 2);

type Model = { readonly blocks: (n: number) => number; readonly clocks: (m: number) => number };

/** Three configurations; `models` are over N and M. */
function choiceOf(
  measured: readonly MeasuredFacts[],
  models: readonly Model[] = [],
  notice: (lookup: Lookup) => void = () => {},
): Choice<"M" | "N", string> {
  return new Choice(
    ["M", "N"],
    ["a", "b", "c"],
    {
      specialization: "general",
      instances: ["a", "b", "c"].map((symbol, i) => {
        const model = models[i];
        return {
          symbol,
          config: symbol,
          ...(model === undefined ? {} : {
            cost: {
              blocks: { text: "blocks", value: ({ N }: { N: number }) => model.blocks(N) },
              clocks: { text: "clocks", value: ({ M }: { M: number }) => model.clocks(M) },
            },
          }),
        };
      }),
      measured,
    },
    "f",
    notice,
  );
}

const TABLE: MeasuredFacts = {
  gpu: "NVIDIA H200",
  arch: "sm_90",
  points: [
    { at: [256, 256], microseconds: best(1) },
    { at: [4096, 4096], microseconds: best(2) },
    { at: [4096, 16], microseconds: best(0) },
  ],
};

Deno.test("Choice.pick() takes what was fastest for just this key", () => {
  const choice = choiceOf([TABLE]);
  assertEquals(choice.pick({ M: 256, N: 256 }, H200, "sm_90"), "b");
  assertEquals(choice.pick({ M: 4096, N: 4096 }, H200, "sm_90"), "c");
  assertEquals(choice.pick({ M: 4096, N: 16 }, H200, "sm_90"), "a");
});

Deno.test("Choice.pick() without models takes the key with the smallest sum of |log2| of ratios, of equals the first", () => {
  const choice = choiceOf([TABLE]);
  assertEquals(choice.pick({ M: 512, N: 300 }, H200, "sm_90"), "b");
  assertEquals(choice.pick({ M: 1 << 20, N: 1 << 20 }, H200, "sm_90"), "c");
  // Two octaves from either along both.
  assertEquals(choice.pick({ M: 1024, N: 1024 }, H200, "sm_90"), "b");
  assertEquals(choice.pick({ M: 1025, N: 1024 }, H200, "sm_90"), "c");
  assertEquals(choice.pick({ M: 0, N: 0 }, H200, "sm_90"), "b");
});

Deno.test("Choice.pick() distinguishes true from false", () => {
  // N is true or false; the nearest of equal truth is as near along M as the other one.
  const points = [
    { at: [1024, 0], microseconds: best(0) },
    { at: [1024, 1], microseconds: best(1) },
    { at: [4096, 1], microseconds: best(2) },
  ];
  const lines: (string | undefined)[] = [];
  const measured = [{ gpu: "NVIDIA H200", arch: "sm_90", points }];
  const choice = choiceOf(measured, [], (lookup) => lines.push(farTiming(lookup)));
  const picked = [[1024, 0], [1024, 1], [1200, 0], [1200, 1], [4096, 1], [3000, 0]].map((
    [M = 0, N = 0],
  ) => choice.pick({ M, N }, H200, "sm_90"));
  assertEquals(picked, ["a", "b", "a", "b", "c", "c"]);
  // The other truth is no far size.
  assertEquals(lines, [undefined, undefined, undefined]);
});

Deno.test("A timing more than a factor of two away in a parameter is a line with both sizes", () => {
  const lines: (string | undefined)[] = [];
  const choice = choiceOf([TABLE], [], (lookup) => lines.push(farTiming(lookup)));
  for (const M of [256, 257, 512, 513]) choice.pick({ M, N: 256 }, H200, "sm_90");
  assertEquals(lines, [
    undefined,
    undefined,
    "tri: f with M=513, N=256: the nearest timing on NVIDIA H200 is for M=256, N=256, a factor of 2 away. " +
    "tri tune --size M=513,N=256 times this size; TRI_TUNE_NOTICE=off hides this line.",
  ]);
});

/** Tiles of 32, 64 and 128 columns; two of 32 cost as much as one of 64 and a third more than half of one of 128. */
const TILES: readonly Model[] = [
  { blocks: (n) => Math.ceil(n / 32), clocks: (m) => 10 + 2 * m },
  { blocks: (n) => Math.ceil(n / 64), clocks: (m) => 10 + 3 * m },
  { blocks: (n) => Math.ceil(n / 128), clocks: (m) => 10 + 4 * m },
];
const MANY: DeviceInfo = { ...deviceInfo("NVIDIA H200", "sm_90"), multiprocessors: 8 };

Deno.test("Choice.pick() without timings takes the least of turns times clocks", () => {
  const choice = choiceOf([], TILES);
  // Blocks for all multiprocessors: a few columns want narrow tiles, many want wide ones.
  assertEquals(choice.pick({ M: 100, N: 1 }, MANY, "sm_90"), "a");
  assertEquals(choice.pick({ M: 100, N: 256 }, MANY, "sm_90"), "a");
  assertEquals(choice.pick({ M: 100, N: 512 }, MANY, "sm_90"), "b");
  assertEquals(choice.pick({ M: 100, N: 1024 }, MANY, "sm_90"), "c");
  assertEquals(choice.pick({ M: 100, N: 1 << 20 }, MANY, "sm_90"), "c");
  assertEquals(choice.pick({ M: 0, N: 0 }, MANY, "sm_90"), "a");
});

Deno.test("Choice.pick() does not ask again for sizes that come in turn", () => {
  let asked = 0;
  const counted = TILES.map((tile) => ({
    ...tile,
    blocks: (n: number) => (asked++, tile.blocks(n)),
  }));
  const choice = choiceOf([], counted);
  const sizes = [1, 512, 1024, 256, 2048, 3].map((N) => ({ M: 100, N }));
  const round = (): (string | undefined)[] => sizes.map((size) => choice.pick(size, MANY, "sm_90"));
  const first = round();
  const before = asked;
  assertEquals([round(), round(), asked], [first, first, before]);
  // Nine sizes are more than it keeps; the answers are the same.
  for (const N of [4, 5, 6]) choice.pick({ M: 100, N }, MANY, "sm_90");
  assertEquals(round(), first);
});

Deno.test("Choice.pick() scales timings by the model, so that far keys go by it and measured ones do not", () => {
  // At this key c is the slowest, which the model would not say.
  const point = { at: [100, 1024], microseconds: [10, 11, 12] };
  const choice = choiceOf([{ ...TABLE, points: [point] }], TILES);
  assertEquals(choice.pick({ M: 100, N: 1024 }, MANY, "sm_90"), "a");
  assertEquals(choice.pick({ M: 101, N: 1024 }, MANY, "sm_90"), "a");
  // 64 times as wide: all cost 64 times as much, or less by what the last turn had left.
  assertEquals(choice.pick({ M: 100, N: 65536 }, MANY, "sm_90"), "a");
  // A few columns: turns of a become 1 of 4, of b 1 of 2, of c none are saved.
  assertEquals(choice.pick({ M: 100, N: 64 }, MANY, "sm_90"), "a");
  const wide = choiceOf([{
    ...TABLE,
    points: [{ at: [100, 1024], microseconds: [14, 12, 10] }],
  }], TILES);
  assertEquals(wide.pick({ M: 100, N: 1024 }, MANY, "sm_90"), "c");
  assertEquals(wide.pick({ M: 100, N: 64 }, MANY, "sm_90"), "a");
});

Deno.test("Choice.pick() compares what was not timed at a key with the fastest there by the model", () => {
  const point = { at: [100, 1024], microseconds: [null, 10, null] };
  const choice = choiceOf([{ ...TABLE, points: [point] }], TILES);
  assertEquals(choice.pick({ M: 100, N: 1024 }, MANY, "sm_90"), "b");
  assertEquals(choice.pick({ M: 100, N: 4096 }, MANY, "sm_90"), "c");
  assertEquals(choice.pick({ M: 100, N: 32 }, MANY, "sm_90"), "a");
});

Deno.test("Choice.pick() ignores a model that cannot count", () => {
  const none = (): number => {
    throw new RangeError("division by zero");
  };
  const choice = choiceOf([TABLE], [...TILES.slice(1), { blocks: none, clocks: none }]);
  assertEquals(choice.pick({ M: 300, N: 256 }, MANY, "sm_90"), "b");
  assertEquals(
    choiceOf([], [{ blocks: none, clocks: none }]).pick({ M: 1, N: 1 }, MANY, "sm_90"),
    "a",
  );
});

Deno.test("Choice.pick() agrees with the definition on random tables", () => {
  const size = fc.integer({ min: 0, max: 1 << 16 });
  const points = fc.array(
    fc.record({ at: fc.tuple(size, size), best: fc.integer({ min: 0, max: 2 }) }),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(fc.property(points, size, size, (points, M, N) => {
    const distance = ({ at }: { at: readonly number[] }): number =>
      [M, N].reduce((sum, value, axis) =>
        sum +
        Math.abs(Math.log2(Math.max(value, 0.5)) - Math.log2(Math.max(at[axis] ?? 0, 0.5))), 0);
    const least = Math.min(...points.map(distance));
    const nearest = points.find((point) => distance(point) === least);
    const table = points.map(({ at, best: index }) => ({ at, microseconds: best(index) }));
    const choice = choiceOf([{ ...TABLE, points: table }]);
    const expected = ["a", "b", "c"][nearest?.best ?? 0];
    assertEquals(choice.pick({ M, N }, H200, "sm_90"), expected);
    // The next launch has the same sizes.
    assertEquals(choice.pick({ M, N }, H200, "sm_90"), expected);
  }));
});

Deno.test("Choice.pick() uses timings of the product, else of the architecture, else takes the first", () => {
  const at = [1, 1];
  const choice = choiceOf([
    { gpu: "NVIDIA A100", arch: "sm_80", points: [{ at, microseconds: best(1) }] },
    { gpu: "NVIDIA H100", arch: "sm_90", points: [{ at, microseconds: best(1) }] },
    { gpu: "NVIDIA H200", arch: "sm_90", points: [{ at, microseconds: best(2) }] },
  ]);
  const key = { M: 1, N: 1 };
  assertEquals(choice.pick(key, H200, "sm_90"), "c");
  assertEquals(choice.pick(key, deviceInfo("emulator", "sm_90"), "sm_90"), "b");
  assertEquals(choice.pick(key, deviceInfo("NVIDIA A10", "sm_86"), "sm_90"), "a");
  assertEquals(choiceOf([]).pick(key, H200, "sm_90"), "a");
});

Deno.test("Choice.learn() puts what was measured now before what was known, on that device alone", () => {
  const choice = choiceOf([TABLE]);
  assertEquals(choice.pick({ M: 256, N: 256 }, H200, "sm_90"), "b");
  choice.learn(H200, "sm_90", { at: [256, 256], microseconds: best(0) });
  assertEquals(choice.pick({ M: 256, N: 256 }, H200, "sm_90"), "a");
  assertEquals(choice.pick({ M: 4096, N: 4096 }, H200, "sm_90"), "c");
  assertEquals(choice.pick({ M: 256, N: 256 }, deviceInfo("NVIDIA H200", "sm_90"), "sm_90"), "b");
});

Deno.test("Choice.pick() takes only what the target has, by the timings of that, and defaults are the first of that", () => {
  const availableOn = [["sm_90a"], undefined, ["sm_80", "sm_90"]];
  const slower = (index: number): readonly number[] => [0, 1, 2].map((i) => i === index ? 2 : 3);
  const restricted = (measured: readonly MeasuredFacts[], models: readonly Model[] = []) => {
    const { key, instances, facts } = choiceOf(measured, models);
    const own = facts.instances.map((one, index) => {
      const targets = availableOn[index];
      return targets === undefined ? one : { ...one, availableOn: targets };
    });
    return new Choice(key, instances, { ...facts, instances: own }, "f", () => {});
  };
  const choice = restricted([{
    ...TABLE,
    points: [
      { at: [256, 256], microseconds: [1, ...slower(1).slice(1)] },
      { at: [4096, 4096], microseconds: [1, 3, 2] },
      { at: [16, 16], microseconds: [1, null, null] },
    ],
  }]);
  const pick = (size: number, target: string): string | undefined =>
    choice.pick({ M: size, N: size }, H200, target);
  assertEquals([256, 4096].map((size) => pick(size, "sm_90a")), ["a", "a"]);
  assertEquals([256, 4096].map((size) => pick(size, "sm_90")), ["b", "c"]);
  // Nothing that sm_90 has was timed there, so the nearest key with such timings decides.
  assertEquals(pick(16, "sm_90"), "b");
  assertEquals(["sm_80", "sm_90a", "sm_75"].map((target) => choice.first(target)), ["b", "a", "b"]);
  const costly = (clocks: number): Model => ({ blocks: () => 1, clocks: () => clocks });
  const modelled = restricted([], [costly(1), costly(3), costly(2)]);
  assertEquals(modelled.pick({ M: 1, N: 1 }, H200, "sm_90a"), "a");
  assertEquals(modelled.pick({ M: 1, N: 1 }, H200, "sm_90"), "c");
  assertEquals(restricted([]).pick({ M: 1, N: 1 }, H200, "sm_90"), "b");
  choice.learn(H200, "sm_90", { at: [256, 256], microseconds: [null, 9, 8] });
  assertEquals([pick(256, "sm_90"), pick(256, "sm_90a")], ["c", "a"]);
});

/** A kernel without memory whose general and specialised code have three and two configurations. */
function tuned(
  measured: readonly MeasuredFacts[],
  availableOn: Readonly<Record<string, readonly string[]>> = {},
): {
  launch: (
    args: { n: number },
    options: { stream: Device["defaultStream"]; grid?: readonly [number, number, number] },
  ) => void;
  grid: (sizes: { n: number }) => readonly [number, number, number];
} {
  const contract = (tile: string): KernelFacts<"n" | "TM">["contract"] => ({
    grid: [{ text: `cdiv(n, ${tile})`, value: ({ n, TM }) => Math.ceil(n / TM) }],
    tensors: [],
    ranges: [],
    requires: [],
  });
  const even = [{ text: "n % 2 == 0", holds: ({ n }: { n: number }) => n % 2 === 0 }];
  const block = { variant: "v", threads: 32, sharedBytes: 0 };
  const facts: KernelFacts<"n" | "TM"> = {
    name: "k",
    params: [{ kind: "scalar", name: "n", type: "int32" }],
    contract: contract("TM"),
    variants: [{ name: "v", bindings: {}, dtypes: {} }],
    instances: [
      { ...block, symbol: "k", constants: { TM: 32 } },
      { ...block, symbol: "k_64", constants: { TM: 64 } },
      { ...block, symbol: "k_a16_64", constants: { TM: 64 }, when: even },
      { ...block, symbol: "k_a16", constants: { TM: 16 }, when: even },
    ],
    images: ["sm_80", "sm_90"].map((target) => ({ target, kind: "ptx", base64: "" })),
    tuning: {
      key: ["n"],
      choices: [
        {
          specialization: "general",
          instances: [{ symbol: "k", config: "TM=32" }, { symbol: "k_64", config: "TM=64" }],
          measured: [],
        },
        {
          specialization: "a16",
          instances: [{ symbol: "k_a16", config: "TM=16" }, {
            symbol: "k_a16_64",
            config: "TM=64",
          }],
          measured,
        },
      ],
    },
  };
  const choices = facts.tuning?.choices.map((choice) => ({
    ...choice,
    instances: choice.instances.map((one) => {
      const targets = availableOn[one.symbol];
      return targets === undefined ? one : { ...one, availableOn: targets };
    }),
  }));
  return defineKernel({ ...facts, tuning: { key: ["n"], choices: choices ?? [] } });
}

Deno.test("launch() takes the configuration and its grid by the table, after the specialisation", () => {
  const symbols = ["k", "k_64", "k_a16", "k_a16_64"];
  using gpu = fakeGpu({}, {
    kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])),
    parameters: Object.fromEntries(symbols.map((symbol) => [symbol, [{ offset: 0, bytes: 4 }]])),
  });
  const { name: gpuName, arch } = gpu.device.info;
  const kernel = tuned([{
    gpu: gpuName,
    arch,
    points: [{ at: [100], microseconds: [1, 2] }, { at: [6400], microseconds: [2, 1] }],
  }]);
  const stream = gpu.device.defaultStream;
  const launched = (
    n: number,
    options: { grid?: readonly [number, number, number] } = {},
  ): string => {
    kernel.launch({ n }, { stream, ...options });
    const { kernel: symbol, grid } = gpu.driver.launches.at(-1) ?? { kernel: "", grid: [] };
    return `${symbol} ${grid[0]}`;
  };
  assertEquals(launched(100), "k_a16 7");
  assertEquals(launched(6400), "k_a16_64 100");
  assertEquals(launched(6402), "k_a16_64 101");
  assertEquals(launched(6401), "k 201");
  // A caller who gives the grid cannot know of other tile sizes.
  assertEquals(launched(6400, { grid: [5, 1, 1] }), "k_a16 5");
  // grid() counts for them: with the first configuration of the code that they get.
  for (const [n, programs] of [[6400, 400], [6401, 201]] as const) {
    assertEquals(kernel.grid({ n }), [programs, 1, 1]);
    assertEquals(
      launched(n, { grid: kernel.grid({ n }) }),
      `${n % 2 === 0 ? "k_a16" : "k"} ${programs}`,
    );
  }
});

Deno.test("launch() and grid() take what the image of the device has; sizes alone suffice where all targets agree", () => {
  const symbols = ["k", "k_64", "k_a16", "k_a16_64"];
  using gpu = fakeGpu({}, {
    kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])),
    parameters: Object.fromEntries(symbols.map((symbol) => [symbol, [{ offset: 0, bytes: 4 }]])),
  });
  const { name, arch } = gpu.device.info;
  const table = [{ gpu: name, arch, points: [{ at: [100], microseconds: [1, 2] }] }];
  const kernel = tuned(table, { k_a16: ["sm_80"], k_64: ["sm_90"] });
  const launched = (n: number, grid?: readonly [number, number, number]): string => {
    const stream = gpu.device.defaultStream;
    kernel.launch({ n }, grid === undefined ? { stream } : { stream, grid });
    const { kernel: symbol, grid: launched } = must(gpu.driver.launches.at(-1), "a launch");
    return `${symbol} ${launched[0]}`;
  };
  assertEquals(launched(100), "k_a16_64 2");
  assertEquals(launched(101), "k 4");
  assertEquals(launched(100, [5, 1, 1]), "k_a16_64 5");
  assertEquals(kernel.grid({ n: 101 }), [4, 1, 1]);
  const error = assertThrows(() => kernel.grid({ n: 100 }), ArgumentError);
  assertStringIncludes(error.message, "7×1×1 programs of k_a16 or 2×1×1 programs of k_a16_64");
});
