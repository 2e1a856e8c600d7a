/** The generated wrapper of `transpose`, as a program uses it, on a fake GPU. */
import type { HostArray } from "../../../ffi/dtype.ts";
import { transpose } from "../../golden/codegen/transpose.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { ArgumentError, DisposedError, LaunchError } from "../../../ffi/errors.ts";
import { emptyProfile, type LaunchProfile } from "../../../ffi/profile.ts";
import { counting, fakeGpu } from "./support.ts";

/** The transposition that is compared with: of a dense array, on the host. */
function transposed<A extends HostArray>(data: A, rows: number, columns: number): A {
  const result = data.slice() as A;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) result[j * rows + i] = data[i * columns + j] ?? NaN;
  }
  return result;
}

Deno.test("defineKernel() opens and reads nothing before the first call", () => {
  assertEquals(transpose.variants, ["float32", "float16", "float64", "int8", "int16", "int32"]);
  assertEquals(transpose.name, "transpose");
  assertEquals(JSON.parse(JSON.stringify(transpose.contract)).contract.grid[0], {
    text: "cdiv(M, TM)",
  });
  assert(!("images" in transpose.contract), "images are no part of the contract");
});

Deno.test("transpose() derives sizes, strides and grid, and allocates the result", async () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(70 * 33), [70, 33]);
  using y = transpose(x);
  assertEquals(y.shape, [33, 70]);
  assertEquals(y.strides, [70, 1]);
  assertEquals(y.dtype, "float32");
  assertEquals(await y.read(), transposed(counting(70 * 33), 70, 33));
  const [launch] = gpu.driver.launches;
  assertEquals(launch?.grid, [2, 2, 1]);
  assertEquals(launch?.shape, {
    block: [128, 1, 1],
    sharedBytes: 8192,
    parameterBytes: 32,
    startsEarly: true,
    parameterNames: ["X", "Y", "M", "N", "ldx", "ldy"],
  });
  assertEquals([16, 20, 24, 28].map((offset) => launch?.args.getInt32(offset, true)), [
    70,
    33,
    33,
    70,
  ]);
});

Deno.test("transpose() takes the variant of the tensor's type", () => {
  using gpu = fakeGpu();
  const data = Float64Array.from(counting(6));
  using x = gpu.device.tensor(data, [2, 3]);
  using y = transpose(x);
  assertEquals(gpu.lastKernel(), "transpose_float64");
  assertEquals(y.readSync(), transposed(data, 2, 3));
  using bytes = transpose(gpu.device.tensor(new Int8Array([1, 2, 3, 4]), [2, 2]));
  assertEquals(bytes.readSync(), new Int8Array([1, 3, 2, 4]));
  assertEquals(gpu.lastKernel(), "transpose_int8");
});

Deno.test("transpose() takes the specialised instance only where its conditions hold", () => {
  using gpu = fakeGpu();
  transpose(gpu.device.zeros("float32", [32, 16]));
  assertEquals(gpu.lastKernel(), "transpose_float32_s1");
  transpose(gpu.device.zeros("float32", [32, 17]));
  assertEquals(gpu.lastKernel(), "transpose_float32", "ldx is no multiple of 16");
  const big = gpu.device.zeros("float32", [33, 32]);
  transpose(big.narrow(0, 1, 32));
  assertEquals(gpu.lastKernel(), "transpose_float32_s1");
  transpose(big.narrow(0, 0, 32).narrow(1, 1, 16));
  assertEquals(gpu.lastKernel(), "transpose_float32", "the address is no multiple of 16");
});

Deno.test("transpose() reads and writes strided views in place", () => {
  using gpu = fakeGpu();
  using big = gpu.device.tensor(counting(20), [4, 5]);
  const x = big.narrow(0, 1, 2).narrow(1, 1, 3);
  using target = gpu.device.zeros("float32", [4, 4]);
  const out = target.narrow(0, 0, 3).narrow(1, 1, 2);
  assertEquals(transpose(x, { out }), out);
  assertEquals(
    target.readSync(),
    new Float32Array([0, 6, 11, 0, 0, 7, 12, 0, 0, 8, 13, 0, 0, 0, 0, 0]),
  );
});

Deno.test("transpose() of a matrix without elements launches nothing and returns the result", async () => {
  using gpu = fakeGpu();
  for (const shape of [[0, 3], [3, 0], [0, 0]] as const) {
    using x = gpu.device.empty("float32", shape);
    using y = transpose(x);
    assertEquals(y.shape, [shape[1], shape[0]]);
    assertEquals(await y.read(), new Float32Array(0));
  }
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("transpose() takes any stride where an axis has one element", () => {
  using gpu = fakeGpu();
  const column = gpu.device.tensor(counting(6), [3, 2]).narrow(1, 0, 1);
  using row = transpose(column);
  assertEquals([row.shape, row.strides], [[1, 3], [3, 1]]);
  assertEquals(row.readSync(), new Float32Array([0, 2, 4]));
  using back = transpose(gpu.device.tensor(counting(3), [1, 3], { strides: [7, 1] }));
  assertEquals(back.readSync(), counting(3));
});

Deno.test("transpose() takes any stride of a tensor without elements", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(new Float32Array(0), [3, 0], { strides: [1, 7] });
  using y = transpose(x);
  assertEquals(y.shape, [0, 3]);
});

Deno.test("transpose() launches on the stream that it is given", () => {
  using gpu = fakeGpu();
  using stream = gpu.device.stream();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using _y = transpose(x, { stream });
  assertEquals(gpu.driver.launches[0]?.stream, stream.handle);
});

Deno.test("transpose() waits for what other streams do with its tensors", () => {
  using gpu = fakeGpu();
  using one = gpu.device.stream();
  using two = gpu.device.stream();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = transpose(x, { stream: one });
  gpu.driver.calls.length = 0;
  using _z = transpose(y, { stream: two });
  const names = gpu.driver.names();
  assert(names.includes("waitForEvent"), names.join(" "));
  assert(names.indexOf("waitForEvent") < names.indexOf("launch"), names.join(" "));
});

Deno.test("transpose() loads its image once per device", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  for (let i = 0; i < 3; i++) transpose(x)[Symbol.dispose]();
  const count = (name: string): number =>
    gpu.driver.calls.filter((call) => call.name === name).length;
  assertEquals(
    [count("loadModule"), count("getFunction"), count("prepareLaunch"), count("launch")],
    [1, 1, 1, 3],
  );
  assertEquals([...gpu.driver.loaded.keys()], ["transpose.sm_90.cubin"]);
});

Deno.test("transpose() gives back a result that it allocated when a check fails", () => {
  using gpu = fakeGpu();
  using x = gpu.device.zeros("float32", [2, 3]);
  gpu.driver.fail("loadModule", "CUDA_ERROR_INVALID_IMAGE");
  assertThrows(() => transpose(x));
  gpu.device.trim();
  const before = gpu.driver.allocatedBytes;
  transpose(x)[Symbol.dispose]();
  gpu.device.trim();
  assertEquals(gpu.driver.allocatedBytes, before);
});

Deno.test("launch() takes every parameter from the caller", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [6]);
  using y = gpu.device.zeros("float32", [6]);
  transpose.launch({ X: x, Y: y, M: 2, N: 3, ldx: 3, ldy: 2 });
  assertEquals(y.readSync(), transposed(counting(6), 2, 3));
  transpose.launch({ X: x, Y: y, M: 2, N: 3, ldx: 3, ldy: 2 }, { grid: [7, 5] });
  assertEquals(gpu.driver.launches.at(-1)?.grid, [7, 5, 1]);
});

Deno.test("grid() gives the grid for sizes", () => {
  assertEquals(transpose.grid({ M: 65, N: 32 }), [2, 1, 1]);
  assertEquals(transpose.grid({ M: 0, N: 3 }, { variant: "int8" }), [0, 1, 1]);
});

Deno.test("prepare() checks once and launches at each call", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const run = transpose.prepare(x);
  assertEquals(gpu.driver.launches.length, 0);
  using y = run();
  x.write(new Float32Array([9, 8, 7, 6, 5, 4]));
  assertEquals(run(), y);
  assertEquals(gpu.driver.launches.length, 2);
  assertEquals(y.readSync(), new Float32Array([9, 6, 8, 5, 7, 4]));
});

Deno.test("prepare() keeps its arguments separate from those of other calls", () => {
  using gpu = fakeGpu();
  using a = gpu.device.tensor(counting(6), [2, 3]);
  using b = gpu.device.tensor(counting(6), [3, 2]);
  const runA = transpose.prepare(a);
  const runB = transpose.prepare(b);
  transpose(b);
  assertEquals(runA().readSync(), transposed(counting(6), 2, 3));
  assertEquals(runB().readSync(), transposed(counting(6), 3, 2));
});

Deno.test("prepare() refuses to launch once a tensor was disposed", () => {
  using gpu = fakeGpu();
  using big = gpu.device.tensor(counting(6), [2, 3]);
  const view = big.narrow(0, 0, 2);
  const run = transpose.prepare(view);
  run();
  view[Symbol.dispose]();
  assertThrows(run, DisposedError);
  assertEquals(gpu.driver.launches.length, 1);
});

Deno.test("prepare() of an empty launch returns the result", () => {
  using gpu = fakeGpu();
  const run = transpose.prepare(gpu.device.empty("float32", [0, 4]));
  assertEquals(run().shape, [4, 0]);
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("transpose() can be recorded in a graph", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = transpose(x);
  using stream = gpu.device.stream();
  using graph = stream.capture(() => {
    transpose(x, { out: y, stream });
  });
  x.write(new Float32Array(6).fill(5));
  graph.launch();
  assertEquals(y.readSync(), new Float32Array(6).fill(5));
});

Deno.test("transpose() refuses the name of a variant that does not fit", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const error = assertThrows(() => transpose(x, { variant: "int8" }), ArgumentError);
  assertEquals([error.argument, error.expected], ["x of transpose", "int8 in variant int8"]);
});

const PROFILE: LaunchProfile = { ...emptyProfile("transpose_float32", [1, 1, 1]), barriers: 3 };

Deno.test("transpose() with profile returns what the driver counted beside the result", () => {
  using gpu = fakeGpu({}, { profile: PROFILE });
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const { result, profile } = transpose(x, { profile: true });
  assertEquals(result.readSync(), transposed(counting(6), 2, 3));
  assertEquals(profile, PROFILE);
  const sizes = { M: 2, N: 3, ldx: 3, ldy: 2 };
  assertEquals(transpose.launch({ X: x, Y: result, ...sizes }, { profile: true }), PROFILE);
  assertEquals(transpose.launch({ X: x, Y: result, ...sizes }), undefined);
  assertEquals(gpu.driver.launches.length, 3);
});

Deno.test("transpose() with profile counts nothing where there is nothing to launch", () => {
  using gpu = fakeGpu({}, { profile: PROFILE });
  using x = gpu.device.tensor(new Float32Array(), [0, 3]);
  const { profile } = transpose(x, { profile: true });
  assertEquals([profile.warpInstructions, profile.barriers], [0, 0]);
  assertEquals(profile.grid, [0, 1, 1]);
});

Deno.test("transpose() with profile says that a GPU does not count, and gives its result back", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const before = gpu.driver.allocatedBytes;
  assertThrows(
    () => transpose(x, { profile: true }),
    LaunchError,
    "Cannot profile transpose on device 0 (Fake GPU)\nhint: only the emulator counts what kernels do: " +
      'run kernels on the emulator: TRI_DEVICE=emulator or Device.open({ device: "emulator" })',
  );
  gpu.device.trim();
  assertEquals(gpu.driver.allocatedBytes, before);
});

Deno.test("transpose() profiles neither what is recorded nor what is prepared", () => {
  using gpu = fakeGpu({}, { profile: PROFILE });
  const { device } = gpu;
  using x = device.tensor(counting(6), [2, 3]);
  using out = device.empty("float32", [3, 2]);
  assertThrows(
    () => device.defaultStream.capture(() => transpose(x, { out, profile: true })),
    LaunchError,
    "its launch is recorded, not done",
  );
  const options: object = { out, profile: true };
  assertThrows(() => transpose.prepare(x, options), ArgumentError, "profile of transpose.prepare");
  const yes: object = { out, profile: "yes" };
  assertThrows(
    () => transpose(x, yes),
    ArgumentError,
    'Argument profile: expected true, got "yes"',
  );
});
