import fc from "../../support/property.ts";
import { Device } from "../../../ffi/device.ts";
import { OutOfMemoryError } from "../../../ffi/errors.ts";
import { sizeClass } from "../../../ffi/memory/pool.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

Deno.test("sizeClass() wastes at most an eighth, and is its own class", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (bytes) => {
    const size = sizeClass(bytes);
    assert(size >= bytes);
    assert(size <= Math.max(512, bytes * 1.125) || size - bytes < 2 ** 21);
    assertEquals(sizeClass(size), size);
    assertEquals(size % 64, 0);
  }));
});

Deno.test("Device.empty() reuses what a disposed tensor gave back", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const first = device.empty("float32", [100]);
  const { address } = first;
  first[Symbol.dispose]();
  using second = device.empty("int32", [99]);
  assertEquals(second.address, address);
  using third = device.empty("int32", [99]);
  assertNotEquals(third.address, address);
  assertEquals(driver.names().filter((name) => name === "allocate").length, 2);
});

Deno.test("Device.empty() never shares memory between streams without a wait", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using stream = device.stream();
  const first = device.empty("float32", [100]);
  const { address } = first;
  first[Symbol.dispose]();
  using other = device.empty("float32", [100], { stream });
  assertNotEquals(other.address, address);
});

Deno.test("Device.empty() waits for the readers of the memory it hands out", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using reader = device.stream();
  const first = device.zeros("float32", [100]);
  first.buffer.use(reader, false);
  first[Symbol.dispose]();
  const before = driver.calls.length;
  using _second = device.empty("float32", [100]);
  const calls = driver.calls.slice(before).filter(({ name }) => name !== "makeCurrent");
  assertEquals(calls.map(({ name }) => name), ["recordEvent", "waitForEvent"]);
  assertEquals(calls[0]?.args[1], reader.handle);
  assertEquals(calls[1]?.args[0], device.defaultStream.handle);
});

Deno.test("Device.empty() gives kept memory back before it runs out", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  device.empty("float32", [1000])[Symbol.dispose]();
  driver.fail("allocate", "CUDA_ERROR_OUT_OF_MEMORY");
  using tensor = device.empty("float32", [5000]);
  assertEquals(tensor.elements, 5000);
  assertEquals(driver.names().filter((name) => name === "free").length, 1);
  driver.fail("allocate", "CUDA_ERROR_OUT_OF_MEMORY");
  assertThrows(
    () => device.empty("float32", [9000]),
    OutOfMemoryError,
    "Cannot allocate 36864 bytes",
  );
});

Deno.test("Device.trim() gives kept memory back and nothing that is in use", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using used = device.tensor(new Uint8Array([1, 2, 3]), [3]);
  device.empty("float32", [128])[Symbol.dispose]();
  assertEquals(device.trim(), 512);
  assertEquals(device.trim(), 0);
  assertEquals(used.readSync(), new Uint8Array([1, 2, 3]));
});

Deno.test("Stream disposal hands its kept memory to the default stream", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const stream = device.stream();
  const first = device.empty("float32", [100], { stream });
  const { address } = first;
  first[Symbol.dispose]();
  stream[Symbol.dispose]();
  using second = device.empty("float32", [100]);
  assertEquals(second.address, address);
});

Deno.test("Device.empty() allocates exactly what it needs from a driver that watches memory, and frees it at once", () => {
  const driver = new FakeDriver({ watchesMemory: true });
  using device = Device.fromDriver(driver);
  using tensor = device.empty("float32", [3]);
  assertEquals(driver.allocatedBytes, 12);
  assertEquals(driver.described.get(tensor.address), {
    dtype: "float32",
    shape: [3],
    strides: [1],
  });
  const { address } = tensor;
  tensor[Symbol.dispose]();
  assertEquals(driver.allocatedBytes, 0);
  using other = device.empty("float32", [3]);
  assertNotEquals(other.address, address);
  assertEquals(device.trim(), 0);
});
