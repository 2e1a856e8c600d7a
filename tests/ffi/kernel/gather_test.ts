/** Kernels with results by name, parameters that no tensor defines, wide numbers and optional tensors. */
import { ArgumentError } from "../../../ffi/errors.ts";
import type { Tensor } from "../../../ffi/tensor.ts";
import { delete_, scaledAdd, split } from "../../golden/codegen/mixed.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { counting, type FakeGpu, fakeGpu } from "./support.ts";

type Untyped = ((...args: unknown[]) => unknown) & {
  launch(args: unknown, options?: unknown): void;
};

function gpuWithAll(): FakeGpu {
  return fakeGpu({}, { kernels: { scaled_add: () => {}, split: () => {}, delete: () => {} } });
}

/** Tensors and options that scaledAdd() accepts. */
function parts(gpu: FakeGpu): {
  readonly x: Tensor<"float32", 1>;
  readonly y: Tensor<"float32", 1>;
  readonly options: { lock: Tensor<"int32">; alpha: number; seed: bigint; exact: boolean };
} {
  const { device } = gpu;
  return {
    x: device.tensor(counting(8), [8]),
    y: device.tensor(counting(8), [8]),
    options: { lock: device.zeros("int32", [1]), alpha: 0.5, seed: 2n ** 64n - 1n, exact: true },
  };
}

Deno.test("scaledAdd() packs arguments of every kind at their natural alignment", () => {
  using gpu = gpuWithAll();
  const { x, y, options } = parts(gpu);
  assertEquals(scaledAdd(x, y, options), undefined);
  const [launch] = gpu.driver.launches;
  const args = launch?.args;
  assertEquals(args?.byteLength, 57);
  assertEquals(args?.getBigUint64(0, true), x.address);
  assertEquals(args?.getBigUint64(8, true), y.address);
  assertEquals(
    args?.getBigUint64(16, true),
    0n,
    "an optional tensor that is absent is the null pointer",
  );
  assertEquals(args?.getBigUint64(24, true), options.lock.address);
  assertEquals(args?.getBigInt64(32, true), 8n);
  assertEquals(args?.getFloat32(40, true), 0.5);
  assertEquals(args?.getBigUint64(48, true), 2n ** 64n - 1n);
  assertEquals(args?.getUint8(56), 1);
});

Deno.test("scaledAdd() checks an optional tensor that is given", () => {
  using gpu = gpuWithAll();
  const { x, y, options } = parts(gpu);
  const b = gpu.device.tensor(counting(8), [8]);
  scaledAdd(x, y, { ...options, b });
  assertEquals(gpu.driver.launches[0]?.args.getBigUint64(16, true), b.address);
  const error = assertThrows(
    () => scaledAdd(x, y, { ...options, b: gpu.device.tensor(counting(4), [4]) }),
    ArgumentError,
  );
  assertEquals([error.argument, error.expected], [
    "b of scaled_add",
    "shape[0] = 8 (N, as in x.shape[0])",
  ]);
  scaledAdd(x, y, { ...options, b: null });
});

Deno.test("scaledAdd() refuses options that are missing or of another type", () => {
  using gpu = gpuWithAll();
  const { x, y, options } = parts(gpu);
  const untyped = scaledAdd as unknown as Untyped;
  const message = (change: object): string => {
    const { argument, expected, actual } = assertThrows(
      () => untyped(x, y, { ...options, ...change }),
      ArgumentError,
    );
    return `${argument}: ${expected}, not ${actual}`;
  };
  assertEquals(message({ alpha: undefined }), "alpha of scaled_add: a number, not undefined");
  assertEquals(message({ exact: 1 }), "exact of scaled_add: true or false, not 1");
  assertEquals(message({ lock: undefined }), "lock of scaled_add: a tensor, not undefined");
  assertEquals(
    message({ seed: -1n }),
    "seed of scaled_add: an integer from 0 to 18446744073709551615: a bigint, or a number within ±(2^53 - 1), not -1n",
  );
  assertThrows(() => untyped(x, y), ArgumentError, "lock of scaled_add");
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("scaledAdd() lets an updated tensor overlap others, because its contract does not forbid it", () => {
  using gpu = gpuWithAll();
  const { x, options } = parts(gpu);
  scaledAdd(x, x, options);
  assertEquals(gpu.driver.launches.length, 1);
});

Deno.test("scaledAdd() refuses sizes that break a requirement, with its text and the numbers", () => {
  using gpu = gpuWithAll();
  const { options } = parts(gpu);
  const [x, y] = [gpu.device.zeros("float32", [6]), gpu.device.zeros("float32", [6])];
  const error = assertThrows(() => scaledAdd(x, y, options), ArgumentError);
  assertEquals([error.argument, error.expected, error.actual], [
    "sizes of scaled_add",
    "N % 4 == 0",
    "N = 6",
  ]);
});

Deno.test("launch() takes wide numbers in both forms, and refuses those that checks cannot count", () => {
  using gpu = gpuWithAll();
  const { x, y, options: { lock } } = parts(gpu);
  const args = { X: x, Y: y, lock, alpha: 1, exact: false };
  scaledAdd.launch({ ...args, N: 8n, seed: 2 ** 33 + 5 });
  const launched = gpu.driver.launches[0]?.args;
  assertEquals([launched?.getBigInt64(32, true), launched?.getBigUint64(48, true)], [
    8n,
    2n ** 33n + 5n,
  ]);
  scaledAdd.launch({ ...args, N: 4, seed: 2n ** 60n });
  const error = assertThrows(
    () => scaledAdd.launch({ ...args, N: 2n ** 60n, seed: 0 }),
    ArgumentError,
  );
  assertEquals(error.argument, "N of scaled_add");
  assertThrows(
    () => scaledAdd.launch({ ...args, N: 16n, seed: 0 }),
    ArgumentError,
    "a buffer of at least 64 bytes",
  );
  assertEquals(scaledAdd.grid({ N: 1025n }), [2, 1, 1]);
});

Deno.test("split() returns several results by name and takes any of them from the caller", () => {
  using gpu = gpuWithAll();
  const x = gpu.device.zeros("float32", [5, 2]);
  const { lo, hi } = split(x, { grid: [1] });
  assertEquals([lo.shape, lo.dtype, hi.shape, hi.strides], [[5], "float16", [10], [1]]);
  const mine = gpu.device.zeros("float16", [10]);
  const results = split(x, { grid: [1], out: { hi: mine } });
  assertEquals(results.hi, mine);
  assertEquals(gpu.driver.launches.length, 2);
});

Deno.test("split() compares extents with what the contract computes", () => {
  using gpu = gpuWithAll();
  const x = gpu.device.zeros("float32", [5, 2]);
  const error = assertThrows(
    () => split(x, { grid: [1], out: { hi: gpu.device.zeros("float16", [9]) } }),
    ArgumentError,
  );
  assertEquals([error.argument, error.expected, error.actual], [
    "out.hi of split",
    "shape[0] = 10 (n * 2)",
    "9 in float16[9]",
  ]);
  const wide = gpu.device.zeros("float32", [5, 3]).narrow(1, 0, 2);
  assertThrows(() => split(wide, { grid: [1] }), ArgumentError, "strides[0] = 2");
});

Deno.test("split() asks for the grid that nobody can infer", () => {
  using gpu = gpuWithAll();
  const x = gpu.device.zeros("float32", [5, 2]);
  const untyped = split as unknown as Untyped;
  assertThrows(() => untyped(x), ArgumentError, "grid of split is missing: expected a launch grid");
  assertThrows(() => untyped(x, { out: 3, grid: [1] }), ArgumentError, "an object with lo, hi");
  assertEquals("grid" in split, true);
});

Deno.test("delete_() without a tensor contract takes every parameter", () => {
  using gpu = gpuWithAll();
  const p = gpu.device.zeros("int32", [4]);
  delete_({ p, n: 4 }, { grid: [2, 3, 4] });
  const run = delete_.prepare({ p, n: 4 }, { grid: [1] });
  run();
  delete_.launch({ p, n: 4 }, { grid: [1] });
  assertEquals(gpu.driver.launches.map(({ grid }) => grid), [[2, 3, 4], [1, 1, 1], [1, 1, 1]]);
  assertThrows(() => (delete_ as unknown as Untyped)(), ArgumentError, "an object with p, n");
});
