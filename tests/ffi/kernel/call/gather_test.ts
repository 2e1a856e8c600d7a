/** Kernels with results by name, parameters that no tensor defines, wide numbers and optional tensors. */
import { ArgumentError, LaunchError } from "../../../../ffi/errors.ts";
import type { Tensor } from "../../../../ffi/tensors/tensor.ts";
import { delete_, scaledAdd, split } from "../../../golden/codegen/mixed.ts";
import { transpose } from "../../../golden/codegen/transpose.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";
import { counting, type FakeGpu, fakeGpu, TRANSPOSE_KERNELS } from "../support.ts";

type Untyped = ((...args: unknown[]) => unknown) & {
  launch(args: unknown, options?: unknown): void;
  prepare(...args: unknown[]): unknown;
};

type UntypedTranspose = Untyped & { grid(args: unknown, options?: unknown): unknown };

function gpuWithAll(): FakeGpu {
  return fakeGpu({}, {
    kernels: { ...TRANSPOSE_KERNELS, scaled_add: () => {}, split: () => {}, delete: () => {} },
  });
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

Deno.test("split() requires a grid where none can be inferred", () => {
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
  assertThrows(() => (delete_ as unknown as Untyped)(), ArgumentError, "a plain object with p, n");
});

Deno.test("options with a name that means nothing are refused, with the name that was meant", () => {
  using gpu = gpuWithAll();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const call = transpose as unknown as UntypedTranspose;
  const refused = (run: () => unknown, argument: string, actual: string, hint?: string): void => {
    const error = assertThrows(run, ArgumentError);
    assertEquals([error.argument, error.actual, error.hint], [argument, actual, hint]);
  };
  const of = "options of transpose";
  refused(() => call(x, { strem: 1 }), of, '"strem"', "did you mean `stream`?");
  refused(() => call(x, { grids: [1] }), of, '"grids"', "did you mean `grid`?");
  refused(() => call(x, { ["__proto__"]: 1 }), of, '"__proto__"');
  refused(() => call.prepare(x, { Out: x }), of, '"Out"', "did you mean `out`?");
  const args = { X: x, Y: x, M: 2, N: 3, ldx: 3, ldy: 2 };
  refused(() => call.launch(args, { out: x }), of, '"out"');
  refused(() => call.launch({ ...args, ldz: 1 }), "arguments of transpose", '"ldz"', LDX);
  refused(() => call.grid({ M: 2, n: 3 }), "arguments of transpose", '"n"', "did you mean `N`?");
  refused(
    () => call.grid({ M: 2, N: 3 }, { varient: "int8" }),
    "options of transpose.grid",
    '"varient"',
    "did you mean `variant`?",
  );
  using y = gpu.device.tensor(new Float16Array(8), [8]);
  const several = split as unknown as Untyped;
  refused(
    () => several(y, { grid: [1], out: { low: y } }),
    "out of split",
    '"low"',
    "did you mean `lo`?",
  );
  assertEquals(gpu.driver.launches.length, 0);
});

const LDX = "did you mean `ldx`?";

Deno.test("options are a plain object, and arguments after them are refused", () => {
  using gpu = gpuWithAll();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const call = transpose as unknown as UntypedTranspose;
  class Options {
    grid = [1];
  }
  const inherited: unknown = Object.create({ grid: [1] });
  for (const options of [null, 5, "out", [], x, new Options(), inherited, () => {}, new Date(0)]) {
    for (const run of [() => call(x, options), () => call.prepare(x, options)]) {
      const error = assertThrows(run, ArgumentError);
      assertEquals(error.argument, "options of transpose");
      assertEquals(error.expected, "a plain object with out, stream, variant, grid, form, profile");
    }
  }
  assertEquals(assertThrows(() => call(x, x), ArgumentError).actual, "tensor float32[2, 3]");
  const args = { X: x, Y: x, M: 2, N: 3, ldx: 3, ldy: 2 };
  for (
    const [run, most] of [
      [() => call(x, {}, 5), 2],
      [() => call(x, undefined, undefined), 2],
      [() => call.prepare(x, {}, {}), 2],
      [() => Reflect.apply(call.launch, undefined, [args, {}, {}]), 2],
      [() => Reflect.apply(call.grid, undefined, [{ M: 2, N: 3 }, {}, {}]), 2],
    ] as const
  ) {
    const error = assertThrows(run, ArgumentError);
    assertEquals([error.expected, error.actual], [`at most ${most}, the options last`, "3"]);
  }
  call(x, Object.assign(Object.create(null), { grid: [1] }));
  using _ = transpose(x, undefined);
  assertEquals(gpu.driver.launches.length, 2);
});

Deno.test("options and arguments that Object.prototype has got do not count", () => {
  using gpu = gpuWithAll();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = gpu.device.empty("float32", [3, 2]);
  const call = transpose as unknown as UntypedTranspose;
  const polluted = {
    grid: [7],
    profile: true,
    out: 5,
    variant: "int8",
    stream: 1,
    strides: [0, 0],
  };
  const others = { dtype: "int8", timing: 1, M: 2, ldx: 9, wrong: 1 };
  Object.assign(Object.prototype, polluted, others);
  try {
    using _ = transpose(x);
    call.launch({ X: x, Y: y, M: 2, N: 3, ldx: 3, ldy: 2 });
    assertEquals(gpu.driver.launches.map(({ grid }) => grid), [[1, 1, 1], [1, 1, 1]]);
    const error = assertThrows(() => call.launch({ X: x, Y: y, N: 3, ldx: 3, ldy: 2 }));
    assertEquals(error instanceof ArgumentError && error.argument, "M of transpose");
    using z = gpu.device.tensor(new Int16Array(2), [2]);
    assertEquals([z.dtype, z.strides], ["int16", [1]]);
    using _event = gpu.device.event();
  } finally {
    for (const name of Object.keys({ ...polluted, ...others })) {
      Reflect.deleteProperty(Object.prototype, name);
    }
  }
});

Deno.test("options whose getters call the kernel are refused, and the call after them works", () => {
  using gpu = gpuWithAll();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const call = transpose as unknown as UntypedTranspose;
  const nested = {
    get out(): unknown {
      return transpose(x);
    },
  };
  assertThrows(() => call(x, nested), LaunchError, "while a call of it is under way");
  assertEquals(gpu.driver.launches.length, 0);
  using _ = transpose(x);
  assertEquals(gpu.driver.launches.length, 1);
});

Deno.test("results whose elements share memory are refused, inputs that repeat elements are not", () => {
  using gpu = gpuWithAll();
  const { device } = gpu;
  using x = device.tensor(counting(3), [2, 3], { strides: [0, 1] });
  using _ = transpose(x);
  assertEquals(gpu.driver.launches.length, 1);
  for (const [strides, length] of [[[0, 1], 2], [[1, 1], 4]] as const) {
    using out = device.tensor(counting(length), [3, 2], { strides });
    const error = assertThrows(() => transpose(x, { out }), ArgumentError);
    assertEquals([error.argument, error.actual], [
      "out of transpose",
      `shape [3, 2] with strides [${strides.join(", ")}]`,
    ]);
    assertEquals(error.expected, "elements that lie apart, because the kernel writes them");
  }
  using y = device.empty("float32", [6]);
  assertThrows(
    () => transpose.launch({ X: x, Y: y, M: 2, N: 3, ldx: 0, ldy: 1 }),
    ArgumentError,
    "Argument Y of transpose: expected elements that lie apart",
  );
  assertEquals(gpu.driver.launches.length, 1);
  // One axis of one element, and rows between other rows.
  transpose.launch({ X: x, Y: y, M: 1, N: 3, ldx: 0, ldy: 1 });
  assertEquals(gpu.driver.launches.length, 2);
});
