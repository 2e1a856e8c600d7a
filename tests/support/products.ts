/** Operands of matrix products in every kind of storage, and products compared with sums in double precision. */
import type { Device, DType, Tensor } from "../../ffi/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert } from "./assert.ts";
import { matrixOf, numbersOf, randomNumbers, ROUNDING } from "./numbers.ts";

/** Element types of the shipped products. */
export type ProductType = "float16" | "bfloat16" | "float32" | "float64" | "int8";

/** How a matrix lies in memory: by rows, by columns, or with gaps along both axes. */
export type Storage = "rows" | "columns" | "apart";

/** A matrix and its elements, row by row. */
export interface Operand<D extends DType = DType> extends Disposable {
  readonly tensor: Tensor<D, 2>;
  readonly values: readonly number[];
}

/** Fresh numbers: of the whole range of int8, around 1 otherwise. */
export function productNumbers(dtype: ProductType, count: number): number[] {
  return dtype === "int8"
    ? Array.from({ length: count }, () => Math.floor(Math.random() * 256) - 128)
    : randomNumbers(dtype, count, 1);
}

/** A matrix of fresh numbers with `gap` elements after each row or column. */
export function operandOf<D extends ProductType>(
  device: Device,
  dtype: D,
  [rows, columns]: readonly [number, number],
  { storage = "rows", gap = 0 }: { readonly storage?: Storage; readonly gap?: number } = {},
): Operand<D> {
  const values = productNumbers(dtype, rows * columns);
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

/** Rounding of the sums, which are made in float for the narrow floats. */
function sumRounding(dtype: ProductType): number {
  return dtype === "int8" ? 0 : must(ROUNDING[dtype === "float64" ? "float64" : "float32"], "type");
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
  const final = dtype === "int8" ? 0 : roundings * must(ROUNDING[dtype], "type");
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let [sum, magnitude] = [0, 0];
      for (let q = 0; q < k; q++) {
        const product = (x[i * k + q] ?? NaN) * (y[q * n + j] ?? NaN);
        sum += product;
        magnitude += Math.abs(product);
      }
      // Parts that are rounded on the way are no larger than the magnitude.
      const rounded = roundings === 1 ? Math.abs(sum) : magnitude;
      const bound = (k + 1) * sumRounding(dtype) * magnitude + final * rounded;
      const found = c[i * n + j];
      assert(
        Math.abs((found ?? NaN) - sum) <= bound,
        `${dtype} ${m} x ${n} x ${k} [${i}, ${j}]: ${found} instead of ${sum}`,
      );
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
