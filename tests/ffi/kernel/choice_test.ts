import type { DeviceInfo } from "../../../ffi/driver.ts";
import { Choice } from "../../../ffi/kernel/choice.ts";
import { defineKernel } from "../../../ffi/kernel/define.ts";
import type { KernelFacts, MeasuredFacts } from "../../../ffi/kernel/facts.ts";
import type { Device } from "../../../ffi/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";
import { fakeGpu } from "./support.ts";

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

function choiceOf(measured: readonly MeasuredFacts[]): Choice<"M" | "N", string> {
  return new Choice(["M", "N"], ["a", "b", "c"], {
    specialization: "general",
    instances: [],
    measured,
  });
}

const TABLE: MeasuredFacts = {
  gpu: "NVIDIA H200",
  arch: "sm_90",
  points: [{ at: [256, 256], best: 1 }, { at: [4096, 4096], best: 2 }, { at: [4096, 16], best: 0 }],
};

Deno.test("Choice.pick() takes what was fastest for just this key", () => {
  const choice = choiceOf([TABLE]);
  assertEquals(choice.pick({ M: 256, N: 256 }, H200), "b");
  assertEquals(choice.pick({ M: 4096, N: 4096 }, H200), "c");
  assertEquals(choice.pick({ M: 4096, N: 16 }, H200), "a");
});

Deno.test("Choice.pick() takes the key with the smallest sum of |log2| of ratios, of equals the first", () => {
  const choice = choiceOf([TABLE]);
  assertEquals(choice.pick({ M: 512, N: 300 }, H200), "b");
  assertEquals(choice.pick({ M: 1 << 20, N: 1 << 20 }, H200), "c");
  // Two octaves from either along both.
  assertEquals(choice.pick({ M: 1024, N: 1024 }, H200), "b");
  assertEquals(choice.pick({ M: 1025, N: 1024 }, H200), "c");
  assertEquals(choice.pick({ M: 0, N: 0 }, H200), "b");
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
        Math.abs(Math.log2(Math.max(value, 1)) - Math.log2(Math.max(at[axis] ?? 0, 1))), 0);
    const least = Math.min(...points.map(distance));
    const nearest = points.find((point) => distance(point) === least);
    const picked = choiceOf([{ ...TABLE, points }]).pick({ M, N }, H200);
    assertEquals(picked, ["a", "b", "c"][nearest?.best ?? 0]);
  }));
});

Deno.test("Choice.pick() goes by the product, else by the architecture, else takes the first", () => {
  const at = [1, 1];
  const choice = choiceOf([
    { gpu: "NVIDIA A100", arch: "sm_80", points: [{ at, best: 1 }] },
    { gpu: "NVIDIA H100", arch: "sm_90", points: [{ at, best: 1 }] },
    { gpu: "NVIDIA H200", arch: "sm_90", points: [{ at, best: 2 }] },
  ]);
  const key = { M: 1, N: 1 };
  assertEquals(choice.pick(key, H200), "c");
  assertEquals(choice.pick(key, deviceInfo("emulator", "sm_90")), "b");
  assertEquals(choice.pick(key, deviceInfo("NVIDIA A10", "sm_86")), "a");
  assertEquals(choiceOf([]).pick(key, H200), "a");
});

Deno.test("Choice.learn() puts what was measured now before what was known, on that device alone", () => {
  const choice = choiceOf([TABLE]);
  choice.learn(H200, { at: [256, 256], best: 0 });
  assertEquals(choice.pick({ M: 256, N: 256 }, H200), "a");
  assertEquals(choice.pick({ M: 4096, N: 4096 }, H200), "c");
  assertEquals(choice.pick({ M: 256, N: 256 }, deviceInfo("NVIDIA H200", "sm_90")), "b");
});

/** A kernel without memory whose general and specialised code have three and two configurations. */
function tuned(measured: readonly MeasuredFacts[]): {
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
    images: [{ target: "sm_90", kind: "ptx", base64: "" }],
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
  return defineKernel(facts);
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
    points: [{ at: [100], best: 0 }, { at: [6400], best: 1 }],
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
  // Whoever gives the grid knows of no other tile sizes.
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
