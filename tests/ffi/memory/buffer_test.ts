import { Device } from "../../../ffi/device.ts";
import { ArgumentError, DisposedError } from "../../../ffi/errors.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

/** What a call of `use` requests of the driver: pairs of earlier and later stream. */
function ordersOf(driver: FakeDriver, body: () => void): [earlier: unknown, later: unknown][] {
  const before = driver.calls.length;
  body();
  const calls = driver.calls.slice(before);
  const earlier = calls.filter(({ name }) => name === "recordEvent").map(({ args }) => args[1]);
  const later = calls.filter(({ name }) => name === "waitForEvent").map(({ args }) => args[0]);
  return earlier.map((stream, i) => [stream, later[i]]);
}

Deno.test("DeviceBuffer.use() calls no driver function while one stream uses it", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using tensor = device.zeros("float32", [4]);
  const orders = ordersOf(driver, () => {
    tensor.buffer.use(device.defaultStream, true);
    tensor.buffer.use(device.defaultStream, false);
  });
  assertEquals(orders, []);
});

Deno.test("DeviceBuffer.use() lets readers wait for the writer, once", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using a = device.stream();
  using b = device.stream();
  using tensor = device.zeros("float32", [4]);
  const writer = device.defaultStream.handle;
  assertEquals(ordersOf(driver, () => tensor.buffer.use(a, false)), [[writer, a.handle]]);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(b, false)), [[writer, b.handle]]);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(a, false)), []);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(device.defaultStream, false)), []);
});

Deno.test("DeviceBuffer.use() lets a writer wait for readers and the writer before", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using a = device.stream();
  using b = device.stream();
  using tensor = device.zeros("float32", [4]);
  const first = device.defaultStream.handle;
  tensor.buffer.use(a, false);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(b, true)), [[a.handle, b.handle], [
    first,
    b.handle,
  ]]);
  assertEquals(tensor.buffer.stream, b);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(a, false)), [[b.handle, a.handle]]);
});

Deno.test("DeviceBuffer.use() lets a reader that becomes the writer wait for the writer before", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using a = device.stream();
  using tensor = device.zeros("float32", [4]);
  tensor.buffer.use(a, false);
  tensor.buffer.use(device.defaultStream, true);
  assertEquals(ordersOf(driver, () => tensor.buffer.use(a, true)), [[
    device.defaultStream.handle,
    a.handle,
  ]]);
});

Deno.test("DeviceBuffer.use() waits for nothing of a stream that is disposed, which has finished", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const stream = device.stream();
  using tensor = device.zeros("float32", [4], { stream });
  stream[Symbol.dispose]();
  assertEquals(tensor.buffer.stream, device.defaultStream);
  assertEquals(ordersOf(driver, () => tensor.readSync()), []);
});

Deno.test("DeviceBuffer.use() refuses a stream of another device and a disposed buffer", () => {
  const driver = new FakeDriver({ devices: [{}, { name: "Other GPU" }] });
  using device = Device.fromDriver(driver);
  using other = Device.fromDriver(driver, 1);
  using again = Device.fromDriver(driver);
  const tensor = device.zeros("float32", [4]);
  assertThrows(
    () => tensor.buffer.use(other.defaultStream, true),
    ArgumentError,
    "expected a stream of the tensor's device, device 0 (Fake GPU), got one of device 1 (Other GPU)",
  );
  assertThrows(
    () => tensor.buffer.use(again.defaultStream, true),
    ArgumentError,
    "got one of the same GPU opened another time",
  );
  tensor[Symbol.dispose]();
  assertThrows(
    () => tensor.buffer.use(device.defaultStream, true),
    DisposedError,
    "Buffer of 16 bytes was disposed",
  );
  assertThrows(() => tensor.buffer.address, DisposedError);
});
