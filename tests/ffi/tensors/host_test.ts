import { ArgumentError } from "../../../ffi/errors.ts";
import { bytesInside, bytesOf, checkData, dtypeOf, lengthOf } from "../../../ffi/tensors/host.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

Deno.test("dtypeOf() names the element type of every typed array and of nothing else", () => {
  assertEquals(dtypeOf(new Float32Array(1)), "float32");
  assertEquals(dtypeOf(new Float16Array(1)), "float16");
  assertEquals(dtypeOf(new Uint16Array(1)), "uint16");
  assertEquals(dtypeOf(new BigInt64Array(1)), "int64");
  assertEquals(dtypeOf(new Uint8ClampedArray(1)), "uint8");
  for (
    const other of [
      [1, 2],
      { [Symbol.toStringTag]: "Float32Array" },
      new DataView(new ArrayBuffer(4)),
      null,
      "x",
    ]
  ) {
    assertEquals(dtypeOf(other), undefined);
  }
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

/** Says that it is longer than it is. */
class Liar extends Float32Array {
  override get length(): number {
    return 1000;
  }
  override get byteLength(): number {
    return 4000;
  }
}

Deno.test("lengthOf() and bytesOf() read the memory, not properties of the array", () => {
  const liar = new Liar(2);
  assertEquals([lengthOf(liar), bytesOf(liar).length, checkData(liar, undefined)], [
    2,
    8,
    "float32",
  ]);
});

Deno.test("bytesOf() copies memory that can shrink", () => {
  const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
  const array = new Uint8Array(resizable);
  array[7] = 5;
  const bytes = bytesOf(array);
  assert(bytes.buffer !== resizable);
  assertEquals(bytes, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 5]));
});

Deno.test("bytesOf() refuses arrays whose memory is gone", () => {
  const moved = new Float32Array(4);
  structuredClone(moved.buffer, { transfer: [moved.buffer] });
  const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
  const outside = new Uint8Array(resizable, 4, 4);
  const view = new DataView(resizable, 4, 4);
  resizable.resize(4);
  for (const array of [moved, outside, view]) {
    assertThrows(() => bytesOf(array), ArgumentError, "expected an array with its memory");
  }
  assertEquals(bytesOf(new Float32Array(0)).length, 0);
});

Deno.test("bytesInside() refuses offsets that are none, and bytes outside of the memory", () => {
  const limits = { argument: "from", size: 8 };
  assertEquals(bytesInside(new Uint8Array(8), { ...limits, offset: -0 }).offset, 0);
  for (const offset of [1.5, -1, NaN, Infinity, 2 ** 53, 1n, "1", null, undefined]) {
    assertThrows(() => bytesInside(new Uint8Array(1), { ...limits, offset }), ArgumentError);
  }
  assertThrows(
    () => bytesInside(new Uint16Array(4), { ...limits, offset: 1 }),
    ArgumentError,
    "Argument from: expected at most 8 bytes, got 8 bytes at offset 1",
  );
});
