/** Every mistake that a call can make is refused before the launch, by name, with what was expected and what came. */
import { Device } from "../../../../ffi/device.ts";
import { ArgumentError, DisposedError } from "../../../../ffi/errors.ts";
import type { Tensor } from "../../../../ffi/tensors/tensor.ts";
import { transpose } from "../../../golden/codegen/transpose.ts";
import { transpose as unmasked } from "../../../golden/codegen/transpose_unmasked.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../../../support/assert.ts";
import { counting, fakeGpu } from "../support.ts";

/** Calls with anything, as from JavaScript. */
const untyped = transpose as unknown as ((...args: unknown[]) => Tensor) & {
  launch(args: unknown, options?: unknown): void;
  grid(sizes: unknown, options?: unknown): unknown;
};

interface Refusal {
  readonly argument: string;
  readonly expected: string;
  readonly actual: string;
}

/** Asserts that a call is refused with just this, and launches nothing. */
function refused(gpu: ReturnType<typeof fakeGpu>, call: () => unknown, refusal: Refusal): void {
  const { argument, expected, actual } = assertThrows(call, ArgumentError);
  assertEquals({ argument, expected, actual }, refusal);
  assertEquals(gpu.driver.launches.length, 0);
}

Deno.test("transpose() refuses what is no tensor", () => {
  using gpu = fakeGpu();
  for (
    const [value, actual] of [
      [undefined, "undefined"],
      [null, "null"],
      [3, "3"],
      [4n, "4n"],
      ["x", `"x"`],
      [[1, 2], "[1, 2]"],
      [new Float32Array(2), "an object of class Float32Array"],
      [() => 1, "a function"],
    ] as const
  ) {
    refused(gpu, () => untyped(value), {
      argument: "x of transpose",
      expected: "a tensor",
      actual,
    });
  }
  using x = gpu.device.tensor(counting(6), [2, 3]);
  refused(gpu, () => untyped(x, { out: 3 }), {
    argument: "out of transpose",
    expected: "a tensor",
    actual: "3",
  });
  refused(gpu, () => untyped(x, { out: {} }), {
    argument: "out of transpose",
    expected: "a tensor",
    actual: "an object",
  });
});

Deno.test("transpose() refuses an element type without a variant", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(new BigInt64Array(6), [2, 3]);
  refused(gpu, () => untyped(x), {
    argument: "x of transpose",
    expected: "float32 or float16 or float64 or int8 or int16 or int32",
    actual: "int64[2, 3]",
  });
});

Deno.test("transpose() refuses a result of another type than its input", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using out = gpu.device.empty("float16", [3, 2]);
  refused(gpu, () => untyped(x, { out }), {
    argument: "out of transpose",
    expected: "float32 beside float32 x",
    actual: "float16[3, 2]",
  });
});

Deno.test("transpose() refuses variants that it has not", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  refused(gpu, () => untyped(x, { variant: "float128" }), {
    argument: "variant of transpose",
    expected: "one of float32, float16, float64, int8, int16, int32",
    actual: `"float128"`,
  });
  assertThrows(() => untyped.grid({ M: 1, N: 1 }, { variant: "no" }), ArgumentError, `"no"`);
});

Deno.test("transpose() refuses another rank", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [6]);
  refused(gpu, () => untyped(x), {
    argument: "x of transpose",
    expected: "a tensor of rank 2",
    actual: "rank 1: float32[6]",
  });
});

Deno.test("transpose() refuses extents that disagree, and says which tensor set them", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using out = gpu.device.empty("float32", [3, 4]);
  refused(gpu, () => transpose(x, { out }), {
    argument: "out of transpose",
    expected: "shape[1] = 2 (M, as in x.shape[0])",
    actual: "4 in float32[3, 4]",
  });
});

Deno.test("transpose() refuses a stride other than the one demanded", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [3, 2]);
  refused(gpu, () => transpose(x.transpose()), {
    argument: "x of transpose",
    expected: "strides[1] = 1",
    actual: "2 in float32[2, 3] with strides [1, 2]",
  });
});

Deno.test("transpose() refuses a result that overlaps its input", () => {
  using gpu = fakeGpu();
  using big = gpu.device.zeros("float32", [8, 8]);
  const refusal = {
    argument: "out of transpose",
    expected: "memory apart from x, because the kernel writes it",
    actual: "float32[8, 8] overlapping float32[8, 8]",
  };
  refused(gpu, () => transpose(big, { out: big }), refusal);
  refused(
    gpu,
    () =>
      transpose(big.narrow(0, 0, 5).narrow(1, 0, 5), { out: big.narrow(0, 4, 4).narrow(1, 0, 4) }),
    {
      argument: "out of transpose",
      expected: "shape[0] = 5 (N, as in x.shape[1])",
      actual: "4 in float32[4, 4]",
    },
  );
  refused(
    gpu,
    () =>
      transpose(big.narrow(1, 0, 4).narrow(0, 0, 4), { out: big.narrow(1, 3, 4).narrow(0, 0, 4) }),
    {
      ...refusal,
      actual: "float32[4, 4] overlapping float32[4, 4]",
    },
  );
});

Deno.test("transpose() takes two separate blocks of columns of one matrix", () => {
  using gpu = fakeGpu();
  using big = gpu.device.tensor(counting(32), [4, 8]);
  transpose(big.narrow(1, 0, 4), { out: big.narrow(1, 4, 4) });
  assertEquals(
    big.narrow(1, 4, 4).readSync(),
    Float32Array.from({ length: 16 }, (_, i) => (i % 4) * 8 + (i >> 2)),
  );
});

Deno.test("transpose() refuses disposed tensors", () => {
  using gpu = fakeGpu();
  const x = gpu.device.tensor(counting(6), [2, 3]);
  x[Symbol.dispose]();
  const error = assertThrows(() => transpose(x), DisposedError);
  assertStringIncludes(error.message, "Argument x of transpose (float32[2, 3]) was disposed");
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("transpose() refuses tensors and streams of different devices", () => {
  using gpu = fakeGpu();
  using other = Device.fromDriver(gpu.driver, 1);
  using again = Device.fromDriver(gpu.driver, 0);
  using x = gpu.device.tensor(counting(6), [2, 3]);
  refused(gpu, () => transpose(x, { out: other.empty("float32", [3, 2]) }), {
    argument: "out of transpose",
    expected: "a tensor on device 0 (Fake GPU), like the others",
    actual: "one of device 1 (Fake GPU)",
  });
  refused(gpu, () => transpose(x, { stream: again.defaultStream }), {
    argument: "stream of transpose",
    expected: "a stream of the tensors' device, device 0 (Fake GPU)",
    actual: "one of the same GPU opened another time",
  });
  refused(gpu, () => untyped(x, { stream: 7 }), {
    argument: "stream of transpose",
    expected: "a stream, as `device.stream()` makes them",
    actual: "7",
  });
});

Deno.test("transpose() refuses a size that its parameter cannot hold", () => {
  using gpu = fakeGpu();
  using x = gpu.device.empty("float32", [2 ** 31, 0]);
  refused(gpu, () => transpose(x), {
    argument: "M of transpose",
    expected: "an integer from -2147483648 to 2147483647",
    actual: "2147483648",
  });
});

Deno.test("transpose() refuses a grid beyond the limits", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = gpu.device.empty("float32", [3, 2]);
  const args = { X: x, Y: y, M: 2, N: 65536 * 32, ldx: 3, ldy: 2 };
  refused(gpu, () => transpose.launch(args), {
    argument: "grid.y of transpose",
    expected: "an integer from 0 to 65535",
    actual: "65536 = cdiv(N, TN) with N = 2097152, TN = 32",
  });
  for (const extent of [-1, 2 ** 31, 1.5, NaN]) {
    refused(gpu, () => transpose(x, { grid: [extent] }), {
      argument: "grid.x of transpose",
      expected: "an integer from 0 to 2147483647",
      actual: `${extent}`,
    });
  }
});

Deno.test("transpose() refuses a grid that is no list of one to three integers", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const expected = "a list of one to three integers: [x], [x, y] or [x, y, z]";
  for (
    const [grid, actual] of [
      [5, "5"],
      [{ x: 5 }, "an object"],
      [[], "[]"],
      [[1, 1, 1, 1], "[1, 1, 1, 1]"],
      [new Date(0), "an object of class Date"],
      [null, "null"],
      ["12", '"12"'],
      [new Uint32Array([1, 1]), "an object of class Uint32Array"],
      [() => [1], "a function"],
    ] as const
  ) refused(gpu, () => untyped(x, { grid }), { argument: "grid of transpose", expected, actual });
  assertThrows(() => untyped(x, { grid: 5 }), ArgumentError, "hint: pass { grid: [5] }");
  for (
    const [grid, actual] of [
      [[1, undefined], "undefined"],
      [new Array(2).fill(1, 0, 1), "undefined"],
      [[1, "2"], '"2"'],
      [[1, 2n], "2n"],
      [[1, Symbol("s")], "Symbol(s)"],
      [[1, [2]], "[2]"],
    ] as const
  ) {
    refused(gpu, () => untyped(x, { grid }), {
      argument: "grid.y of transpose",
      expected: "an integer from 0 to 65535",
      actual,
    });
  }
  assertEquals(gpu.driver.launches.length, 0);
  untyped(x, { grid: [2, 3, 4] });
  assertEquals(gpu.driver.launches[0]?.grid, [2, 3, 4]);
});

Deno.test("grid() refuses sizes that were not given", () => {
  using gpu = fakeGpu();
  transpose(gpu.device.zeros("float32", [2, 3]));
  const error = assertThrows(() => untyped.grid({ M: 3 }), ArgumentError);
  assertEquals(error.actual, "NaN = cdiv(N, TN) with N = NaN, TN = 32");
});

Deno.test("launch() refuses buffers that the launch would leave, and says how large they must be", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = gpu.device.empty("float32", [3, 2]);
  refused(gpu, () => transpose.launch({ X: x, Y: y, M: 2, N: 4, ldx: 3, ldy: 2 }), {
    argument: "X of transpose",
    expected: "a buffer of at least 28 bytes: the launch touches elements 0 to 6",
    actual: "float32[2, 3] in a buffer of 24 bytes",
  });
  const late = gpu.device.tensor(counting(12), [4, 3]).narrow(0, 2, 2);
  refused(gpu, () => transpose.launch({ X: late, Y: y, M: 2, N: 4, ldx: 3, ldy: 2 }), {
    argument: "X of transpose",
    expected:
      "a buffer of at least 52 bytes: the launch touches elements 0 to 6 after the 24 bytes before the tensor",
    actual: "float32[2, 3] in a buffer of 48 bytes",
  });
});

Deno.test("transpose() refuses tiles that reach beyond a buffer where the kernel has no masks", () => {
  using gpu = fakeGpu();
  refused(gpu, () => unmasked(gpu.device.zeros("float32", [64, 31])), {
    argument: "x of transpose",
    expected: "a buffer of at least 7940 bytes: the launch touches elements 0 to 1984",
    actual: "float32[64, 31] in a buffer of 7936 bytes",
  });
  using y = unmasked(gpu.device.zeros("float32", [64, 32]));
  assertEquals(y.shape, [32, 64]);
});

Deno.test("launch() refuses values that are no numbers of the parameter's type", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = gpu.device.empty("float32", [3, 2]);
  const int = "an integer from -2147483648 to 2147483647";
  for (
    const [M, actual] of [[undefined, "undefined"], [1.5, "1.5"], [2n, "2n"], [
      2 ** 31,
      "2147483648",
    ]] as const
  ) {
    refused(gpu, () => untyped.launch({ X: x, Y: y, M, N: 3, ldx: 3, ldy: 2 }), {
      argument: "M of transpose",
      expected: int,
      actual,
    });
  }
  refused(gpu, () => untyped.launch(undefined), {
    argument: "arguments of transpose",
    expected: "a plain object with X, Y, M, N, ldx, ldy",
    actual: "undefined",
  });
  refused(gpu, () => untyped.launch({ X: null, Y: y }), {
    argument: "X of transpose",
    expected: "a tensor",
    actual: "null",
  });
});

Deno.test("launch() refuses an address below the element's alignment", () => {
  using gpu = fakeGpu();
  using bytes = gpu.device.zeros("float32", [16]);
  using y = gpu.device.empty("float32", [4]);
  // Views keep to whole elements, so that only a broken tensor can get here.
  const odd = bytes.narrow(0, 0, 16);
  Object.defineProperty(odd, "address", { value: bytes.address + 2n });
  const error = assertThrows(
    () => transpose.launch({ X: odd, Y: y, M: 2, N: 2, ldx: 2, ldy: 2 }),
    ArgumentError,
    "an address that is a multiple of 4 bytes",
  );
  assertStringIncludes(error.actual, "2 bytes past one");
});

Deno.test("launch() refuses to start on a disposed stream", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  const stream = gpu.device.stream();
  stream[Symbol.dispose]();
  assertThrows(() => transpose(x, { stream }), DisposedError, "Stream");
  assertEquals(gpu.driver.launches.length, 0);
});

Deno.test("transpose.launch() refuses a negative extent, also where its grid would be empty", () => {
  using gpu = fakeGpu();
  using x = gpu.device.tensor(counting(6), [2, 3]);
  using y = gpu.device.empty("float32", [3, 2]);
  refused(gpu, () => untyped.launch({ X: x, Y: y, M: -1, N: 3, ldx: 3, ldy: 2 }), {
    argument: "M of transpose",
    expected: "an extent: 0 or more",
    actual: "-1",
  });
});
