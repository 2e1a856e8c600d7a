/** Matrices whose buffers end with their last element, so that the emulator sees who reads or writes on. */
import { type Device, type DType, Tensor } from "../../../ffi/mod.ts";
import { hostArray } from "../../../ffi/dtype.ts";
import { bytesOf } from "../../../ffi/tensors/host.ts";
import { assertEquals } from "../assert.ts";
import { assertBytes, elementBytes } from "../../gpu/matrices.ts";
import { freshRandom } from "../random.ts";

/** Where a matrix lies in its buffer, in elements. */
export interface Placement {
  readonly offset: number;
  readonly rowStride: number;
  readonly columnStride: number;
}

export const rowMajor = (columns: number, gap = 0, offset = 0): Placement => ({
  offset,
  rowStride: columns + gap,
  columnStride: 1,
});
export const columnMajor = (rows: number, gap = 0, offset = 0): Placement => ({
  offset,
  rowStride: 1,
  columnStride: rows + gap,
});

/** A matrix in device memory, and its buffer as it was made. */
export interface Matrix<D extends DType> extends Disposable {
  readonly tensor: Tensor<D, 2>;
  readonly before: Uint8Array;
  readonly placement: Placement;
  /** The buffer as it is now. */
  now(): Uint8Array;
}

type Size = readonly [rows: number, columns: number];

/** A matrix of fresh random bits; the gaps are random too, and serve as the poison around a result. */
export function randomMatrix<D extends DType>(
  device: Device,
  dtype: D,
  [rows, columns]: Size,
  placement: Placement,
): Matrix<D> {
  const { offset, rowStride, columnStride } = placement;
  const elements = offset + (rows - 1) * rowStride + (columns - 1) * columnStride + 1;
  const host = hostArray(dtype, elements);
  freshRandom().fill(bytesOf(host));
  const owner = device.tensor(host, [elements], { dtype });
  const tensor = new Tensor<D, 2>(owner.buffer, {
    dtype,
    shape: [rows, columns],
    strides: [rowStride, columnStride],
    offset,
  });
  return {
    tensor,
    before: bytesOf(host),
    placement,
    now: () => bytesOf(owner.readSync()),
    [Symbol.dispose]: () => owner[Symbol.dispose](),
  };
}

/** `to` holds the elements of `from`, transposed or not, and is otherwise as it was. */
export function assertMoved<D extends DType>(
  from: Matrix<D>,
  to: Matrix<D>,
  isTransposed: boolean,
): void {
  const { dtype, shape: [rows, columns] } = from.tensor;
  const size = elementBytes(dtype);
  const expected = to.before.slice();
  const at = ({ offset, rowStride, columnStride }: Placement, i: number, j: number): number =>
    size * (offset + i * rowStride + j * columnStride);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const source = at(from.placement, i, j);
      const target = isTransposed ? at(to.placement, j, i) : at(to.placement, i, j);
      for (let k = 0; k < size; k++) expected[target + k] = from.before[source + k] ?? 0;
    }
  }
  assertBytes(to.now(), expected, `${from.tensor} to ${to.tensor}`);
  assertEquals(from.now(), from.before);
}
