import { Device } from "../../ffi/device.ts";
import { ArgumentError, CudaError, DisposedError, NoDeviceError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";
import { FakeDriver } from "../support/driver/fake_driver.ts";

Deno.test("Device.fromDriver() refuses a device that is not there", () => {
  const driver = new FakeDriver({ devices: [{}, {}] });
  for (const ordinal of [2, -1, 0.5]) {
    assertThrows(
      () => Device.fromDriver(driver, ordinal),
      NoDeviceError,
      `No CUDA device ${ordinal}: 2 found, numbered from 0\nhint: use a device number from 0 to 1`,
    );
  }
  assertThrows(
    () => Device.fromDriver(new FakeDriver({ devices: [] })),
    NoDeviceError,
    "sees no GPU",
  );
  assertEquals(driver.retained(), 0);
});

Deno.test("Device disposal gives everything back, is idempotent, and ends its use", () => {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  const tensor = device.zeros("float32", [4]);
  device.empty("float32", [4])[Symbol.dispose]();
  const stream = device.stream();
  const module = device.loadModule(new Uint8Array(1), "a.cubin");
  const event = device.event();
  device[Symbol.dispose]();
  device[Symbol.dispose]();
  assertEquals(driver.allocatedBytes, 0);
  assertEquals(driver.retained(), 0);
  const count = (wanted: string): number => driver.names().filter((name) => name === wanted).length;
  assertEquals(count("createStream"), count("destroyStream"));
  assertEquals(count("loadModule"), count("unloadModule"));
  assertThrows(
    () => device.zeros("float32", [1]),
    DisposedError,
    "Device 0 (Fake GPU) was disposed",
  );
  assertThrows(() => tensor.address, DisposedError, "Tensor float32[4] was disposed");
  assertThrows(() => stream.handle, DisposedError);
  // What outlives its device can still be disposed.
  for (const late of [tensor, stream, module, event]) late[Symbol.dispose]();
});

Deno.test("Device disposal continues after a failure and reports the first", () => {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  device.zeros("float32", [4]);
  driver.fail("synchronize", "CUDA_ERROR_ILLEGAL_ADDRESS");
  driver.fail("destroyEvent", "CUDA_ERROR_INVALID_VALUE");
  const error = assertThrows(
    () => device[Symbol.dispose](),
    CudaError,
    "CUDA_ERROR_ILLEGAL_ADDRESS",
  );
  assert(error.hint?.includes("compute-sanitizer"));
  assertEquals(driver.allocatedBytes, 0);
  assertEquals(driver.retained(), 0);
  assert(device.disposed);
});

Deno.test("Device.enter() makes the device's context current", () => {
  const driver = new FakeDriver({ devices: [{}, {}] });
  using first = Device.fromDriver(driver, 0);
  using second = Device.fromDriver(driver, 1);
  const currentDuring = (body: () => void): unknown => {
    body();
    return driver.calls.findLast(({ name }) => name === "makeCurrent")?.args[0];
  };
  assertEquals(currentDuring(() => first.synchronize()), 1n);
  assertEquals(currentDuring(() => second.zeros("int8", [1])), 2n);
  assertEquals(currentDuring(() => first.zeros("int8", [1])), 1n);
});

Deno.test("Device.tensor() copies the data as the element type that the array means", () => {
  using device = Device.fromDriver(new FakeDriver());
  using halves = device.tensor(new Float16Array([1.5, -2]), [2]);
  assertEquals(halves.dtype, "float16");
  assertEquals(halves.readSync(), new Float16Array([1.5, -2]));
  using bits = device.tensor(new Uint16Array([0x3f80]), [1], { dtype: "bfloat16" });
  assertEquals(bits.dtype, "bfloat16");
  assertEquals(bits.readSync(), new Uint16Array([0x3f80]));
  using flags = device.tensor(new Uint8Array([1, 0]), [2], { dtype: "bool" });
  assertEquals(String(flags), "bool[2]");
});

Deno.test("Device.tensor() refuses data of another length, another array, or no array", () => {
  using device = Device.fromDriver(new FakeDriver());
  assertThrows(
    () => device.tensor(new Float32Array(5), [2, 3]),
    ArgumentError,
    "Argument data: expected 6 elements for shape [2, 3], got 5",
  );
  assertThrows(
    () => device.tensor(new Float32Array(7), [2, 3], { strides: [5, 1] }),
    ArgumentError,
    "expected at least 8 elements for shape [2, 3] with strides [5, 1], got 7",
  );
  const untyped: Float32Array = JSON.parse('"1, 2"');
  assertThrows(
    () => device.tensor(untyped, [2]),
    ArgumentError,
    'expected a typed array or numbers, got "1, 2"',
  );
  const wrong = (): unknown =>
    // @ts-expect-error -- a Float32Array does not hold float64
    device.tensor(new Float32Array(2), [2], { dtype: "float64" });
  assertThrows(
    wrong,
    ArgumentError,
    "expected Float64Array, its bytes or numbers for float64, got Float32Array",
  );
  assertThrows(() => device.tensor(new Float32Array(0), [-1]), ArgumentError, "Argument shape");
});

Deno.test("Device.tensor() takes strided data with its gaps", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(new Int32Array([1, 2, 0, 3, 4, 0]), [2, 2], { strides: [3, 1] });
  assertEquals(tensor.readSync(), new Int32Array([1, 2, 3, 4]));
  assertEquals(tensor.spanBytes, 20);
});

Deno.test("Device.empty() needs no memory for a tensor without elements", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using tensor = device.empty("float32", [0, 3]);
  assertEquals([tensor.elements, tensor.spanBytes, tensor.address], [0, 0, 0n]);
  assertEquals(tensor.readSync(), new Float32Array(0));
  tensor.write(new Float32Array(0));
  using copy = device.tensor(new Float32Array(0), [0]);
  assertEquals(copy.elements, 0);
  using zeros = device.zeros("int8", [0]);
  assertEquals(zeros.elements, 0);
  assertEquals(driver.names().includes("allocate"), false);
});

Deno.test("Device.zeros() is all zeros", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.zeros("uint64", [2, 2]);
  assertEquals(tensor.readSync(), new BigUint64Array(4));
});

Deno.test("Device.zeros() refuses an element type that there is not, and a shape that is no list", () => {
  using device = Device.fromDriver(new FakeDriver());
  const untyped: { zeros(dtype: unknown, shape?: unknown): unknown } = device;
  assertThrows(() => untyped.zeros("flaot32", [2]), ArgumentError, "dtype: expected one of bool,");
  assertThrows(
    () => untyped.zeros("float32"),
    ArgumentError,
    "Argument shape is missing: expected a list of integers, such as [2, 3]",
  );
  assertThrows(() => untyped.zeros("float32", 4), ArgumentError, "such as [2, 3], got 4");
});

Deno.test("Device.tensor() refuses data that elements which share memory would drop", () => {
  using device = Device.fromDriver(new FakeDriver());
  for (const [strides, needed] of [[[0, 1], 3], [[1, 1], 4]] as const) {
    const error = assertThrows(
      () => device.tensor(new Float32Array(6), [2, 3], { strides }),
      ArgumentError,
    );
    assertEquals(
      error.expected,
      `${needed} elements for shape [2, 3] with strides [${strides.join(", ")}]`,
    );
    assertStringIncludes(error.message, "several elements of such a tensor share memory");
    using tensor = device.tensor(new Float32Array(needed), [2, 3], { strides });
    assertEquals(tensor.elements, 6);
  }
  using rows = device.tensor(new Float32Array(10), [2, 3], { strides: [5, 1] });
  assertEquals(rows.spanBytes, 32);
});

Deno.test("Device methods refuse options with unknown names, and values that are none", () => {
  using device = Device.fromDriver(new FakeDriver());
  using other = Device.fromDriver(new FakeDriver());
  const data = new Float32Array(6);
  const methods: Readonly<Record<string, (...args: unknown[]) => unknown>> = Object(device);
  const call = (method: string, ...args: unknown[]): () => unknown => () =>
    methods[method]?.call(device, ...args);
  for (
    const [run, argument] of [
      [call("tensor", data, [2, 3], { stride: [3, 1] }), "options of tensor"],
      [call("tensor", data, [2, 3], { dtype: "constructor" }), "dtype"],
      [call("tensor", data, [2, 3], { dtype: null }), "dtype"],
      [call("tensor", data, [2, 3], { stream: null }), "stream"],
      [call("tensor", data, [2, 3], { stream: other.defaultStream }), "stream"],
      [call("tensor", data, [2, 3], null), "options of tensor"],
      [call("tensor", { length: 6 }, [6]), "data"],
      [call("tensor", { [Symbol.toStringTag]: "Float32Array", length: 6 }, [6]), "data"],
      [call("empty", "constructor", [2]), "dtype"],
      [call("empty", Symbol("s"), [2]), "dtype"],
      [call("empty", "float32", [2], { dtype: "float32" }), "options of a tensor"],
      [call("zeros", "float32", 5), "shape"],
      [call("event", { timeing: false }), "options of event"],
      [call("event", { timing: 1 }), "timing"],
      [call("event", { timing: null }), "timing"],
      [call("loadModule", null, "m"), "image"],
      [call("loadModule", new Uint8Array(3)), "name of KernelModule"],
      [call("order", null, device.defaultStream), "earlier of order"],
      [call("order", device.defaultStream, other.defaultStream), "later of order"],
      [call("retire", 5), "stream of retire"],
      [call("forget", {}), "module of forget"],
    ] as const
  ) assertEquals(assertThrows(run, ArgumentError).argument, argument);
  using tensor = device.tensor(data, [2, 3]);
  assertEquals(tensor.readSync(), data);
});

Deno.test("Device.fromDriver() refuses what is no driver, and says what it lacks", () => {
  const from = (driver: unknown, ordinal?: unknown): () => unknown => () =>
    Reflect.apply(Device.fromDriver, Device, [driver, ordinal]);
  for (
    const [driver, actual] of [
      [{}, "an object without deviceCount()"],
      [null, "null"],
      ["cuda", '"cuda"'],
      [{ deviceCount: () => 1 }, "an object without deviceInfo()"],
    ] as const
  ) {
    const error = assertThrows(from(driver), ArgumentError);
    assertEquals([error.argument, error.actual], ["driver of fromDriver", actual]);
  }
  for (const ordinal of [Symbol("s"), 1n, "0", 0.5, -1, 1]) {
    assertThrows(from(new FakeDriver(), ordinal), NoDeviceError, "No CUDA device");
  }
});
