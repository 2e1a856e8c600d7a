/** Which variant a call means, where element types and extents decide. */
import { ArgumentError } from "../../../ffi/errors.ts";
import { defineKernel } from "../../../ffi/kernel/define.ts";
import type { InstanceFacts, KernelFacts } from "../../../ffi/kernel/facts/facts.ts";
import type { Tensor } from "../../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { type FakeGpu, fakeGpu } from "./support.ts";

type Name = "Q" | "K" | "n" | "D" | "E";

/** Heads of D elements, keys of E: each pair is a variant. */
const PAIRS = [[64, 64], [128, 64], [128, 256]] as const;

const D = { text: "D", value: ({ D }: Readonly<Record<Name, number>>) => D };
const E = { text: "E", value: ({ E }: Readonly<Record<Name, number>>) => E };

const heads: (q: Tensor, k: Tensor, options?: { variant: string }) => void = defineKernel(
  {
    name: "heads",
    params: [
      { kind: "pointer", name: "Q", access: "in" },
      { kind: "pointer", name: "K", access: "in" },
      { kind: "scalar", name: "n", type: "int32" },
    ],
    tensorCall: {
      inputs: [{ param: "Q", name: "q" }, { param: "K", name: "k" }],
      outputs: [],
      options: [],
    },
    contract: {
      grid: [{ text: "n", value: ({ n }) => n }],
      tensors: [
        { param: "Q", extents: ["n", D], strides: [D, 1] },
        { param: "K", extents: [E], strides: [1] },
      ],
      ranges: [],
      requires: [],
    },
    variants: PAIRS.map(([d, e]) => ({
      name: `d${d}_e${e}`,
      bindings: {},
      dtypes: { Q: "float32", K: "float32" },
    })),
    instances: PAIRS.map(([d, e]): InstanceFacts<Name> => ({
      variant: `d${d}_e${e}`,
      symbol: `heads_d${d}_e${e}`,
      threads: 32,
      sharedBytes: 0,
      constants: { D: d, E: e },
    })),
    images: [{ target: "sm_90", kind: "ptx", base64: "" }],
  } satisfies KernelFacts<Name>,
);

function gpuWithHeads(): FakeGpu {
  const symbols = PAIRS.map(([d, e]) => `heads_d${d}_e${e}`);
  const parameters = [[0, 8], [8, 8], [16, 4]].map(([offset = 0, bytes = 0]) => ({
    offset,
    bytes,
  }));
  return fakeGpu({}, {
    kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])),
    parameters: Object.fromEntries(symbols.map((symbol) => [symbol, parameters])),
  });
}

Deno.test("chooseVariant() takes the variant whose constants are the tensors' extents", () => {
  using gpu = gpuWithHeads();
  for (const [d, e] of PAIRS) {
    heads(gpu.device.zeros("float32", [3, d]), gpu.device.zeros("float32", [e]));
    assertEquals(gpu.lastKernel(), `heads_d${d}_e${e}`);
  }
});

Deno.test("chooseVariant() lists every extent that a variant has where the tensor's is none of them", () => {
  using gpu = gpuWithHeads();
  const key = gpu.device.zeros("float32", [64]);
  for (
    const [q, k, argument, expected, actual] of [
      [[3, 16], key, "q of heads", "shape[1] = 64 or 128", "16 in float32[3, 16]"],
      [
        [3, 64],
        gpu.device.zeros("float32", [256]),
        "k of heads",
        "shape[0] = 64 beside shape[1] = 64 of q",
        "256 in float32[256]",
      ],
      [
        [3, 128],
        gpu.device.zeros("float32", [5]),
        "k of heads",
        "shape[0] = 64 or 256 beside shape[1] = 128 of q",
        "5 in float32[5]",
      ],
      [[16], key, "q of heads", "a tensor of rank 2", "rank 1: float32[16]"],
    ] as const
  ) {
    const error = assertThrows(() => heads(gpu.device.zeros("float32", q), k), ArgumentError);
    assertEquals([error.argument, error.expected, error.actual], [argument, expected, actual]);
  }
  const named = assertThrows(
    () => heads(gpu.device.zeros("float32", [3, 16]), key, { variant: "d128_e64" }),
    ArgumentError,
  );
  assertEquals(named.expected, "shape[1] = 128 (D)");
  assertEquals(gpu.driver.launches.length, 0);
});
