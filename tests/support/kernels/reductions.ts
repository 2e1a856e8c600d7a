/** The shipped kernels on vectors on any device: sums, dropout. */
import { dropout } from "../../../generated/dropout.ts";
import { atomicSum, reduceSum, sumRows } from "../../../generated/reduce_sum.ts";
import type { Device } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../assert.ts";
import { ROUNDING } from "../bounds.ts";
import { assertNear, matrixOf, numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import type { Scalar } from "../typed_arrays.ts";

type Summed = typeof reduceSum.variants[number];

/** Element types that can be summed. */
export const SUMS: readonly Summed[] = reduceSum.variants;

const isInteger = (dtype: Summed): boolean => dtype === "int32" || dtype === "int64";
const totalOf = (dtype: Summed): "int32" | "int64" | "float32" | "float64" =>
  dtype === "float16" || dtype === "bfloat16" ? "float32" : dtype;
const scalarsOf = (dtype: Summed, values: readonly number[]): readonly Scalar[] =>
  isInteger(dtype) ? values.map(BigInt) : values;

/** Small whole numbers: their sums are exact in any order. */
const wholeNumbers = (dtype: Summed, count: number): number[] =>
  randomNumbers(isInteger(dtype) ? "float32" : dtype, count, 8).map(Math.trunc);

/** reduceSum() of a vector in several parts and in one, and atomicSum() to a number that is not 0. */
export function checkReduceSum(device: Device, dtype: Summed, length: number): void {
  const values = wholeNumbers(dtype, length);
  const total = values.reduce((a, b) => a + b, 0);
  using x = vectorOf(device, dtype, scalarsOf(dtype, values));
  using parts = reduceSum(x, { parts: 3 });
  using sum = reduceSum(parts, { parts: 1 });
  assertEquals(numbersOf(sum), [total]);
  using whole = reduceSum(x, { parts: 1 });
  assertEquals(numbersOf(whole), [total]);
  using y = vectorOf(device, totalOf(dtype), scalarsOf(dtype, [5]));
  atomicSum(x, y);
  assertEquals(numbersOf(y), [total + 5]);
}

/** reduceSum() of floats whose sum depends on the order: the same bits each time, and near the sum in double precision. */
export function checkReduceSumBits(device: Device, length: number, parts: number): void {
  const values = randomNumbers("float32", length, 1);
  using x = vectorOf(device, "float32", values);
  const sum = (): number[] => {
    using some = reduceSum(x, { parts });
    using all = reduceSum(some, { parts: 1 });
    return numbersOf(all);
  };
  const first = sum();
  for (let run = 0; run < 3; run++) assertEquals(sum(), first);
  const exact = values.reduce((a, b) => a + b, 0);
  const magnitude = values.reduce((a, b) => a + Math.abs(b), 0);
  // No element goes through more additions than that.
  assertNear(first, [exact], 128 * 2 ** -24, magnitude, `sum of ${length} floats`);
}

/** sumRows() of a matrix. */
export function checkSumRows(
  device: Device,
  dtype: Summed,
  [rows, columns]: readonly [number, number],
): void {
  const values = wholeNumbers(dtype, rows * columns);
  using x = matrixOf(device, dtype, scalarsOf(dtype, values), [rows, columns], 3);
  using y = sumRows(x);
  const expected = new Array<number>(columns).fill(0);
  values.forEach((value, i) => expected[i % columns] = (expected[i % columns] ?? 0) + value);
  assertEquals(numbersOf(y), expected);
}

/** dropout() drops about as much as asked, the same for the same seed. */
export function checkDropout(
  device: Device,
  dtype: typeof dropout.variants[number],
  length: number,
): void {
  const p = 0.3;
  const values = randomNumbers(dtype, length, 4).map((value) => value === 0 ? 1 : value);
  using x = vectorOf(device, dtype, values);
  const draw = (seed: bigint): number[] => {
    using y = dropout(x, { p, seed });
    return numbersOf(y);
  };
  const first = draw(42n);
  assertEquals(draw(42n), first);
  const dropped = first.filter((value) => value === 0).length;
  // Five standard deviations.
  assert(Math.abs(dropped - length * p) < 5 * Math.sqrt(length * p * (1 - p)), `${dropped}`);
  const scaled = values.map((value, i) => first[i] === 0 ? 0 : value / (1 - Math.fround(p)));
  assertNear(first, scaled, must(ROUNDING[dtype], "float") * 3, 1e-3, `dropout of ${x}`);
  assert(draw(43n).some((value, i) => (value === 0) !== (first[i] === 0)), "another seed");
}
