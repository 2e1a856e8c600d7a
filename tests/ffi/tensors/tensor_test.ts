import fc from "../../support/property.ts";
import { Device } from "../../../ffi/device.ts";
import { type DType, DTYPES, hostArray } from "../../../ffi/dtype.ts";
import { ArgumentError, DisposedError } from "../../../ffi/errors.ts";
import { Tensor } from "../../../ffi/tensors/tensor.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

/** 0, 1, 2, … */
function counting(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => i);
}

function product(numbers: readonly number[]): number {
  return numbers.reduce((result, number) => result * number, 1);
}

Deno.test("Tensor.read() returns every element type bit by bit", async () => {
  using device = Device.fromDriver(new FakeDriver());
  for (const dtype of Object.keys(DTYPES) as DType[]) {
    const data = hostArray(dtype, 5);
    new Uint8Array(data.buffer).forEach((_, i, bytes) => bytes[i] = i * 53 + 7);
    using tensor = device.tensor(data, [5], { dtype });
    assertEquals(await tensor.read(), data, dtype);
    assertEquals(tensor.readSync(), data, dtype);
  }
});

Deno.test("Tensor.read() returns what was queued before it, not after", async () => {
  const driver = new FakeDriver({ busyPolls: 2 });
  using device = Device.fromDriver(driver);
  using tensor = device.tensor(new Uint8Array([1, 2]), [2]);
  const before = tensor.read();
  tensor.buffer.fill(9);
  assertEquals(await before, new Uint8Array([1, 2]));
  assertEquals(await tensor.read(), new Uint8Array([9, 9]));
});

Deno.test("Tensor views read the elements that they name", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
    (shape, [axisSeed = 0, startSeed = 0, lengthSeed = 0, stepSeed = 0]) => {
      using device = Device.fromDriver(new FakeDriver());
      const count = product(shape);
      using tensor: Tensor<"int32"> = device.tensor(counting(count), shape);
      const axis = axisSeed % shape.length;
      const extent = shape[axis] ?? 1;
      const start = startSeed % extent;
      const step = 1 + stepSeed % 3;
      const length = lengthSeed % (Math.floor((extent - 1 - start) / step) + 2);
      const view = tensor.narrow(axis, start, length, step).transpose();
      // Independent reference: an element's value is its row-major number, whose digits are its index. The
      // transposed view lists elements by the last index first.
      const indexOf = (value: number): number[] =>
        shape.map((extent, i) => Math.floor(value / product(shape.slice(i + 1))) % extent);
      const isIn = (value: number): boolean => {
        const along = (indexOf(value)[axis] ?? 0) - start;
        return along >= 0 && along % step === 0 && along / step < length;
      };
      const key = (value: number): string => indexOf(value).reverse().join();
      const wanted = [...counting(count)].filter(isIn).sort((a, b) => key(a) < key(b) ? -1 : 1);
      assertEquals([...view.readSync()], wanted);
    },
  ));
});

Deno.test("Tensor.transpose() and permute() move no data", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using tensor = device.tensor(counting(24), [2, 3, 4]);
  const before = driver.names().length;
  const transposed = tensor.transpose();
  assertEquals([transposed.shape, transposed.strides], [[4, 3, 2], [1, 4, 12]]);
  const moved = tensor.permute([1, 0, 2]);
  assertEquals([moved.shape, moved.strides], [[3, 2, 4], [4, 12, 1]]);
  assertEquals(moved.address, tensor.address);
  assertEquals(driver.names().length, before);
  assert(!transposed.isContiguous);
  assert(tensor.isContiguous);
  assertThrows(
    () => tensor.permute([0, 0, 1]),
    ArgumentError,
    "each axis from 0 to 2 once, got [0, 0, 1]",
  );
});

Deno.test("Tensor.narrow() moves the address and refuses what is outside", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(counting(24), [4, 6]);
  const view = tensor.narrow(0, 1, 2).narrow(1, 2, 2, 3);
  assertEquals(view.address - tensor.address, 32n);
  assertEquals([view.shape, view.strides, view.offset], [[2, 2], [6, 3], 8]);
  assertEquals(view.readSync(), new Int32Array([8, 11, 14, 17]));
  assertEquals(tensor.narrow(0, 4, 0).elements, 0);
  assertEquals(device.zeros("int8", [0, 5]).narrow(1, 3, 2).shape, [0, 2]);
  for (
    const [start, length, step] of [[3, 2, 1], [-1, 1, 1], [0, 3, 2], [0, 1, 0], [0.5, 1, 1], [
      5,
      0,
      1,
    ]] as const
  ) {
    assertThrows(
      () => tensor.narrow(0, start, length, step),
      ArgumentError,
      "a range inside axis 0 of int32[4, 6]",
    );
  }
  assertThrows(
    () => tensor.narrow(2, 0, 1),
    ArgumentError,
    "an axis of int32[4, 6]: 0 to 1, got 2",
  );
});

Deno.test("Tensor.reshape() keeps the order of the elements", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(counting(6), [2, 3]);
  assertEquals(tensor.reshape([3, 2]).transpose().readSync(), new Int32Array([0, 2, 4, 1, 3, 5]));
  assertThrows(
    () => tensor.reshape([4]),
    ArgumentError,
    "6 elements, as in int32[2, 3], got [4]: 4 elements",
  );
  assertThrows(
    () => tensor.transpose().reshape([6]),
    ArgumentError,
    "expected a contiguous tensor",
  );
});

Deno.test("Tensor.write() changes the elements of a view and nothing between them", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(counting(6), [2, 3]);
  tensor.narrow(1, 0, 2, 2).write(new Int32Array([10, 20, 30, 40]));
  assertEquals(tensor.readSync(), new Int32Array([10, 1, 20, 30, 4, 40]));
  tensor.narrow(0, 1, 1).write(new Int32Array([7, 8, 9]));
  assertEquals(tensor.readSync(), new Int32Array([10, 1, 20, 7, 8, 9]));
});

Deno.test("Tensor.write() refuses other lengths and types", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(counting(6), [2, 3]);
  assertThrows(() => tensor.write(counting(5)), ArgumentError, "6 elements for int32[2, 3], got 5");
  // @ts-expect-error -- the elements are int32
  const wrong = (): void => tensor.write(new Float32Array(6));
  assertThrows(
    wrong,
    ArgumentError,
    "Int32Array, its bytes or numbers for int32, got Float32Array",
  );
});

Deno.test("Tensor disposal frees what the tensor owns; a view ends alone", async () => {
  using device = Device.fromDriver(new FakeDriver());
  const tensor = device.tensor(counting(6), [2, 3]);
  const view = tensor.transpose();
  const other = tensor.reshape([6]);
  view[Symbol.dispose]();
  view[Symbol.dispose]();
  assertThrows(() => view.address, DisposedError, "Tensor int32[3, 2] was disposed");
  assertEquals(other.readSync(), counting(6));
  tensor[Symbol.dispose]();
  tensor[Symbol.dispose]();
  assertThrows(() => other.readSync(), DisposedError, "Tensor int32[6] was disposed");
  await assertRejects(() => tensor.read(), DisposedError);
  assertThrows(() => tensor.write(counting(6)), DisposedError);
  assertThrows(() => tensor.transpose(), DisposedError);
  assertThrows(() => tensor.reshape([6]), DisposedError);
});

Deno.test("Tensor refuses a layout that its buffer does not hold", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.tensor(counting(6), [6]);
  assertThrows(
    () => new Tensor(tensor.buffer, { dtype: "int32", shape: [2, 3], strides: [4, 1], offset: 0 }),
    ArgumentError,
    "Argument buffer: expected 28 bytes for int32[2, 3] with strides [4, 1] and offset 0, got 24 bytes",
  );
});

Deno.test("Tensor refuses offsets that are none", () => {
  using device = Device.fromDriver(new FakeDriver());
  using owner = device.zeros("float32", [8]);
  const view = (offset: unknown): Tensor =>
    Reflect.construct(Tensor, [owner.buffer, {
      dtype: "float32",
      shape: [4],
      strides: [1],
      offset,
    }]);
  for (const offset of [1.5, -1, NaN, Infinity, -Infinity, 2 ** 53, 1n, "1", null, undefined]) {
    const error = assertThrows(() => view(offset), ArgumentError);
    assertEquals([error.argument, error.expected], ["offset", "an integer from 0 to 2^53 - 1"]);
  }
  assert(Object.is(view(-0).offset, 0));
  assertThrows(() => view(5), ArgumentError, "Argument buffer: expected 36 bytes");
  assertEquals(view(4).address, owner.address + 16n);
});

Deno.test("write() refuses tensors whose elements share memory", () => {
  using device = Device.fromDriver(new FakeDriver());
  using rows = device.tensor(new Float32Array([1, 2, 3]), [2, 3], { strides: [0, 1] });
  assertEquals(rows.readSync(), new Float32Array([1, 2, 3, 1, 2, 3]));
  const error = assertThrows(() => rows.write(new Float32Array(6)), ArgumentError);
  assertEquals(error.expected, "a tensor whose elements lie apart");
  assertEquals(rows.readSync(), new Float32Array([1, 2, 3, 1, 2, 3]));
});

Deno.test("write() and reshape() of a disposed view are refused although its memory is there", () => {
  using device = Device.fromDriver(new FakeDriver());
  using owner = device.zeros("float32", [4]);
  const view = owner.narrow(0, 0, 4);
  view[Symbol.dispose]();
  assertThrows(() => view.write(new Float32Array(4).fill(1)), DisposedError);
  assertThrows(() => view.reshape([2, 2]), DisposedError);
  assertEquals(owner.readSync(), new Float32Array(4));
});

Deno.test("narrow() and permute() take axes by number alone", () => {
  using device = Device.fromDriver(new FakeDriver());
  using tensor = device.zeros("float32", [4, 3]);
  for (const axis of ["0", "length", 0.5, -1, 2, 1n, Symbol("s"), null]) {
    assertThrows(
      () => Reflect.apply(tensor.narrow, tensor, [axis, 0, 1]),
      ArgumentError,
      "Argument axis: expected an axis of float32[4, 3]: 0 to 1",
    );
  }
  for (const order of [null, 5, [0], [0, 0], [0, 1n], ["0", "1"], [0, Symbol("s")], "01"]) {
    assertThrows(() => Reflect.apply(tensor.permute, tensor, [order]), ArgumentError, "order");
  }
});
