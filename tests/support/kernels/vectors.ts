/** Vectors whose sums are known, for every element type. */
import type { DType, HostArray } from "../../../ffi/dtype.ts";
import { hostArray } from "../../../ffi/dtype.ts";
import { assert } from "../assert.ts";
import { freshRandom } from "../random.ts";

/** Two vectors and their sum. */
export interface Addition<D extends DType> {
  readonly a: HostArray<D>;
  readonly b: HostArray<D>;
  readonly sum: HostArray<D>;
}

/** x + y in the element type: exact in double (or big integers), then rounded once. */
function sum(dtype: DType, a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "bigint" && typeof b === "bigint") {
    return dtype === "uint64" ? BigInt.asUintN(64, a + b) : BigInt.asIntN(64, a + b);
  }
  return Number(a) + Number(b);
}

/** A float and its bits. */
const VIEW = new DataView(new ArrayBuffer(4));

/** The float whose upper half is these bits. */
function bfloat16Value(bits: number): number {
  VIEW.setUint32(0, bits << 16);
  return VIEW.getFloat32(0);
}

/** Nearest bfloat16, ties to even. */
function bfloat16Bits(value: number): number {
  VIEW.setFloat32(0, value);
  const bits = VIEW.getUint32(0);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Random vectors of a length. */
export function randomAddition<D extends DType>(dtype: D, length: number): Addition<D> {
  const random = freshRandom();
  const [a, b, total] = [
    hostArray(dtype, length),
    hostArray(dtype, length),
    hostArray(dtype, length),
  ];
  for (let i = 0; i < length; i++) {
    // Small multiples of 1/8: sums are exact in every type but the 8-bit mantissa of bfloat16, which rounds.
    const [u, v] = [random.below(1000), random.below(1000)];
    if (a instanceof BigInt64Array || a instanceof BigUint64Array) {
      a[i] = BigInt(u) << 52n;
      Reflect.set(b, i, BigInt(v) << 52n);
    } else if (dtype === "bfloat16") {
      a[i] = bfloat16Bits(u / 8);
      Reflect.set(b, i, bfloat16Bits(v / 8));
    } else {
      const scale = dtype.startsWith("float") ? 1 / 8 : 1;
      a[i] = u * scale;
      Reflect.set(b, i, v * scale);
    }
    const value = dtype === "bfloat16"
      ? bfloat16Bits(bfloat16Value(Number(a[i])) + bfloat16Value(Number(b[i])))
      : sum(dtype, a[i] ?? 0, b[i] ?? 0);
    Reflect.set(total, i, value);
  }
  return { a, b, sum: total };
}

/** Fails at the first element that differs. */
export function assertSum(actual: HostArray, expected: HostArray, dtype: DType): void {
  const wrong = actual.findIndex((value: number | bigint, i: number) => value !== expected[i]);
  assert(
    wrong < 0,
    `${dtype}[${actual.length}]: element ${wrong} is ${actual[wrong]}, expected ${expected[wrong]}`,
  );
}
