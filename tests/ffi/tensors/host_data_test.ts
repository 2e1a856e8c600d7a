/** Data in and out of tensors: bits, bytes, numbers, copies, conversions and what consoles print. */
import { Device } from "../../../ffi/device.ts";
import { ArgumentError } from "../../../ffi/errors.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

Deno.test("Device.tensor() without a shape makes one dimension", () => {
  using device = Device.fromDriver(new FakeDriver());
  using x = device.tensor(Float32Array.of(1, 2, 3));
  assertEquals([String(x), x.readSync()], ["float32[3]", Float32Array.of(1, 2, 3)]);
  using y = device.tensor([1, 2], undefined, { dtype: "int16" });
  assertEquals([String(y), y.readSync()], ["int16[2]", Int16Array.of(1, 2)]);
  assertEquals(String(device.tensor([[1], [2]].flat(), [2, 1])), "float32[2, 1]");
  assertEquals(device.tensor([1n]).readSync(), BigInt64Array.of(1n));
  assertEquals(device.tensor([true, false]).dtype, "bool");
});

Deno.test("Device.tensor() takes bits, bytes and numbers of the type that is named", () => {
  using device = Device.fromDriver(new FakeDriver());
  const bits = Uint16Array.of(0x3c00, 0xc000);
  const half = device.tensor(bits, [2], { dtype: "float16" });
  assertEquals(half.readSync(), Float16Array.of(1, -2));
  assertEquals(device.tensor([1, -2], [2], { dtype: "float16" }).readSync(), half.readSync());
  assertEquals(device.tensor([1], [1], { dtype: "bfloat16" }).readSync(), Uint16Array.of(0x3f80));
  assertEquals(device.tensor([1], [1], { dtype: "float8e4" }).readSync(), Uint8Array.of(0x38));
  assertEquals(device.tensor(Uint8ClampedArray.of(7), [1]).dtype, "uint8");
  const floats = Float32Array.of(1, 2);
  for (
    const data of [floats.buffer, new DataView(floats.buffer), new Uint8Array(floats.buffer)]
  ) {
    assertEquals(device.tensor(data, [2], { dtype: "float32" }).readSync(), floats);
  }
  // A view that begins between elements.
  const bytes = new Uint8Array(9);
  bytes.set(new Uint8Array(floats.buffer), 1);
  const odd = new DataView(bytes.buffer, 1);
  assertEquals(device.tensor(odd, [2], { dtype: "float32" }).readSync(), floats);
  using gaps = device.zeros("float32", [2], { strides: [2] });
  gaps.write(odd);
  assertEquals(gaps.readSync(), floats);
});

Deno.test("Device.tensor() refuses parts of elements, and bytes of no type", () => {
  using device = Device.fromDriver(new FakeDriver());
  assertThrows(
    () => device.tensor(new ArrayBuffer(6), [1], { dtype: "float32" }),
    ArgumentError,
    "expected bytes of whole elements of float32 (4 bytes each), got 6 bytes",
  );
  assertThrows(
    () => Reflect.apply(device.tensor, device, [new ArrayBuffer(4), [1]]),
    ArgumentError,
    "expected the option dtype beside an ArrayBuffer or a DataView, got none",
  );
  assertThrows(
    () => Reflect.apply(device.tensor, device, [[1, "2"], [2]]),
    ArgumentError,
    'Argument data[1]: expected a number, for float32, got "2"',
  );
});

Deno.test("Tensor.readInto() fills an array of the caller, of elements or of their bits", async () => {
  using device = Device.fromDriver(new FakeDriver());
  using x = device.tensor([1, 2, 3, 4, 5, 6], [2, 3]);
  const target = new Float32Array(6);
  assertEquals(await x.transpose().readInto(target), Float32Array.of(1, 4, 2, 5, 3, 6));
  using half = device.tensor([1, -2], [2], { dtype: "float16" });
  assertEquals(await half.readInto(new Uint16Array(2)), Uint16Array.of(0x3c00, 0xc000));
  assertEquals(await half.readInto(new Float16Array(2)), Float16Array.of(1, -2));
  await assertRejects(() => x.readInto(new Float32Array(5)), ArgumentError, "Argument target");
  const shared = new Float32Array(new SharedArrayBuffer(24));
  await assertRejects(() => x.readInto(shared), ArgumentError, "shared or resizable");
});

Deno.test("Tensor.clone(), contiguous() and copyFrom() copy elements, on the device without gaps", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using x = device.tensor([1, 2, 3, 4, 5, 6], [2, 3]);
  const copy = x.clone();
  x.fill(0);
  assertEquals(copy.readSync(), Float32Array.of(1, 2, 3, 4, 5, 6));
  const downloads = driver.names().filter((name) => name === "copyToHost").length;
  copy.clone().dispose();
  assertEquals(driver.names().filter((name) => name === "copyToHost").length, downloads);
  const dense = copy.transpose().contiguous();
  assert(dense.isContiguous && dense.buffer !== copy.buffer);
  assertEquals(dense.readSync(), Float32Array.of(1, 4, 2, 5, 3, 6));
  const same = dense.contiguous();
  assert(same.buffer === dense.buffer);
  same.dispose();
  assert(!dense.disposed);
  x.transpose().copyFrom(dense);
  assertEquals(x.readSync(), copy.readSync());
  x.narrow(1, 1, 2).copyFrom(x.narrow(1, 0, 2));
  assertEquals(x.readSync(), Float32Array.of(1, 1, 2, 4, 4, 5));
  assertThrows(() => x.copyFrom(dense), ArgumentError, "expected float32[2, 3] on");
  copy.dispose();
  assertThrows(() => x.copyFrom(copy), Error, "disposed");
});

Deno.test("Tensor.fill() sets all elements of a view and no others", () => {
  using device = Device.fromDriver(new FakeDriver());
  using long = device.empty("int32", [100_003]);
  long.fill(-7);
  assert(long.readSync().every((value) => value === -7));
  using x = device.zeros("bfloat16", [2, 3]);
  x.narrow(1, 1, 1).fill(1.5);
  assertEquals(x.readSync(), Uint16Array.of(0, 0x3fc0, 0, 0, 0x3fc0, 0));
  x.narrow(0, 1, 1).fill(1);
  assertEquals(x.readSync(), Uint16Array.of(0, 0x3fc0, 0, 0x3f80, 0x3f80, 0x3f80));
  using none = device.empty("float32", [0]);
  none.fill(1);
  assertThrows(() => long.fill(0.5), ArgumentError, "expected an integer that int32 has, got 0.5");
});

Deno.test("Tensor.cast() makes a tensor of another type", () => {
  using device = Device.fromDriver(new FakeDriver());
  using x = device.tensor([1.5, -2.5, 300, NaN], [2, 2]);
  assertEquals(x.transpose().cast("int8").readSync(), Int8Array.of(1, 127, -2, 0));
  assertEquals(x.cast("float16").readSync(), Float16Array.of(1.5, -2.5, 300, NaN));
});

Deno.test("consoles show a tensor in three lines, with a corner of its values", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using x = device.tensor(Array.from({ length: 32 }, (_, i) => i / 3), [4, 8]);
  assertEquals(
    Deno.inspect(x),
    `Tensor float32[4, 8] on ${device}
contiguous, offset 0, 128 bytes
[[0, 0.333333, 0.666667, 1, 1.33333, 1.66667, …], ` +
      "[2.66667, 3, 3.33333, 3.66667, 4, 4.33333, …], " +
      "[5.33333, 5.66667, 6, 6.33333, 6.66667, 7, …], …]",
  );
  assertStringIncludes(x.transpose().inspect(), "\nstrides [1, 8], offset 0, 128 bytes\n");
  assertStringIncludes(device.tensor([true]).inspect(), "\n[true]");
  assertStringIncludes(device.tensor([5], []).inspect(), "\n5");
  const view = x.transpose();
  view.dispose();
  assertStringIncludes(view.inspect(), "Tensor float32[8, 4] disposed");
});

Deno.test("Device.memoryInfo() and String(device) say what the device is and has", () => {
  const device = Device.open({ device: "emulator", arch: "sm_80" });
  assertEquals(String(device), "tri emulator (sm_80)");
  const { freeBytes, totalBytes } = device.memoryInfo();
  assert(freeBytes > 0 && freeBytes <= totalBytes);
  device.dispose();
  assert(device.disposed);
});
