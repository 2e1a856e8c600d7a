import fc from "../support/property.ts";
import {
  type DType,
  DTYPES,
  expectDType,
  fromBfloat16,
  hostArray,
  toBfloat16,
} from "../../ffi/dtype.ts";
import { ArgumentError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";

Deno.test("DTYPES has the size of each element type's host array", () => {
  for (const [name, { bytes, array }] of Object.entries(DTYPES)) {
    assertEquals(new array(1).byteLength, bytes, name);
  }
});

Deno.test("hostArray() makes zeros of the element type's array", () => {
  assertEquals(hostArray("bfloat16", 3), new Uint16Array(3));
  assertEquals(hostArray("uint64", 2), new BigUint64Array(2));
});

Deno.test("fromBfloat16() and toBfloat16() keep every bfloat16", () => {
  for (let bits = 0; bits < 0x10000; bits++) {
    const value = fromBfloat16(bits);
    if (Number.isNaN(value)) assert(Number.isNaN(fromBfloat16(toBfloat16(value))));
    else assertEquals(toBfloat16(value), bits);
  }
});

Deno.test("toBfloat16() rounds to the nearest and ties to even", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e38, max: 1e38 }), (value) => {
      // Independent reference: compare the value with the neighbours on the grid of bfloat16.
      const bits = toBfloat16(value);
      const distance = (candidate: number): number => Math.abs(fromBfloat16(candidate) - value);
      const magnitude = bits & 0x7fff;
      for (const neighbour of [magnitude - 1, magnitude + 1]) {
        if (neighbour < 0 || neighbour >= 0x7f80) continue;
        const other = (bits & 0x8000) | neighbour;
        const [mine, its] = [distance(bits), distance(other)];
        assert(mine < its || (mine === its && bits % 2 === 0), `${value}`);
      }
    }),
    { numRuns: 5000 },
  );
});

Deno.test("toBfloat16() is not misled by a first rounding to float32", () => {
  const half = 2 ** -8;
  // Between 1 and the next bfloat16, a hair above and below the tie; float32 cannot distinguish them from it.
  assertEquals(toBfloat16(1 + half + 2 ** -40), 0x3f81);
  assertEquals(toBfloat16(1 + half), 0x3f80);
  assertEquals(toBfloat16(1 + half - 2 ** -40), 0x3f80);
  assertEquals(toBfloat16(1 + 3 * half - 2 ** -40), 0x3f81);
  assertEquals(toBfloat16(-(1 + 3 * half)), 0xbf82);
});

Deno.test("toBfloat16() rounds to infinity beyond the largest", () => {
  assertEquals(toBfloat16(3.4e38), 0x7f80);
  assertEquals(toBfloat16(-1e300), 0xff80);
  assertEquals(toBfloat16(Infinity), 0x7f80);
});

Deno.test("DTYPES has the scalar types of the language", async () => {
  const { SCALARS } = await import("../../compiler/support/scalar.ts");
  assertEquals(Object.keys(DTYPES).sort(), Object.keys(SCALARS).sort());
  for (const name of Object.keys(SCALARS) as DType[]) {
    assertEquals(DTYPES[name].bytes, Math.max(SCALARS[name].bits, 8) / 8, name);
  }
});

Deno.test("fromBfloat16() and toBfloat16() refuse what is no bits and no number", () => {
  for (const bits of [-1, 65536, 1.5, NaN, "1", 1n, null]) {
    const wrong: () => unknown = Reflect.apply.bind(null, fromBfloat16, undefined, [bits]);
    assertThrows(wrong, ArgumentError, "bits of fromBfloat16: expected an integer from 0 to 65535");
  }
  for (const value of ["1", 1n, null, Symbol("s")]) {
    const wrong: () => unknown = Reflect.apply.bind(null, toBfloat16, undefined, [value]);
    assertThrows(wrong, ArgumentError, "value of toBfloat16: expected a number");
  }
});

Deno.test("expectDType() takes own names of the table alone", () => {
  for (const name of ["constructor", "__proto__", "Float32", Symbol("s"), 3, null]) {
    assertThrows(() => expectDType("dtype", name), ArgumentError, "dtype: expected one of bool,");
  }
});
