/** Operands of matrix products in every kind of storage, and products compared with sums in double precision. */
import type { Device, DType, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../assert.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers } from "../numbers.ts";
import { freshRandom } from "../random.ts";

/** Element types of the shipped products. */
export type ProductType = "float16" | "bfloat16" | "float32" | "float64" | "int8";

/** How a matrix lies in memory: by rows, by columns, or with gaps along both axes. */
export type Storage = "rows" | "columns" | "apart";

/** A matrix and its elements, row by row. */
export interface Operand<D extends DType = DType> extends Disposable {
  readonly tensor: Tensor<D, 2>;
  readonly values: readonly number[];
}

/** Magnitudes of the elements: those of `small` have subnormal products, those of `large` products near overflow or beyond. */
export type Magnitude = "ordinary" | "small" | "large";

const SCALES: Readonly<
  Record<Exclude<Magnitude, "ordinary">, Readonly<Record<Exclude<ProductType, "int8">, number>>>
> = {
  small: { float16: 2 ** -10, bfloat16: 2 ** -67, float32: 2 ** -67, float64: 2 ** -533 },
  large: { float16: 2 ** 7, bfloat16: 2 ** 60, float32: 2 ** 60, float64: 2 ** 500 },
};

/** Fresh numbers: of the whole range of int8, in [-scale, scale) otherwise. */
export function productNumbers(
  dtype: ProductType,
  count: number,
  magnitude: Magnitude = "ordinary",
): number[] {
  if (dtype === "int8") {
    const random = freshRandom();
    return Array.from({ length: count }, () => random.below(256) - 128);
  }
  return randomNumbers(dtype, count, magnitude === "ordinary" ? 1 : SCALES[magnitude][dtype]);
}

/** Pairs of columns of x that differ in sign only, for rows of y in equal pairs: all of the sum but its last term cancels. */
export function cancel(x: number[], y: number[], k: number, n: number): void {
  x.forEach((value, at) => {
    const q = at % k;
    if (q % 2 === 0 && q + 1 < k) x[at + 1] = -value;
  });
  for (let q = 0; q + 1 < k; q += 2) {
    for (let j = 0; j < n; j++) y[(q + 1) * n + j] = must(y[q * n + j], "element");
  }
}

/** A matrix of fresh numbers with `gap` elements after each row or column. */
export function operandOf<D extends ProductType>(
  device: Device,
  dtype: D,
  [rows, columns]: readonly [number, number],
  { storage = "rows", gap = 0, values = productNumbers(dtype, rows * columns) }: {
    readonly storage?: Storage;
    readonly gap?: number;
    /** Elements row by row; fresh ordinary numbers if not given. */
    readonly values?: readonly number[];
  } = {},
): Operand<D> {
  const scalars = dtype === "int8" ? values.map(BigInt) : values;
  const at = (i: number, j: number): number | bigint => must(scalars[i * columns + j], "element");
  const list = (
    [outer, inner]: readonly [number, number],
    element: (i: number, j: number) => number | bigint,
  ): (number | bigint)[] =>
    Array.from({ length: outer * inner }, (_, i) => element(Math.floor(i / inner), i % inner));
  const make = {
    rows: () => matrixOf(device, dtype, scalars, [rows, columns], gap),
    columns: () =>
      matrixOf(
        device,
        dtype,
        list([columns, rows], (j, i) => at(i, j)),
        [columns, rows],
        gap,
      ).transpose(),
    apart: () =>
      matrixOf(
        device,
        dtype,
        list([rows, 2 * columns], (i, j) => at(i, j >> 1)),
        [rows, 2 * columns],
        gap,
      ).narrow(1, 0, columns, 2),
  };
  const tensor = make[storage]();
  return { tensor, values, [Symbol.dispose]: () => tensor.buffer[Symbol.dispose]() };
}

/** Every element of `c` is as near to that of x @ y as the sums' rounding and `roundings` of the result allow. */
export function assertProduct(
  c: readonly number[],
  [x, y]: readonly [readonly number[], readonly number[]],
  { dtype, m, n, k, roundings = 1 }: {
    readonly dtype: ProductType;
    readonly m: number;
    readonly n: number;
    readonly k: number;
    readonly roundings?: number;
  },
): void {
  assert(c.length === m * n, `${c.length} elements`);
  // Sums of the narrow floats are made in float.
  const sumType = dtype === "float64" ? "float64" : "float32";
  const type = dtype === "int8" ? "integer" : dtype;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let [sum, magnitude] = [0, 0];
      for (let q = 0; q < k; q++) {
        const product = (x[i * k + q] ?? NaN) * (y[q * n + j] ?? NaN);
        sum += product;
        magnitude += Math.abs(product);
      }
      // Parts that are rounded on the way are no larger than the magnitude; the last rounding is that of the result.
      const inParts = type === "integer" ? 0 : roundingError(type, magnitude, roundings - 1);
      const error = roundingError(sumType, magnitude, k + 1) + inParts;
      const found = c[i * n + j] ?? NaN;
      assertRounded(type, found, sum, error, () => `${dtype} ${m} x ${n} x ${k} [${i}, ${j}]`);
    }
  }
}

/** Compares a result with the product of its operands. */
export function assertProductOf(c: Tensor, a: Operand, b: Operand, roundings = 1): void {
  const [m = 0, k = 0] = a.tensor.shape;
  const [, n = 0] = b.tensor.shape;
  const dtype = a.tensor.dtype as ProductType; // the operands of operandOf()
  assertProduct(numbersOf(c), [a.values, b.values], { dtype, m, n, k, roundings });
}
