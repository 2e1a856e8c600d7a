import fc from "../../support/property.ts";
import { Cublas } from "../../../ffi/cublas/cublas.ts";
import { CublasError, CublasNotFoundError } from "../../../ffi/cublas/errors.ts";
import { cublasLibraries, openCublasLibrary } from "../../../ffi/cublas/library.ts";
import { Device } from "../../../ffi/device.ts";
import { fromBfloat16, hostArray, toBfloat16 } from "../../../ffi/dtype.ts";
import { ArgumentError, DisposedError, PermissionError } from "../../../ffi/errors.ts";
import type { Tensor } from "../../../ffi/tensors/tensor.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";
import { FakeCublas } from "./fake_cublas.ts";

type ProductDType = "float16" | "bfloat16" | "float32" | "float64";

interface Rig extends Disposable {
  readonly device: Device;
  readonly library: FakeCublas;
  readonly cublas: Cublas;
}

function open(): Rig {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  const library = new FakeCublas(driver);
  const cublas = Cublas.with(device, library);
  return {
    device,
    library,
    cublas,
    [Symbol.dispose]: () => {
      cublas[Symbol.dispose]();
      device[Symbol.dispose]();
    },
  };
}

/** A matrix of small whole numbers, exact in every type, and how it lies. */
interface Operand<D extends ProductDType> {
  readonly tensor: Tensor<D, 2>;
  at(row: number, column: number): number;
}

function operand<D extends ProductDType>(
  device: Device,
  dtype: D,
  [rows, columns]: readonly [number, number],
  { by, gap }: { readonly by: "rows" | "columns"; readonly gap: number },
): Operand<D> {
  const strides = by === "rows" ? [columns + gap, 1] : [1, rows + gap];
  const [down = 0, across = 0] = strides;
  const at = (row: number, column: number): number => ((row * 7 + column * 3) % 11) - 5;
  const data = hostArray(dtype, (by === "rows" ? rows : columns) * Math.max(down, across) + 1);
  const store = dtype === "bfloat16" ? toBfloat16 : (value: number): number => value;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      data[row * down + column * across] = store(at(row, column));
    }
  }
  return { tensor: device.tensor(data, [rows, columns], { dtype, strides }), at };
}

Deno.test("Cublas.matmul() multiplies matrices of every type, size and storage", () => {
  using rig = open();
  const { device, cublas } = rig;
  const storage = fc.record({
    by: fc.constantFrom("rows" as const, "columns" as const),
    gap: fc.integer({ min: 0, max: 3 }),
  });
  const size = fc.integer({ min: 0, max: 6 });
  const dtype = fc.constantFrom("float16" as const, "bfloat16", "float32", "float64");
  fc.assert(fc.property(dtype, size, size, size, storage, storage, (type, m, n, k, left, right) => {
    const a = operand(device, type, [m, k], left);
    const b = operand(device, type, [k, n], right);
    using c = device.empty(type, [m, n], { strides: [n + 2, 1] });
    cublas.matmul(a.tensor, b.tensor, c);
    const expected = Array.from({ length: m * n }, (_, index) => {
      const [row, column] = [Math.floor(index / n), index % n];
      let sum = 0;
      for (let l = 0; l < k; l++) sum += a.at(row, l) * b.at(l, column);
      return sum;
    });
    const read = type === "bfloat16" ? fromBfloat16 : (value: number): number => value;
    assertEquals([...c.readSync()].map(Number).map(read), expected);
  }));
});

Deno.test("Cublas.prepare() refuses shapes and storages that cuBLAS has no product for", () => {
  using rig = open();
  const { device, cublas } = rig;
  const empty = (...shape: [number, number]): Tensor<"float32", 2> =>
    device.empty("float32", shape);
  const [a, b, c] = [empty(4, 6), empty(6, 8), empty(4, 8)];
  const apart = device.empty("float32", [6, 8], { strides: [32, 2] });
  const cases = [
    [a, empty(5, 8), c, "Argument b: expected shape [6, 8], got [5, 8]"],
    [a, b, empty(4, 7), "Argument out: expected shape [4, 8], got [4, 7]"],
    [
      a,
      apart,
      c,
      "Argument b: expected a matrix stored by rows or by columns, got strides [32, 2]",
    ],
    [a, b, empty(8, 4).transpose(), "Argument out: expected a matrix stored by rows"],
  ] as const;
  for (const [x, y, out, message] of cases) {
    assertThrows(() => cublas.prepare(x, y, out), ArgumentError, message);
  }
});

Deno.test("Cublas refuses what is no matrix of its device, and results over its operands", () => {
  using rig = open();
  using other = Device.fromDriver(new FakeDriver());
  const { device, cublas } = rig;
  const a = device.zeros("float32", [2, 2]);
  const multiply = (...args: unknown[]): () => unknown => () =>
    Reflect.apply(cublas.matmul, cublas, args);
  const matrices = "a matrix of float16, bfloat16, float32, float64 on device 0 (Fake GPU)";
  for (
    const [args, argument, expected] of [
      [[null, a, a], "a", "a tensor"],
      [[a, {}, a], "b", "a tensor"],
      [[a, a], "out", "a tensor"],
      [[new Proxy(a, {}), a, a], "a", "a tensor"],
      [[a, a, other.zeros("float32", [2, 2])], "out", matrices],
      [[device.zeros("int32", [2, 2]), a, a], "a", matrices],
      [[device.zeros("float32", [4]), a, a], "a", matrices],
      [[a, device.zeros("float64", [2, 2]), a], "b", "elements of float32, as those of a"],
      [
        [a, a, a],
        "out",
        "memory apart from the operands, because it is written while they are read",
      ],
    ] as const
  ) {
    const error = assertThrows(multiply(...args), ArgumentError);
    assertEquals([error.argument, error.expected], [argument, expected]);
  }
  for (const value of [null, {}, 5, a]) {
    const opening = (): unknown => Reflect.apply(Cublas.open, Cublas, [value]);
    assertThrows(opening, ArgumentError, "device of Cublas.open");
  }
  cublas.matmul(a, a, device.zeros("float32", [2, 2]));
  // Columns of one matrix lie apart.
  const wide = device.zeros("float32", [2, 4]);
  cublas.matmul(wide.narrow(1, 0, 2), a, wide.narrow(1, 2, 2));
});

Deno.test("Cublas works on the default stream, can be recorded, and gives everything back", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const library = new FakeCublas(driver);
  const cublas = Cublas.with(device, library);
  assertEquals(cublas.version, 130000);
  assertEquals(library.calls, ["create", "version", "stream", "workspace 33554432"]);
  const a = device.zeros("float32", [2, 2]);
  const call = cublas.prepare(a, a, device.zeros("float32", [2, 2]));
  using graph = device.defaultStream.capture(call);
  graph.launch();
  cublas[Symbol.dispose]();
  cublas[Symbol.dispose]();
  assertEquals(library.calls.filter((name) => name.startsWith("destroy")), ["destroy 77"]);
  assert(library.closed);
  assertThrows(call, DisposedError);
});

Deno.test("Cublas names the status of what failed, and closes the library if it cannot start", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const library = new FakeCublas(driver);
  library.status["create"] = 1;
  assertThrows(
    () => Cublas.with(device, library),
    CublasError,
    "cublasCreate of libfake.so failed: CUBLAS_STATUS_NOT_INITIALIZED",
  );
  assert(library.closed);
  const other = new FakeCublas(driver);
  using cublas = Cublas.with(device, other);
  other.status["gemm"] = 15;
  const a = device.zeros("float32", [2, 2]);
  assertThrows(
    () => cublas.matmul(a, a, device.zeros("float32", [2, 2])),
    CublasError,
    "SUPPORTED",
  );
});

Deno.test("Cublas.open() refuses the emulator", () => {
  using device = Device.fromDriver(new FakeDriver({ devices: [{ kind: "emulator" }] }));
  assertThrows(() => Cublas.open(device), ArgumentError, "Argument device: expected a GPU");
});

Deno.test("openCublasLibrary() reports where it searched, and how to name another path", () => {
  const error = assertThrows(
    () => openCublasLibrary(["libno-such-blas.so.1", "/nowhere/libcublas.so"]),
    CublasNotFoundError,
    "Cannot find cuBLAS (tried libno-such-blas.so.1, /nowhere/libcublas.so)",
  );
  assertStringIncludes(error.hint ?? "", "TRI_CUBLAS");
  assertEquals(error.searched.length, 2);
});

Deno.test({
  name: "openCublasLibrary() distinguishes a library that is not cuBLAS from a missing one",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    assertThrows(
      () => openCublasLibrary(["libc.so.6"]),
      CublasError,
      "libc.so.6 lacks cublas",
    );
  },
});

Deno.test({
  name: "openCublasLibrary() names the permission that is missing",
  permissions: { ffi: false, env: true },
  fn: () => {
    assertThrows(() => openCublasLibrary(cublasLibraries()), PermissionError, "--allow-ffi");
  },
});

Deno.test("cublasLibraries() takes the path that TRI_CUBLAS names, and no other", () => {
  assert(cublasLibraries().length > 1);
  Deno.env.set("TRI_CUBLAS", "/opt/libcublas.so.12");
  try {
    assertEquals(cublasLibraries(), ["/opt/libcublas.so.12"]);
  } finally {
    Deno.env.delete("TRI_CUBLAS");
  }
});
