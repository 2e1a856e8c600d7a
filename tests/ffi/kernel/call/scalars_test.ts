import { type DType, DTYPES, hostArray } from "../../../../ffi/dtype.ts";
import { halfBits } from "../../../../ffi/kernel/call/half_bits.ts";
import { SCALARS } from "../../../../ffi/kernel/call/scalars.ts";
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

const INTEGERS = [
  "int8",
  "uint8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
] as const;

Deno.test("SCALARS have the sizes of their element types", () => {
  for (const dtype of Object.keys(DTYPES) as DType[]) {
    assertEquals(SCALARS[dtype].bytes, DTYPES[dtype].bytes);
  }
});

Deno.test("SCALARS write integers as typed arrays hold them, and accept just those that fit", () => {
  for (const dtype of INTEGERS) {
    const { accepts, write, bytes } = SCALARS[dtype];
    const bits = BigInt(bytes * 8);
    const [least, greatest] = dtype.startsWith("u")
      ? [0n, 2n ** bits - 1n]
      : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
    const wide = bytes === 8;
    fc.assert(fc.property(fc.bigInt({ min: least, max: greatest }), (value) => {
      const given = wide ? value : Number(value);
      assert(accepts(given));
      const view = new DataView(new ArrayBuffer(8));
      write(view, 0, given);
      const array = hostArray(dtype, 1);
      array[0] = given as never;
      assertEquals(new Uint8Array(view.buffer, 0, bytes), new Uint8Array(array.buffer));
    }));
    for (const outside of [least - 1n, greatest + 1n]) {
      assert(!accepts(wide ? outside : Number(outside)), `${dtype} ${outside}`);
    }
    for (const value of [1.5, NaN, Infinity, true, "1", undefined, null]) {
      assert(!accepts(value), `${dtype} ${value}`);
    }
    assertEquals(accepts(1n), wide);
  }
});

Deno.test("SCALARS write wide integers that are given as numbers", () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => {
    const view = new DataView(new ArrayBuffer(8));
    SCALARS.int64.write(view, 0, value);
    assertEquals(view.getBigInt64(0, true), BigInt(value));
  }));
});

Deno.test("halfBits() rounds doubles of all sizes as a view does, halfway values to the even one", () => {
  const view = new DataView(new ArrayBuffer(2));
  const bitsOf = (value: number): number => (view.setFloat16(0, value), view.getUint16(0));
  const check = (value: number): void => {
    for (const one of [value, -value]) assertEquals(halfBits(one), bitsOf(one), `${one}`);
  };
  for (let bits = 0; bits < 0x7c00; bits++) {
    view.setUint16(0, bits);
    const value = view.getFloat16(0);
    view.setUint16(0, bits + 1);
    const halfway = value + (view.getFloat16(0) - value) / 2;
    check(value);
    for (const near of [halfway, halfway * (1 - 2 ** -52), halfway * (1 + 2 ** -52)]) check(near);
  }
  assertEquals(halfBits(NaN), 0x7e00);
  fc.assert(fc.property(fc.double({ noNaN: true }), check));
  fc.assert(fc.property(fc.double({ min: -70_000, max: 70_000, noNaN: true }), check));
  for (const value of [0, 65504, 65519.99, 65520, 2 ** -25, 2 ** -25 + 2 ** -60, 5e-324]) {
    check(value);
  }
});

Deno.test("SCALARS round floats to their type", () => {
  const view = new DataView(new ArrayBuffer(8));
  SCALARS.float16.write(view, 0, 1 / 3);
  assertEquals(view.getFloat16(0, true), Math.f16round(1 / 3));
  SCALARS.bfloat16.write(view, 0, 1 / 3);
  assertEquals(view.getUint16(0, true), 0x3eab);
  SCALARS.float32.write(view, 0, 1 / 3);
  assertEquals(view.getFloat32(0, true), Math.fround(1 / 3));
  SCALARS.float64.write(view, 0, 1 / 3);
  assertEquals(view.getFloat64(0, true), 1 / 3);
  SCALARS.bool.write(view, 0, true);
  assertEquals(view.getUint8(0), 1);
});
