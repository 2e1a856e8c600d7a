/** Tensors of numbers, rounded to their types, and comparisons with references in double precision. */
import { type Device, type DType, Tensor } from "../../ffi/mod.ts";
import { DTYPES, hostArray } from "../../ffi/dtype.ts";
import { bytesOf } from "../../ffi/tensors/host.ts";
import { denseStrides, scatter, spanElements } from "../../ffi/tensors/shape.ts";
import { assert } from "./assert.ts";
import { freshRandom } from "./random.ts";
import { decode, encode, type Scalar } from "./typed_arrays.ts";

/** Numbers in [-size, size), rounded to the type. */
export function randomNumbers(dtype: DType, count: number, size: number): number[] {
  const random = freshRandom();
  const values = Array.from({ length: count }, () => (2 * random.unit() - 1) * size);
  return decode(dtype, encode(dtype, values)).map(Number);
}

/** A vector of these numbers. */
export function vectorOf<D extends DType>(
  device: Device,
  dtype: D,
  values: readonly Scalar[],
): Tensor<D, 1> {
  const host = hostArray(dtype, values.length);
  bytesOf(host).set(encode(dtype, values));
  return device.tensor(host, [host.length], { dtype });
}

/** A matrix of these numbers, with a gap after each row. */
export function matrixOf<D extends DType>(
  device: Device,
  dtype: D,
  values: readonly Scalar[],
  [rows, columns]: readonly [number, number],
  gap = 0,
): Tensor<D, 2> {
  const stride = columns + gap;
  const padded = Array.from(
    { length: (rows - 1) * stride + columns },
    (_, i) => i % stride < columns ? values[Math.floor(i / stride) * columns + i % stride] ?? 0 : 0,
  );
  const { buffer } = vectorOf(device, dtype, padded);
  return new Tensor<D, 2>(buffer, {
    dtype,
    shape: [rows, columns],
    strides: [stride, 1],
    offset: 0,
  });
}

/** A tensor of these numbers, row by row, in memory with these strides and nothing after its end. */
export function stridedOf<D extends DType, const S extends readonly number[]>(
  device: Device,
  dtype: D,
  values: readonly Scalar[],
  shape: S,
  strides: readonly number[] = denseStrides(shape),
): Tensor<D, S["length"]> {
  const host = hostArray(dtype, spanElements(shape, strides));
  const elementBytes = DTYPES[dtype].bytes;
  scatter(bytesOf(host), new Uint8Array(encode(dtype, values)), { shape, strides, elementBytes });
  const { buffer } = device.tensor(host, [host.length], { dtype });
  return new Tensor<D, S["length"]>(buffer, { dtype, shape, strides, offset: 0 });
}

/** What a tensor holds. */
export function numbersOf(tensor: Tensor): number[] {
  return decode(tensor.dtype, bytesOf(tensor.readSync())).map(Number);
}

/** Every element is as near to its reference as `tolerance` says, relative to the reference or to `floor`. */
export function assertNear(
  actual: readonly number[],
  expected: readonly number[],
  tolerance: number,
  floor: number,
  what: string,
): void {
  assert(actual.length === expected.length, `${what}: ${actual.length} elements`);
  expected.forEach((value, i) => {
    const error = Math.abs((actual[i] ?? NaN) - value) / Math.max(Math.abs(value), floor);
    if (error <= tolerance || Object.is(actual[i], value)) return;
    assert(false, `${what}[${i}]: ${actual[i]} instead of ${value}`);
  });
}
