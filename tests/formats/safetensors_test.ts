/** Safetensors: bytes made by hand after the description of the format. */
import { Device } from "../../ffi/mod.ts";
import { encodeNpy, openNpy } from "../../formats/npy.ts";
import {
  encodeSafetensors,
  openSafetensors,
  TensorFileError,
  writeSafetensors,
} from "../../formats/safetensors.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";

/** A file: length, header, elements. */
function fileOf(header: string, data: readonly number[], length?: bigint): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, length ?? BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

const TWO = '{"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},' +
  '"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}   ';
const TWO_DATA = [0x00, 0x00, 0x20, 0x40, 0x80, 0x3f, 0x00, 0xc0];

Deno.test("openSafetensors() reads header, metadata and elements", () => {
  using device = Device.open({ device: "emulator" });
  using file = openSafetensors(fileOf(TWO, TWO_DATA));
  assertEquals([file.names, file.metadata], [["a", "b"], { format: "pt" }]);
  assertEquals(file.get("a").array(), Float32Array.of(2.5));
  assertEquals(file.get("b").array(), Uint16Array.of(0x3f80, 0xc000));
  using b = file.get("b").as("bfloat16").toDevice(device);
  assertEquals(b.cast("float32").readSync(), Float32Array.of(1, -2));
});

Deno.test("encodeSafetensors() writes the header that the library of the format writes", () => {
  // The order is by size of the elements, then by name; the header is filled up to a multiple of 8 bytes.
  const bytes = encodeSafetensors({
    z: { data: Uint8Array.of(7), dtype: "float8e5" },
    b: { data: [1, -2], dtype: "bfloat16" },
    a: { data: [2.5], shape: [1, 1] },
  }, { metadata: { format: "pt" } });
  const header = '{"__metadata__":{"format":"pt"},' +
    '"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},' +
    '"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},' +
    '"z":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[8,9]}}';
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  assertEquals(bytes, fileOf(padded, [...TWO_DATA, 7]));
});

Deno.test("writeSafetensors() keeps every element type", () => {
  using device = Device.open({ device: "emulator" });
  const types = {
    ...{ bool: "BOOL", int8: "I8", uint8: "U8", int16: "I16", uint16: "U16", int32: "I32" },
    ...{ uint32: "U32", int64: "I64", uint64: "U64", float16: "F16", bfloat16: "BF16" },
    ...{ float32: "F32", float64: "F64", float8e4: "F8_E4M3", float8e5: "F8_E5M2" },
  } as const;
  const dtypes = Object.keys(types) as (keyof typeof types)[];
  const path = Deno.makeTempFileSync({ suffix: ".safetensors" });
  try {
    const tensors = Object.fromEntries(dtypes.map((dtype) => [
      dtype,
      device.tensor(dtype === "bool" ? [true, false, true] : [1, 0, 3], [3], { dtype }),
    ]));
    writeSafetensors(path, tensors);
    using file = openSafetensors(path);
    assertEquals(file.names.toSorted(), dtypes.toSorted());
    const text = Deno.readTextFileSync(path);
    for (const dtype of dtypes) {
      const stored = file.get(dtype);
      assertEquals([stored.dtype, stored.array()], [dtype, tensors[dtype]?.readSync()]);
      assertStringIncludes(text, `"${dtype}":{"dtype":"${types[dtype]}"`);
    }
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("openSafetensors() says where, what and how to fix it", () => {
  const f32 = (offsets: string, shape = "[1]"): string =>
    `{"dtype":"F32","shape":${shape},"data_offsets":${offsets}}`;
  const four = [0, 0, 0, 0];
  const cases:
    readonly (readonly [Uint8Array<ArrayBuffer>, number | "+0" | "+2" | "+4", string])[] = [
      [new Uint8Array(3), 3, "the file ends before its header"],
      [fileOf("{}", [], 2n ** 60n), 0, "the header says that it is 1152921504606846976 bytes long"],
      [fileOf("{}", [], 200_000_000n), 0, "the header says that it is 200000000 bytes long"],
      [fileOf("{}", [], 90_000_000n), 10, "the file ends in its header"],
      [fileOf("{", []), 8, "the header is no JSON"],
      [fileOf("[]", []), 8, "the header is no JSON object"],
      [fileOf('{"a":1}', []), 8, 'tensor "a": it has no description'],
      [fileOf(`{"a":${f32("[0,4]", "[2]")}}`, four), 8, "F32 [2] needs 8 bytes, and has 4"],
      [fileOf(`{"a":${f32("[4,0]")}}`, four), 8, "it ends at 0, before its start at 4"],
      [fileOf(`{"a":${f32("[0]")}}`, four), 8, "data_offsets are no two positions"],
      [fileOf(`{"a":${f32("[0,1e300]")}}`, four), 8, "data_offsets are no two positions"],
      [fileOf(`{"a":${f32("[0,4]", "[-1]")}}`, four), 8, "shape is no list of extents"],
      [fileOf(`{"a":${f32("[0,4]")},"b":${f32("[0,4]")}}`, four), "+0", 'tensor "b" overlaps "a"'],
      [fileOf(`{"a":${f32("[4,8]")}}`, [...four, ...four]), "+0", '4 bytes before tensor "a"'],
      [fileOf(`{"a":${f32("[0,4]")}}`, [...four, 9]), "+4", "1 bytes after the last tensor"],
      [fileOf(`{"a":${f32("[0,4]")}}`, [0, 0]), "+2", 'the file ends before tensor "a" does'],
      [fileOf('{"__metadata__":{"x":1}}', []), 8, "__metadata__ is no object of texts"],
    ];
  for (const [bytes, place, problem] of cases) {
    // "+4": behind the header.
    const offset = typeof place === "number"
      ? place
      : 8 + new DataView(bytes.buffer).getUint32(0, true) + Number(place);
    const error = assertThrows(() => openSafetensors(bytes), TensorFileError);
    assertStringIncludes(error.message, problem);
    assertEquals(error.offset, offset, problem);
    assertEquals(error.hint === undefined, false);
  }
});

Deno.test("TensorArchive.get() refuses element types that tri does not have, and reads the others", () => {
  const header = '{"a":{"dtype":"F4","shape":[8],"data_offsets":[0,4]},' +
    '"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}}';
  using file = openSafetensors(fileOf(header, [1, 2, 3, 4, 5]));
  const error = assertThrows(() => file.get("a"), TensorFileError);
  assertStringIncludes(error.message, 'tri has no element type for "a" of "F4"');
  assertEquals(file.get("b").bytes(), Uint8Array.of(5));
});

Deno.test("openSafetensors() and openNpy() read what is asked for of files that are larger than memory", () => {
  const folder = Deno.makeTempDirSync({ prefix: "tri-large-" });
  try {
    const rows = 2 ** 28;
    const large = rows * 64;
    const header = JSON.stringify({
      table: { dtype: "U8", shape: [rows, 64], data_offsets: [0, large] },
      last: { dtype: "F32", shape: [3], data_offsets: [large, large + 12] },
    });
    const text = new TextEncoder().encode(header.padEnd(Math.ceil(header.length / 8) * 8));
    const start = 8 + text.length;
    const file = `${folder}/model.safetensors`;
    // Blocks that were never written take no room on the disk.
    writeAt(file, start + large + 12, [
      [0, new Uint8Array(BigUint64Array.of(BigInt(text.length)).buffer)],
      [8, text],
      [start + large, new Uint8Array(Float32Array.of(1, 2.5, -3).buffer)],
    ]);
    using tensors = openSafetensors(file);
    assertEquals(`${tensors.get("table")}`, `uint8[${rows}, 64]`);
    assertEquals(tensors.get("last").array(), Float32Array.of(1, 2.5, -3));

    const small = encodeNpy({ data: new Uint8Array(64), shape: [1, 64] });
    const npyHeader = new TextDecoder("latin1").decode(small.slice(10, -64));
    const shape = `(${rows}, 64)`;
    const npy = new TextEncoder().encode(
      npyHeader.trim().replace("(1, 64)", shape).padEnd(npyHeader.length - 1) + "\n",
    );
    const path = `${folder}/table.npy`;
    writeAt(path, 10 + npy.length + large, [[0, small.slice(0, 10)], [10, npy]]);
    using array = openNpy(path);
    assertEquals(`${array}`, `uint8[${rows}, 64]`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

/** A file of this length with bytes at some places and zeros elsewhere. */
function writeAt(
  path: string,
  length: number,
  parts: readonly (readonly [offset: number, bytes: Uint8Array])[],
): void {
  using file = Deno.openSync(path, { write: true, create: true });
  file.truncateSync(length);
  for (const [offset, bytes] of parts) {
    file.seekSync(offset, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  }
}
