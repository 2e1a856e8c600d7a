import fc from "../support/property.ts";
import {
  bytesOf,
  type DType,
  dtypeOf,
  DTYPES,
  fromBfloat16,
  hostArray,
  toBfloat16,
} from "../../ffi/dtype.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("DTYPES has the size of each element type's host array", () => {
  for (const [name, { bytes, array }] of Object.entries(DTYPES)) {
    assertEquals(new array(1).byteLength, bytes, name);
  }
});

Deno.test("dtypeOf() names the element type of every typed array and of nothing else", () => {
  assertEquals(dtypeOf(new Float32Array(1)), "float32");
  assertEquals(dtypeOf(new Float16Array(1)), "float16");
  assertEquals(dtypeOf(new Uint16Array(1)), "uint16");
  assertEquals(dtypeOf(new BigInt64Array(1)), "int64");
  for (
    const other of [[1, 2], new DataView(new ArrayBuffer(4)), new Uint8ClampedArray(1), null, "x"]
  ) {
    assertEquals(dtypeOf(other), undefined);
  }
});

Deno.test("hostArray() makes zeros of the element type's array", () => {
  assertEquals(hostArray("bfloat16", 3), new Uint16Array(3));
  assertEquals(hostArray("uint64", 2), new BigUint64Array(2));
});

Deno.test("bytesOf() views plain memory and copies shared memory", () => {
  const whole = new Uint16Array([1, 2, 3]);
  const bytes = bytesOf(whole.subarray(1));
  assertEquals(bytes.buffer, whole.buffer);
  assertEquals(bytes, new Uint8Array([2, 0, 3, 0]));
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  shared[1] = 7;
  assertEquals(bytesOf(shared), new Uint8Array([0, 7]));
  assert(bytesOf(shared).buffer instanceof ArrayBuffer);
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
  // Between 1 and the next bfloat16, a hair above and below the tie; float32 cannot tell them from it.
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

Deno.test("DTYPES knows the scalar types of the language", async () => {
  const { SCALARS } = await import("../../compiler/support/scalar.ts");
  assertEquals(Object.keys(DTYPES).sort(), Object.keys(SCALARS).sort());
  for (const name of Object.keys(SCALARS) as DType[]) {
    assertEquals(DTYPES[name].bytes, Math.max(SCALARS[name].bits, 8) / 8, name);
  }
});
