/** Matrices in device memory whose surroundings are watched: what a kernel must not touch is compared too. */
import { type Device, type DType, DTYPES, type Tensor } from "@tri/tri/ffi";
import { bytesOf, hostArray } from "../../ffi/dtype.ts";
import { assert } from "../support/assert.ts";
import type { Random } from "../support/random.ts";

/** Where a matrix lies in its buffer, in elements. */
export interface Placement {
  readonly offset: number;
  /** Elements between the starts of neighbouring rows. */
  readonly stride: number;
}

/** Packed rows from the first element on. */
export const dense = (columns: number): Placement => ({ offset: 0, stride: columns });

/** Elements of the buffer that holds a matrix: padded, so that a store past its end is seen. */
function bufferElements(rows: number, placement: Placement): number {
  return placement.offset + rows * placement.stride + 64;
}

/** A matrix of random bits as a view of a larger buffer, and the bytes of that buffer. */
export function randomMatrix<D extends DType>(
  device: Device,
  random: Random,
  dtype: D,
  rows: number,
  columns: number,
  placement: Placement,
): { readonly tensor: Tensor<D, 2>; readonly buffer: Tensor<D, 1>; readonly bytes: Uint8Array } {
  const host = hostArray(dtype, bufferElements(rows, placement));
  const bytes = bytesOf(host);
  random.fill(bytes);
  const buffer = device.tensor(host, [host.length], { dtype });
  const tensor = buffer.narrow(0, placement.offset, rows * placement.stride)
    .reshape([rows, placement.stride]).narrow(1, 0, columns);
  return { tensor, buffer, bytes };
}

/** Copies the elements that `source` names for each (row, column) into a copy of `before`. */
export function expectMatrix(
  before: Uint8Array,
  rows: number,
  columns: number,
  placement: Placement,
  elementBytes: number,
  source: (row: number, column: number) => { readonly bytes: Uint8Array; readonly element: number },
): Uint8Array {
  const expected = before.slice();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const from = source(row, column);
      const to = (placement.offset + row * placement.stride + column) * elementBytes;
      const start = from.element * elementBytes;
      for (let b = 0; b < elementBytes; b++) expected[to + b] = from.bytes[start + b] ?? 0;
    }
  }
  return expected;
}

/** Fails at the first byte that differs. */
export function assertBytes(actual: ArrayBufferView, expected: Uint8Array, what: string): void {
  const bytes = new Uint8Array(actual.buffer, actual.byteOffset, actual.byteLength);
  assert(
    bytes.length === expected.length,
    `${what}: ${bytes.length} bytes, expected ${expected.length}`,
  );
  const words = bytes.length & ~7;
  const [a, b] = [bytes, expected].map((list) =>
    new BigUint64Array(list.buffer, list.byteOffset, words >> 3)
  );
  // Words first: the matrices may be gigabytes.
  const word = (a ?? []).findIndex((value, i) => value !== b?.[i]);
  const from = word < 0 ? words : word * 8;
  const at = bytes.subarray(from).findIndex((byte, i) => byte !== expected[from + i]);
  assert(
    at < 0,
    `${what}: byte ${from + at} is ${bytes[from + at]}, expected ${expected[from + at]}`,
  );
}

export const elementBytes = (dtype: DType): number => DTYPES[dtype].bytes;
