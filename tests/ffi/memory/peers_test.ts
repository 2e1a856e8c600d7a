/** Several devices in one program: copies in the order of both streams, and memory of one in kernels of another. */
import { Device } from "../../../ffi/device.ts";
import { ArgumentError } from "../../../ffi/errors.ts";
import { canAccessPeer, viewPeer } from "../../../ffi/memory/peers.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

const VALUES = Float32Array.of(1, 2, 3, 4, 5, 6);

Deno.test("Tensor.copyFrom() copies from another GPU in the order of both streams, and blocks nothing", () => {
  const driver = new FakeDriver({ devices: [{}, {}] });
  const [first, second] = [Device.fromDriver(driver, 0), Device.fromDriver(driver, 1)];
  const x = first.tensor(VALUES, [2, 3]);
  const stream = second.stream();
  const y = second.empty("float32", [2, 3]);
  driver.calls.length = 0;
  y.copyFrom(x, { stream });
  const names = driver.names();
  const at = names.indexOf("copy");
  // The target waits for the source before the copy, who writes the source for the target after it.
  assertEquals(names.slice(at - 2), [
    "recordEvent",
    "waitForEvent",
    "copy",
    "recordEvent",
    "waitForEvent",
  ]);
  const waits = (): unknown[] =>
    driver.calls.filter(({ name }) => name === "waitForEvent").map(({ args }) => args[0]);
  const [before, reader] = waits().slice(-2);
  assertEquals(before, stream.handle);
  assert(reader !== first.defaultStream.handle);
  assert(!names.includes("synchronizeStream"));
  assertEquals(y.readSync(), VALUES);
  driver.calls.length = 0;
  x.fill(1);
  const records = driver.calls.filter(({ name }) => name === "recordEvent").map(({ args }) =>
    args[1]
  );
  assertEquals([records.includes(reader), waits()], [true, [first.defaultStream.handle]]);
});

Deno.test("Tensor.copyFrom() copies between emulators, by the host, also to and from tensors with gaps", () => {
  using first = Device.open({ device: "emulator" });
  using second = Device.open({ device: "emulator" });
  const x = first.tensor(VALUES, [2, 3]);
  const y = second.empty("float32", [3, 2]);
  y.copyFrom(x.transpose());
  assertEquals(y.readSync(), Float32Array.of(1, 4, 2, 5, 3, 6));
  const gaps = second.zeros("float32", [2, 3], { strides: [4, 1] });
  gaps.copyFrom(x);
  assertEquals(gaps.readSync(), VALUES);
  second.zeros("float32", [0, 3]).copyFrom(first.zeros("float32", [0, 3]));
});

Deno.test("Tensor.copyFrom() between devices refuses other types and shapes, and pinned memory of another device", () => {
  using first = Device.open({ device: "emulator" });
  using second = Device.open({ device: "emulator" });
  const x = first.tensor(VALUES, [2, 3]);
  assertThrows(() => x.copyFrom(second.zeros("float32", [3, 2])), ArgumentError, "float32[2, 3]");
  assertThrows(
    () => Reflect.apply(x.copyFrom, x, [second.zeros("int32", [2, 3])]),
    ArgumentError,
    "float32[2, 3]",
  );
  assertThrows(() => x.copyFrom(second.pinned("float32", [2, 3])), ArgumentError, "source");
});

Deno.test("Stream.waitFor() takes streams and events of other devices", () => {
  const driver = new FakeDriver({ devices: [{}, {}] });
  const [first, second] = [Device.fromDriver(driver, 0), Device.fromDriver(driver, 1)];
  using event = second.event().record();
  driver.calls.length = 0;
  first.defaultStream.waitFor(event);
  first.defaultStream.waitFor(second.defaultStream);
  assertEquals(driver.names(), ["waitForEvent", "recordEvent", "waitForEvent"]);
  // Drivers that do not know each other's events: the host waits.
  using emulator = Device.open({ device: "emulator" });
  driver.calls.length = 0;
  emulator.defaultStream.waitFor(event);
  emulator.defaultStream.waitFor(second.defaultStream);
  assertEquals(driver.names(), ["synchronizeEvent", "synchronizeStream"]);
});

Deno.test("viewPeer() gives kernels memory of another GPU, which the other tensor keeps", () => {
  const driver = new FakeDriver({ devices: [{}, {}] });
  const [first, second] = [Device.fromDriver(driver, 0), Device.fromDriver(driver, 1)];
  const x = second.tensor(VALUES, [2, 3], { strides: [3, 1] });
  const view = viewPeer(first, x);
  assertEquals([view.device, view.address, view.shape], [first, x.address, [2, 3]]);
  assertEquals(view.readSync(), VALUES);
  assertEquals(driver.calls.filter(({ name }) => name === "enableAccess").map(({ args }) => args), [
    [1],
  ]);
  view.dispose();
  assertEquals(x.readSync(), VALUES);
  assert(canAccessPeer(first, second));
});

Deno.test("viewPeer() says how to go on where kernels cannot access the memory", () => {
  const driver = new FakeDriver({ devices: [{}, {}], hasPeerAccess: false });
  const [first, second] = [Device.fromDriver(driver, 0), Device.fromDriver(driver, 1)];
  using emulator = Device.open({ device: "emulator" });
  for (const device of [second, emulator]) {
    assert(!canAccessPeer(first, device));
    const error = assertThrows(() => viewPeer(first, device.zeros("int8", [4])), ArgumentError);
    assert(error.message.includes("copyFrom(tensor) works between all devices"), error.message);
  }
  assertThrows(() => Reflect.apply(canAccessPeer, undefined, [first, {}]), ArgumentError);
  assertThrows(() => Reflect.apply(viewPeer, undefined, [first, {}]), ArgumentError);
});
