import { floatBits, floatFromBits, roundFloat } from "../../../compiler/support/float.ts";
import { toBfloat16 } from "../../../ffi/dtype.ts";
import {
  convertElements,
  elementReader,
  encodeElements,
  fillElements,
} from "../../../ffi/tensors/elements.ts";
import { ArgumentError } from "../../../ffi/errors.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import fc from "../../support/property.ts";

const PATTERNS = ["float8e4", "float8e5", "float16", "bfloat16"] as const;

Deno.test("elementReader() gives the value of every bit pattern of small floats", () => {
  for (const dtype of PATTERNS) {
    const wide = dtype.includes("16");
    const count = wide ? 65536 : 256;
    const patterns = Array.from({ length: count }, (_, i) => i);
    const array = wide ? Uint16Array.from(patterns) : Uint8Array.from(patterns);
    const read = elementReader(dtype, new Uint8Array(array.buffer));
    for (const pattern of patterns) {
      assertEquals(read(pattern), floatFromBits(BigInt(pattern), dtype), `${dtype} ${pattern}`);
    }
  }
});

Deno.test("fillElements() rounds numbers once, to the nearest even element", () => {
  for (const dtype of PATTERNS) {
    fc.assert(fc.property(
      fc.oneof(fc.double(), fc.float(), fc.double({ min: -2, max: 2 })),
      (value) => {
        const bytes = fillElements(dtype, 1, () => value);
        const bits = bytes.length === 2 ? new Uint16Array(bytes.buffer)[0] : bytes[0];
        assertEquals(BigInt(bits ?? 0), floatBits(roundFloat(value, dtype), dtype));
      },
    ));
  }
  fc.assert(fc.property(fc.double({ noNaN: true }), (value) => {
    const bytes = fillElements("bfloat16", 1, () => value);
    assertEquals(new Uint16Array(bytes.buffer)[0], toBfloat16(value));
  }));
});

Deno.test("convertElements() converts as the language does", () => {
  const from = new Uint8Array(
    Float64Array.of(1.5, -1.5, 300, -300, NaN, Infinity, -0, 2 ** 40).buffer,
  );
  const to = (dtype: "int8" | "uint8" | "bool" | "uint32"): number[] => {
    const bytes = convertElements("float64", from, dtype);
    return Array.from({ length: 8 }, (_, i) => Number(elementReader(dtype, bytes)(i)));
  };
  assertEquals(to("int8"), [1, -1, 127, -128, 0, 127, 0, 127]);
  assertEquals(to("uint8"), [1, 0, 255, 0, 0, 255, 0, 255]);
  assertEquals(to("uint32"), [1, 0, 300, 0, 0, 2 ** 32 - 1, 0, 2 ** 32 - 1]);
  assertEquals(to("bool"), [1, 1, 1, 1, 1, 1, 0, 1]);
  const wrapped = convertElements("int32", new Uint8Array(Int32Array.of(300, -1).buffer), "int8");
  assertEquals([...wrapped], [44, 255]);
  const long = convertElements("int32", new Uint8Array(Int32Array.of(-1).buffer), "uint64");
  assertEquals(new BigUint64Array(long.buffer)[0], 2n ** 64n - 1n);
});

Deno.test("convertElements() rounds 64-bit integers to small floats once", () => {
  // float64 in between would round to the tie 2^60 + 2^36, and that to 2^60.
  const value = 2n ** 60n + 2n ** 36n + 1n;
  const bytes = convertElements("int64", new Uint8Array(BigInt64Array.of(value).buffer), "float32");
  assertEquals(new Float32Array(bytes.buffer)[0], 2 ** 60 + 2 ** 37);
  fc.assert(fc.property(fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }), (integer) => {
    const source = new Uint8Array(BigInt64Array.of(integer).buffer);
    const [float] = new Float32Array(convertElements("int64", source, "float32").buffer);
    assertEquals(float, Math.fround(Number(integer)));
  }));
});

Deno.test("encodeElements() takes numbers that the type has, and names others", () => {
  assertEquals(encodeElements([1, 2.5], undefined), {
    dtype: "float32",
    bytes: new Uint8Array(Float32Array.of(1, 2.5).buffer),
    length: 2,
  });
  assertEquals(encodeElements(new Set([1n]), undefined).dtype, "int64");
  assertEquals(encodeElements([true, false], undefined).dtype, "bool");
  assertEquals(encodeElements([], undefined).length, 0);
  assertEquals([...encodeElements([1, 255], "uint8").bytes], [1, 255]);
  const wrong =
    (values: Iterable<unknown>, dtype: "uint8" | "float32" | "bool"): () => unknown => () =>
      encodeElements(values, dtype);
  assertThrows(
    wrong([1, 256], "uint8"),
    ArgumentError,
    "Argument data[1]: expected an integer that uint8 has, got 256",
  );
  assertThrows(wrong([0.5], "uint8"), ArgumentError, "got 0.5");
  assertThrows(wrong([1n], "float32"), ArgumentError, "expected a number, for float32, got 1n");
  assertThrows(wrong([2], "bool"), ArgumentError, "expected true or false, for bool, got 2");
});
