/** `.npy` and `.npz`: files that NumPy wrote (scripts/interop/numpy_fixtures.py), and files that NumPy reads. */
import { Device } from "../../ffi/mod.ts";
import { encodeNpy, openNpy, TensorFileError, writeNpy } from "../../formats/npy.ts";
import { encodeNpz, openNpz, writeNpz } from "../../formats/npz.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";

const DATA = new URL("./data/", import.meta.url);
const at = (name: string): URL => new URL(name, DATA);
const SIX = [1, 2, 3, 4, 5, 6];

/** What the fixtures contain, by name: shape and elements row by row. */
const EXPECTED: Readonly<
  Record<string, { shape: number[]; data: ArrayBufferView; strides?: number[] }>
> = {
  int8: { shape: [2, 3], data: Int8Array.from(SIX) },
  uint8: { shape: [2, 3], data: Uint8Array.from(SIX) },
  int16: { shape: [2, 3], data: Int16Array.from(SIX) },
  uint16: { shape: [2, 3], data: Uint16Array.from(SIX) },
  int32: { shape: [2, 3], data: Int32Array.from(SIX) },
  uint32: { shape: [2, 3], data: Uint32Array.from(SIX) },
  int64: { shape: [2, 3], data: BigInt64Array.from(SIX, BigInt) },
  uint64: { shape: [2, 3], data: BigUint64Array.from(SIX, BigInt) },
  float16: { shape: [2, 3], data: Float16Array.from(SIX) },
  float32: { shape: [2, 3], data: Float32Array.from(SIX) },
  float64: { shape: [2, 3], data: Float64Array.from(SIX) },
  bool: { shape: [2, 3], data: Uint8Array.of(0, 1, 0, 1, 0, 1) },
  fortran: { shape: [2, 3], data: Float32Array.from(SIX), strides: [1, 2] },
  fortran_3d: {
    shape: [2, 3, 4],
    data: Int16Array.from({ length: 24 }, (_, i) => i),
    strides: [1, 2, 6],
  },
  big_int16: { shape: [2, 3], data: Int16Array.from(SIX) },
  big_float32: { shape: [2, 3], data: Float32Array.from(SIX) },
  big_int64: { shape: [2, 3], data: BigInt64Array.from(SIX, BigInt) },
  big_float64: { shape: [2, 3], data: Float64Array.from(SIX) },
  scalar: { shape: [], data: Float32Array.of(2.5) },
  empty: { shape: [3, 0], data: new Float32Array(0) },
  one: { shape: [1], data: Int32Array.of(7) },
  bits: { shape: [4], data: Uint16Array.of(0x3f80, 0xc000, 0x3f00, 0x4040) },
};

Deno.test("openNpz() reads what numpy.savez and savez_compressed wrote", () => {
  using device = Device.open({ device: "emulator" });
  for (const name of ["stored.npz", "deflated.npz"]) {
    using file = openNpz(at(name));
    assertEquals(
      file.names.filter((each) => each !== "large").sort(),
      Object.keys(EXPECTED).sort(),
    );
    for (const [key, { shape, data, strides }] of Object.entries(EXPECTED)) {
      const stored = file.get(key);
      assertEquals([stored.shape, stored.array()], [shape, data], `${name}: ${key}`);
      if (strides !== undefined) assertEquals(stored.strides, strides);
      using tensor = stored.toDevice(device);
      assertEquals([tensor.shape, tensor.strides], [shape, stored.strides]);
      assertEquals(tensor.readSync(), data, `${name}: ${key} on the device`);
    }
  }
  using file = openNpz(at("deflated.npz"));
  const large = Int32Array.from({ length: 30_000 }, (_, i) => Math.floor(i / 7));
  assertEquals(file.get("large").array(), large);
});

Deno.test("StoredTensor.as() takes unnamed elements for what they mean", () => {
  using device = Device.open({ device: "emulator" });
  using file = openNpz(at("stored.npz"));
  using tensor = file.get("bits").as("bfloat16").toDevice(device);
  assertEquals(tensor.dtype, "bfloat16");
  assertEquals(tensor.cast("float32").readSync(), Float32Array.of(1, -2, 0.5, 3));
  assertEquals(file.get("float32").as("float32").dtype, "float32");
  const error = assertThrows(() => file.get("float32").as("int32"), TensorFileError);
  assertStringIncludes(error.message, "float32 (float32[2, 3]) is not int32");
  assertThrows(() => file.get("uint8").as("bfloat16"), TensorFileError);
});

Deno.test("openNpy() reads every version of the header, from a path, an URL and bytes", () => {
  for (const name of ["float32.npy", "version2.npy", "version3.npy"]) {
    const bytes = Deno.readFileSync(at(name));
    for (const source of [at(name), at(name).pathname, bytes, bytes.buffer]) {
      using file = openNpy(source);
      assertEquals([file.dtype, file.shape], ["float32", [2, 3]]);
      assertEquals(file.array(), Float32Array.from(SIX));
    }
  }
});

Deno.test("openNpy() says where, what and how to fix it", () => {
  const cases: readonly (readonly [string, number | undefined, string])[] = [
    ["complex.npy", 20, "real and imaginary parts"],
    ["fields.npy", 20, "save each field as an array of its own"],
    ["text.npy", 20, "strings: store them as numbers"],
    ["stored.npz", 0, ".npz is a zip file"],
    ["absent.npy", undefined, "there is no such file"],
  ];
  for (const [name, offset, hint] of cases) {
    const error = assertThrows(() => openNpy(at(name)), TensorFileError);
    assertEquals([error.file, error.offset], [at(name).pathname, offset]);
    assertStringIncludes(error.hint ?? "", hint);
  }
  assertStringIncludes(
    assertThrows(() => openNpy(DATA.pathname), TensorFileError).message,
    "is no regular file",
  );
  // deno-lint-ignore no-explicit-any -- what JavaScript lets a program pass
  assertThrows(() => openNpy(5 as any), TensorFileError);
});

Deno.test("openNpz() refuses other compressions, damaged elements and names that are not there", () => {
  using mixed = openNpz(at("mixed.npz"));
  assertEquals(mixed.names, ["bzip2"]);
  assertStringIncludes(
    assertThrows(() => mixed.get("bzip2"), TensorFileError).message,
    "is compressed by method 12",
  );
  const bytes = encodeNpz({ weight: { data: SIX } });
  const place = bytes.indexOf(0x93) + 128;
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  using damaged = openNpz(bytes);
  const error = assertThrows(() => damaged.get("weight").array(), TensorFileError);
  assertStringIncludes(error.message, 'the checksum of "weight.npy" is wrong');
  assertStringIncludes(
    assertThrows(() => damaged.get("wieght"), TensorFileError).message,
    "did you mean `weight`?",
  );
});

Deno.test("encodeNpy() writes the bytes that numpy.save writes", () => {
  const six = { data: Float32Array.from(SIX), shape: [2, 3] };
  assertEquals(encodeNpy(six), Deno.readFileSync(at("float32.npy")));
});

Deno.test("writeNpy() and writeNpz() write tensors of devices and of files, and replace files whole", () => {
  using device = Device.open({ device: "emulator" });
  const folder = Deno.makeTempDirSync();
  try {
    using x = device.tensor(Float32Array.from(SIX), [2, 3]);
    const path = `${folder}/x.npy`;
    writeNpy(path, x.transpose());
    const before = openNpy(path);
    writeNpy(path, x);
    // A reader keeps the file that it has opened.
    assertEquals(before.array(), Float32Array.of(1, 4, 2, 5, 3, 6));
    before.close();
    assertThrows(() => before.array(), TensorFileError, "the file was closed");
    using after = openNpy(path);
    for (const compress of [false, true]) {
      writeNpz(`${folder}/all.npz`, { x, file: after, column: x.narrow(1, 1, 1) }, { compress });
      using all = openNpz(`${folder}/all.npz`);
      const found = [...all].map(([name, tensor]) => [name, tensor.shape, tensor.array()]);
      assertEquals(found, [
        ["x", [2, 3], Float32Array.from(SIX)],
        ["file", [2, 3], Float32Array.from(SIX)],
        ["column", [2, 1], Float32Array.of(2, 5)],
      ]);
    }
    // One that fails leaves the old file and nothing else.
    x.dispose();
    const closed = openNpy(at("float32.npy"));
    closed.close();
    assertThrows(() => writeNpz(`${folder}/all.npz`, { x }));
    assertThrows(() => writeNpy(path, closed), TensorFileError, "the file was closed");
    assertThrows(() => writeNpy(`${folder}/no/x.npy`, { data: SIX }), TensorFileError);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "all.npz",
      "x.npy",
    ]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

const READER = `
import json, sys, numpy as np
def show(a): return [a.dtype.str, list(a.shape), a.tobytes().hex()]
out = {}
for path in sys.argv[1:]:
    found = np.load(path)
    out[path] = show(found) if path.endswith("npy") else {k: show(found[k]) for k in found.files}
print(json.dumps(out))
`;

async function hasNumpy(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("python3", {
      args: ["-c", "import numpy"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

Deno.test({
  name: "numpy.load() reads what writeNpy and writeNpz write",
  ignore: !await hasNumpy(),
  fn: async () => {
    const folder = Deno.makeTempDirSync();
    try {
      const types = [
        ["bool", "|b1"],
        ["int8", "|i1"],
        ["uint16", "<u2"],
        ["int64", "<i8"],
        ["float16", "<f2"],
        ["bfloat16", "|V2"],
        ["float8e4", "|V1"],
        ["float64", "<f8"],
      ] as const;
      using device = Device.open({ device: "emulator" });
      const tensors = Object.fromEntries(types.map(([dtype]) => {
        const isWide = dtype === "int64";
        const data = isWide ? [0n, 1n, 1n] : dtype === "bool" ? [false, true, true] : [0, 1, 1];
        return [dtype, device.tensor(data, [3, 1], { dtype })];
      }));
      writeNpz(`${folder}/a.npz`, tensors);
      writeNpz(`${folder}/b.npz`, tensors, { compress: true });
      writeNpy(`${folder}/c.npy`, { data: SIX, shape: [3, 2] });
      const { stdout, success } = await new Deno.Command("python3", {
        args: ["-c", READER, ...["a.npz", "b.npz", "c.npy"].map((name) => `${folder}/${name}`)],
        stderr: "inherit",
      }).output();
      assert(success);
      const found = JSON.parse(new TextDecoder().decode(stdout));
      const hex = (bytes: Uint8Array): string => bytes.toHex();
      for (const name of ["a.npz", "b.npz"]) {
        for (const [dtype, spelling] of types) {
          const data = tensors[dtype]?.readSync();
          const bytes = new Uint8Array(data?.buffer ?? new ArrayBuffer(0));
          assertEquals(found[`${folder}/${name}`][dtype], [spelling, [3, 1], hex(bytes)]);
        }
      }
      const bytes = new Uint8Array(Float32Array.from(SIX).buffer);
      assertEquals(found[`${folder}/c.npy`], ["<f4", [3, 2], hex(bytes)]);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
