/** Memory of others: viewed without copying, waited for, given back once, and shared between processes. */
import { Device } from "../../../ffi/device.ts";
import { ArgumentError, CudaError, DisposedError } from "../../../ffi/errors.ts";
import { openShared, shareTensor } from "../../../ffi/memory/shared_memory.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

Deno.test("Device.wrap() views memory without copying it, and does not free it", () => {
  for (const device of [Device.open({ device: "emulator" }), Device.fromDriver(new FakeDriver())]) {
    using x = device.tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]);
    const view = device.wrap(x.address + 4n, "float32", [2, 2], { strides: [3, 1], owner: x });
    assertEquals(view.readSync(), Float32Array.of(2, 3, 5, 6));
    view.write([20, 30, 50, 60]);
    view.dispose();
    assertThrows(() => view.readSync(), DisposedError);
    assertEquals(x.readSync(), Float32Array.of(1, 20, 30, 4, 50, 60));
    assertEquals(device.wrap(0n, "int8", [0, 3]).readSync(), new Int8Array(0));
    device.dispose();
  }
});

Deno.test("Device.wrap() releases memory once, after queued work, also with the device", () => {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  const stream = device.stream();
  const x = device.zeros("float32", [4]);
  const releases: string[] = [];
  const release = (): void => void releases.push(driver.names().at(-1) ?? "");
  const first = device.wrap(x.address, "float32", [4], { stream, release });
  device.zeros("float32", [4]).copyFrom(first);
  first.dispose();
  first.dispose();
  assertEquals(releases, ["synchronizeStream"]);
  device.wrap(x.address, "float32", [4], { release });
  device.dispose();
  assertEquals(releases.length, 2);
});

Deno.test("Device.wrap() refuses memory that the driver does not know, and says what to do", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.empty("float32", [4]);
  const cases: readonly (readonly [bigint, number, string])[] = [
    [0x1000n, 1, "at 0x1000"],
    [x.address, 5, `at 0x${(x.address + 16n).toString(16)}`],
    [x.address + 2n, 1, "a multiple of the element's 4 bytes"],
    [-4n, 1, "an address, as a bigint"],
    [2n ** 64n, 1, "an address, as a bigint"],
  ];
  for (const [address, elements, problem] of cases) {
    const error = assertThrows(() => device.wrap(address, "float32", [elements]), ArgumentError);
    assertStringIncludes(error.message, problem);
  }
  const { hint } = assertThrows(() => device.wrap(0x1000n, "int8", [1]), ArgumentError);
  assertStringIncludes(hint ?? "", "copy the data with `device.tensor`");
});

Deno.test("openShared() opens what shareTensor() describes, through JSON, and closes it", () => {
  const driver = new FakeDriver();
  const device = Device.fromDriver(driver);
  const x = device.tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]);
  const shared = JSON.parse(JSON.stringify(shareTensor(x.narrow(1, 1, 2).transpose())));
  assertEquals([shared.byteOffset, shared.shape, shared.strides], [4, [2, 2], [1, 3]]);
  const opened = openShared(device, shared);
  assertEquals([`${opened}`, opened.readSync()], ["float32[2, 2]", Float32Array.of(2, 5, 3, 6)]);
  opened.dispose();
  assertEquals(driver.calls.findLast(({ name }) => name === "closeMemory")?.args, [x.address]);
  // What cannot be wrapped is closed again.
  const before = driver.names().length;
  assertThrows(() => openShared(device, { ...shared, byteOffset: 2 ** 40 }), ArgumentError);
  assertEquals(driver.names().slice(before), ["importMemory", "memoryAt", "closeMemory"]);
  assertThrows(() => openShared(device, { ...shared, handle: "12" }), ArgumentError);
  assertThrows(() => shareTensor(device.empty("int8", [0])), ArgumentError);
  device.dispose();
});

Deno.test("shareTensor() is refused by the emulator with the reason", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("int8", [4]);
  const error = assertThrows(() => shareTensor(x), CudaError);
  assertEquals(error.cudaName, "CUDA_ERROR_NOT_SUPPORTED");
  assertStringIncludes(error.message, "the emulator's memory is the memory of one process");
  assert(!x.disposed);
});
