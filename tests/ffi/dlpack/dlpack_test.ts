/** DLPack: bytes after dlpack.h, and tensors lent and taken over in one process. */
import { Device } from "../../../ffi/device.ts";
import { encodeManaged } from "../../../ffi/dlpack/layout.ts";
import {
  exportDLPack,
  importDLPack,
  letForeignWait,
  waitForForeign,
} from "../../../ffi/dlpack/mod.ts";
import type { DType } from "../../../ffi/dtype.ts";
import { ArgumentError, DisposedError } from "../../../ffi/errors.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../../support/assert.ts";
import { FakeDriver } from "../../support/driver/fake_driver.ts";

const addressOf = (memory: ArrayBufferView<ArrayBuffer>): bigint =>
  Deno.UnsafePointer.value(Deno.UnsafePointer.of(memory));

/** The fields of a DLManagedTensorVersioned in the order of dlpack.h. */
interface Fields {
  readonly version?: readonly [number, number];
  readonly deleter?: bigint;
  readonly flags?: bigint;
  readonly data: bigint;
  readonly device: readonly [number, number];
  readonly type: readonly [code: number, bits: number, lanes: number];
  readonly shape: BigInt64Array<ArrayBuffer>;
  readonly strides: BigInt64Array<ArrayBuffer> | undefined;
  readonly byteOffset?: bigint;
}

/** A structure as a C compiler lays it out on a machine of 64 bits. */
function managed(fields: Fields): Uint8Array<ArrayBuffer> {
  const { version = [1, 0], deleter = 0n, flags = 0n, data, device, type, byteOffset = 0n } =
    fields;
  const { shape, strides } = fields;
  const bytes = new Uint8Array(80);
  const words = new BigUint64Array(bytes.buffer);
  const halves = new Uint32Array(bytes.buffer);
  halves.set(version, 0);
  words.set([0xdead_beefn, deleter, flags, data], 1);
  halves.set([...device, shape.length], 10);
  bytes.set([type[0], type[1], type[2] & 0xff, type[2] >> 8], 52);
  words.set([addressOf(shape), strides === undefined ? 0n : addressOf(strides), byteOffset], 7);
  return bytes;
}

/** A deleter that notes what it is called with. */
function deleterInto(deleted: bigint[]): Disposable & { readonly address: bigint } {
  const callback = new Deno.UnsafeCallback(
    { parameters: ["u64"], result: "void" },
    (self) => void deleted.push(self),
  );
  return {
    address: Deno.UnsafePointer.value(callback.pointer),
    [Symbol.dispose]: () => callback.close(),
  };
}

Deno.test("encodeManaged() lays out DLManagedTensorVersioned as a C compiler does", () => {
  const facts = { address: 0x1122_3344_5566_7700n, deviceType: 2, deviceId: 3 };
  const bytes = encodeManaged(
    { ...facts, dtype: "bfloat16", shape: [5, 7], strides: [8, 1] },
    () => 0x1000n,
  );
  const hex = [
    "0100000001000000", // version 1.1
    "0000000000000000", // manager_ctx
    "0000000000000000", // deleter
    "0000000000000000", // flags
    "0077665544332211", // data
    "0200000003000000", // device: CUDA, 3
    "0200000004100100", // ndim 2; dtype: bfloat, 16 bits, 1 lane
    "5010000000000000", // shape: behind the structure
    "6010000000000000", // strides
    "0000000000000000", // byte_offset
    "0500000000000000",
    "0700000000000000",
    "0800000000000000",
    "0100000000000000",
  ];
  assertEquals(bytes.toHex(), hex.join(""));
});

Deno.test("importDLPack() takes what exportDLPack() lends, for every element type", () => {
  using device = Device.open({ device: "emulator" });
  const types: readonly DType[] = [
    ...["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"] as const,
    ...["uint64", "float16", "bfloat16", "float32", "float64", "float8e4", "float8e5"] as const,
  ];
  for (const dtype of types) {
    using x = device.tensor(dtype === "bool" ? [1, 0, 1] : [1, 0, 2], [3, 1], { dtype });
    using pinned = device.pinned(dtype, [3, 1]);
    x.copyTo(pinned);
    using lent = exportDLPack(pinned);
    using back = importDLPack(device, lent.address);
    assertEquals([`${back}`, back.readSync()], [`${x}`, x.readSync()]);
  }
});

Deno.test("exportDLPack() lends tensors of a GPU, ordered after their work", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using x = device.zeros("float32", [2, 3]);
  driver.calls.length = 0;
  using lent = exportDLPack(x.transpose(), { stream: 2n });
  const waits = driver.calls.find(({ name }) => name === "waitForEvent");
  assertEquals(waits?.args[0], 2n);
  using back = importDLPack(device, lent.address, { stream: 2n });
  assertEquals([back.address, back.shape, back.strides], [x.address, [3, 2], [1, 3]]);
  driver.calls.length = 0;
  exportDLPack(x);
  assertEquals(driver.names(), ["synchronizeStream"]);
  const { address } = lent;
  assert(address > 0n);
  lent.dispose();
  assertThrows(() => lent.address, DisposedError);
});

Deno.test("importDLPack() copies memory of the CPU with any layout, and calls the deleter once", () => {
  using device = Device.open({ device: "emulator" });
  const data = Int16Array.from({ length: 12 }, (_, i) => i - 4);
  const deleted: bigint[] = [];
  using deleter = deleterInto(deleted);
  const base = {
    deleter: deleter.address,
    data: addressOf(data),
    device: [1, 0],
    type: [0, 16, 1],
  } as const;
  const cases: readonly (readonly [bigint[], bigint[] | undefined, bigint, number[]])[] = [
    [[2n, 3n], undefined, 0n, [-4, -3, -2, -1, 0, 1]],
    [[2n, 3n], [6n, 2n], 2n, [-3, -1, 1, 3, 5, 7]],
    [[3n, 2n], [1n, 4n], 0n, [-4, 0, -3, 1, -2, 2]],
    [[2n, 2n], [0n, 1n], 0n, [-4, -3, -4, -3]],
    [[], undefined, 6n, [-1]],
    [[0n, 4n], undefined, 0n, []],
  ];
  for (const [shape, strides, byteOffset, expected] of cases) {
    const [extents, steps] = [new BigInt64Array(shape), strides && new BigInt64Array(strides)];
    const bytes = managed({ ...base, shape: extents, strides: steps, byteOffset });
    deleted.length = 0;
    using x = importDLPack(device, addressOf(bytes));
    assertEquals([...x.readSync()], expected);
    assertEquals(x.shape, shape.map(Number));
    assertEquals(deleted, [addressOf(bytes)]);
  }
});

Deno.test("importDLPack() calls the deleter of GPU memory when the tensor is disposed", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using x = device.tensor(Float64Array.of(1, 2, 3));
  const deleted: bigint[] = [];
  using deleter = deleterInto(deleted);
  const shape = new BigInt64Array([2n]);
  const bytes = managed({
    deleter: deleter.address,
    data: x.address,
    byteOffset: 8n,
    device: [2, 0],
    type: [2, 64, 1],
    shape,
    strides: undefined,
  });
  const view = importDLPack(device, addressOf(bytes));
  assertEquals([view.readSync(), deleted], [Float64Array.of(2, 3), []]);
  view.dispose();
  view.dispose();
  assertEquals(deleted, [addressOf(bytes)]);
});

Deno.test("importDLPack() refuses what tri does not have, and says why", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using x = device.tensor(Float32Array.of(1, 2, 3));
  const shape = new BigInt64Array([3n]);
  const base: Fields = {
    data: x.address,
    device: [2, 0],
    type: [2, 32, 1],
    shape,
    strides: undefined,
  };
  const cases: readonly (readonly [Partial<Fields>, string])[] = [
    [{ version: [2, 0] }, "version 1 of DLPack"],
    [{ type: [5, 64, 1] }, "code 5, 64 bits, 1 lanes"],
    [{ type: [2, 32, 4] }, "code 2, 32 bits, 4 lanes"],
    [{ device: [2, 1] }, "DLPack device 2, 1"],
    [{ device: [10, 0] }, "DLPack device 10, 0"],
    [{ flags: 1n }, "allowReadOnly: true"],
    [{ strides: new BigInt64Array([-1n]) }, "extents and strides from 0"],
    [{ data: 0x10n }, "memory that its driver does not know"],
    [{ data: x.address + 2n }, "a multiple of the element's 4 bytes"],
  ];
  const deleted: bigint[] = [];
  using deleter = deleterInto(deleted);
  for (const [change, problem] of cases) {
    const bytes = managed({ ...base, deleter: deleter.address, ...change });
    deleted.length = 0;
    const error = assertThrows(() => importDLPack(device, addressOf(bytes)), ArgumentError);
    assertStringIncludes(error.message, problem);
    assertEquals(deleted.length, 1);
  }
  using allowed = importDLPack(device, addressOf(managed({ ...base, flags: 1n })), {
    allowReadOnly: true,
  });
  assertEquals(allowed.readSync(), Float32Array.of(1, 2, 3));
});

Deno.test("functions of DLPack refuse wrong arguments by their error", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("int8", [2]);
  const wrong: readonly unknown[] = [
    undefined,
    null,
    0,
    -1n,
    2n ** 64n,
    "x",
    {},
    x,
    new Proxy(x, {}),
  ];
  const untyped = { exportDLPack, importDLPack, letForeignWait, waitForForeign } as Readonly<
    Record<string, (...args: readonly unknown[]) => unknown>
  >;
  const { defaultStream } = device;
  for (const value of wrong) {
    for (
      const call of [
        () => untyped["exportDLPack"]?.(value),
        () => untyped["exportDLPack"]?.(x, { stream: value === undefined ? null : value }),
        () => untyped["importDLPack"]?.(value, 16n),
        () => untyped["importDLPack"]?.(device, value),
        () =>
          untyped["importDLPack"]?.(device, 16n, { stream: value === undefined ? null : value }),
        () => untyped["waitForForeign"]?.(value, 1n),
        () => untyped["waitForForeign"]?.(defaultStream, value),
        () => untyped["letForeignWait"]?.(value, defaultStream),
        () => untyped["letForeignWait"]?.(1n, value),
      ]
    ) assertThrows(call, ArgumentError);
  }
  const error = assertThrows(() => exportDLPack(x), ArgumentError);
  assertStringIncludes(error.hint ?? "", "device.pinned()");
});
