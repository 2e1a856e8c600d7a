/** Matrices in device memory whose surroundings are watched: what a kernel must not touch is compared too. */
import { type Device, type DType, DTYPES, type Tensor } from "@tri/tri/ffi";
import { hostArray } from "../../ffi/dtype.ts";
import { bytesOf } from "../../ffi/tensors/host.ts";
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

/** Words of a size that divides an element, and how many make one. */
function words(
  bytes: Uint8Array,
  elementBytes: number,
): { readonly list: Uint8Array | Uint16Array | Uint32Array; readonly perElement: number } {
  const { buffer, byteOffset, byteLength } = bytes;
  if (elementBytes === 1) return { list: bytes, perElement: 1 };
  if (elementBytes === 2) {
    return { list: new Uint16Array(buffer, byteOffset, byteLength >> 1), perElement: 1 };
  }
  return {
    list: new Uint32Array(buffer, byteOffset, byteLength >> 2),
    perElement: elementBytes / 4,
  };
}

/** A copy of `before` in which each (row, column) holds the element of `source` with the given index. */
export function expectMatrix(
  before: Uint8Array,
  rows: number,
  columns: number,
  placement: Placement,
  elementBytes: number,
  source: Uint8Array,
  indexOf: (row: number, column: number) => number,
): Uint8Array {
  const expected = before.slice();
  const { list: to, perElement } = words(expected, elementBytes);
  const { list: from } = words(source, elementBytes);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const target = (placement.offset + row * placement.stride + column) * perElement;
      const origin = indexOf(row, column) * perElement;
      for (let w = 0; w < perElement; w++) to[target + w] = from[origin + w] ?? 0;
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
  const whole = bytes.length & ~7;
  const [a, b] = [bytes, expected].map((list) =>
    new BigUint64Array(list.buffer, list.byteOffset, whole >> 3)
  );
  // Words first: the matrices may be gigabytes.
  const word = (a ?? []).findIndex((value, i) => value !== b?.[i]);
  const from = word < 0 ? whole : word * 8;
  const at = bytes.subarray(from).findIndex((byte, i) => byte !== expected[from + i]);
  assert(
    at < 0,
    `${what}: byte ${from + at} is ${bytes[from + at]}, expected ${expected[from + at]}`,
  );
}

export const elementBytes = (dtype: DType): number => DTYPES[dtype].bytes;
