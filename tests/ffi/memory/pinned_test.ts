/** Pinned host memory: what is queued, in which order, and what the memory holds. */
import { Device } from "../../../ffi/device.ts";
import { ArgumentError, DisposedError, LaunchError } from "../../../ffi/errors.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

Deno.test("Tensor.copyFrom() and copyTo() move elements through pinned memory, of every shape", async () => {
  using device = Device.open({ device: "emulator" });
  for (const shape of [[], [0], [5], [2, 3], [3, 0, 2]]) {
    const elements = shape.reduce((product, extent) => product * extent, 1);
    using from = device.pinned("float64", shape);
    using to = device.pinned("float64", shape);
    using x = device.empty("float64", shape);
    from.array.set(Float64Array.from({ length: elements }, (_, i) => i + 0.5));
    to.array.fill(NaN);
    x.copyFrom(from);
    x.copyTo(to);
    await to.finished();
    assertEquals([to.array, to.elements, from.done], [from.array, elements, true]);
  }
});

Deno.test("Device.pinned() keeps bits of types without an array", async () => {
  using device = Device.open({ device: "emulator" });
  using pinned = device.pinned("bfloat16", [2]);
  pinned.array.set([0x3f80, 0xc000]);
  using x = device.empty("bfloat16", [2]);
  x.copyFrom(pinned);
  assertEquals(x.cast("float32").readSync(), Float32Array.of(1, -2));
  assertEquals(await x.readInto(new Uint16Array(2)), Uint16Array.of(0x3f80, 0xc000));
});

Deno.test("Tensor.copyFrom() of pinned memory waits for nothing and orders the streams", async () => {
  const driver = new FakeDriver({ busyPolls: 2 });
  using device = Device.fromDriver(driver);
  using copies = device.stream();
  using x = device.zeros("float32", [4]);
  using pinned = device.pinned("float32", [4]);
  pinned.array.set([1, 2, 3, 4]);
  driver.calls.length = 0;
  x.copyFrom(pinned, { stream: copies });
  // The zeros were queued on the default stream.
  assertEquals(driver.names(), [
    "recordEvent",
    "waitForEvent",
    "copyToDevice",
    "createEvent",
    "recordEvent",
  ]);
  assertEquals(pinned.done, false);
  driver.calls.length = 0;
  // Back on another stream: after the copy that reads the memory and the one that wrote the tensor.
  x.copyTo(pinned, { stream: device.defaultStream });
  const names = driver.names();
  assertEquals(names.filter((name) => name === "waitForEvent").length, 2);
  assertEquals(names.indexOf("copyToHost") > names.lastIndexOf("waitForEvent"), true);
  assert(!names.some((name) => name.startsWith("synchronize")));
  await pinned.finished();
  assertEquals([pinned.done, pinned.array], [true, Float32Array.of(1, 2, 3, 4)]);
});

Deno.test("Tensor.readInto() copies on the stream that it is given", async () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using copies = device.stream();
  using x = device.tensor([1, 2]);
  driver.calls.length = 0;
  assertEquals(await x.readInto(new Float32Array(2), { stream: copies }), Float32Array.of(1, 2));
  const copy = driver.calls.find(({ name }) => name === "copyToHost");
  assertEquals(copy?.args.at(-1), copies.handle);
});

Deno.test("PinnedArray registers whole pages, and gives them back when it is disposed", () => {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  const first = device.pinned("int16", [3]);
  assertEquals([first.bytes.length, String(first)], [6, "pinned int16[3]"]);
  const { array } = first;
  first.dispose();
  first.dispose();
  assertEquals(driver.calls.filter(({ name }) => name === "unpin").length, 1);
  assertEquals(driver.calls.find(({ name }) => name === "unpin")?.args, [65_536]);
  // The array is memory of JavaScript and stays valid.
  array.fill(7);
  assertThrows(() => first.array, DisposedError);
  const second = device.pinned("int16", [40_000]);
  device.dispose();
  assertEquals(driver.calls.findLast(({ name }) => name === "unpin")?.args, [131_072]);
  assert(second.disposed);
});

Deno.test("copies of pinned memory refuse other shapes, gaps, captures and other devices", async () => {
  using device = Device.open({ device: "emulator" });
  using other = Device.open({ device: "emulator" });
  using stream = device.stream();
  using x = device.zeros("float32", [2, 3]);
  using pinned = device.pinned("float32", [2, 3]);
  using foreign = other.pinned("float32", [2, 3]);
  using wrong = device.pinned("float32", [3, 2]);
  assertThrows(() => x.copyFrom(wrong), ArgumentError, "float32[2, 3]");
  assertThrows(() => x.copyTo(foreign), ArgumentError);
  assertThrows(() => x.copyTo(pinned, { stream: other.defaultStream }), ArgumentError, "stream");
  assertThrows(
    () => wrong.device.zeros("float32", [2, 3]).transpose().copyTo(wrong),
    ArgumentError,
    "gaps",
  );
  assertThrows(() => stream.capture(() => x.copyTo(pinned, { stream })), LaunchError, "graph");
  pinned.dispose();
  assertThrows(() => x.copyFrom(pinned), DisposedError);
  await assertRejects(() => pinned.finished(), DisposedError);
});
