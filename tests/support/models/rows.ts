/** Running sums, orders of rows, choices from rows, and normalised sums. */
import { addRmsNorm } from "../../../generated/add_rms_norm.ts";
import { cumulativeSum } from "../../../generated/cumulative_sum.ts";
import { sample } from "../../../generated/sample.ts";
import { sortRows } from "../../../generated/sort_rows.ts";
import { argmaxRows, topk } from "../../../generated/topk.ts";
import type { Device } from "../../../ffi/mod.ts";
import { roundFloat } from "../../../compiler/support/float.ts";
import { assert, assertEquals } from "../assert.ts";
import { assertRounded } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";
import type { Scalar } from "../typed_arrays.ts";
import { assertWithin, at, type Expected, type ModelFloat } from "./compare.ts";

/** Rows and columns. */
export type Shape = readonly [rows: number, columns: number];

const rowsOf = <T>(values: readonly T[], columns: number): T[][] =>
  Array.from(
    { length: values.length / columns },
    (_, i) => values.slice(i * columns, (i + 1) * columns),
  );

/** cumulativeSum(): small whole numbers, whose sums in float are exact. */
export function checkCumulativeSum(
  device: Device,
  dtype: typeof cumulativeSum.variants[number],
  [rows, columns]: Shape,
): void {
  const type = dtype === "int32" || dtype === "int64" ? "integer" : dtype;
  const values = randomNumbers(type === "integer" ? "float32" : type, rows * columns, 8)
    .map(Math.trunc);
  const scalars: Scalar[] = type === "integer" ? values.map(BigInt) : values;
  using x = matrixOf(device, dtype, scalars, [rows, columns], 3);
  using y = cumulativeSum(x);
  const found = numbersOf(y);
  let sum = 0;
  values.forEach((value, i) => {
    sum = i % columns === 0 ? value : sum + value;
    assertRounded(type, at(found, i), sum, 0, () => `running sum of ${x} [${i}]`);
  });
}

/** Numbers of which many are equal, and all that are special. */
function specialNumbers(dtype: ModelFloat, count: number): number[] {
  const random = freshRandom();
  const special = [NaN, Infinity, -Infinity, 0, -0];
  return randomNumbers(dtype, count, 9).map((value) => {
    const kind = random.below(20);
    return kind < special.length ? at(special, kind) : kind < 12 ? Math.round(value) : value;
  });
}

/** Whether a number is above another: NaN above all, +0 above -0. */
function isAbove(a: number, b: number): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && !Number.isNaN(b);
  return a > b || (a === b && a === 0 && Object.is(b, -0) && !Object.is(a, -0));
}

/** The columns of a row in the order of its elements; equal ones in their own order. */
function orderOf(row: readonly number[], descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return row.map((_, j) => j).sort((i, j) => {
    const [a, b] = [at(row, i), at(row, j)];
    return isAbove(a, b) ? sign : isAbove(b, a) ? -sign : i - j;
  });
}

/** sortRows() in both directions. */
export function checkSortRows(device: Device, dtype: ModelFloat, [rows, columns]: Shape): void {
  const values = specialNumbers(dtype, rows * columns);
  using x = matrixOf(device, dtype, values, [rows, columns], 1);
  for (const descending of [0, 1]) {
    const { y, index } = sortRows(x, { descending });
    const orders = rowsOf(values, columns).map((row) => orderOf(row, descending === 1));
    assertEquals(numbersOf(index), orders.flat(), `order of ${x}`);
    const sorted = orders.flatMap((order, i) => order.map((j) => at(values, i * columns + j)));
    assertEquals(numbersOf(y), sorted, `sorted ${x}`);
    for (const tensor of [y, index]) tensor[Symbol.dispose]();
  }
}

/** topk() and argmaxRows(); of several rows the last one has nothing above what is read beyond rows. */
export function checkTopk(
  device: Device,
  dtype: ModelFloat,
  [rows, columns]: Shape,
  count: number,
): void {
  const values = specialNumbers(dtype, rows * columns);
  if (rows > 1) values.fill(-Infinity, (rows - 1) * columns);
  using x = matrixOf(device, dtype, values, [rows, columns], 1);
  const orders = rowsOf(values, columns).map((row) => orderOf(row, true));
  using y = device.empty(dtype, [rows, count]);
  using index = device.empty("int32", [rows, count]);
  topk(x, { out: { y, index } });
  const first = orders.map((order) => order.slice(0, count));
  assertEquals(numbersOf(index), first.flat(), `${count} largest of ${x}`);
  const largest = first.flatMap((order, i) => order.map((j) => at(values, i * columns + j)));
  assertEquals(numbersOf(y), largest, `${count} largest of ${x}`);
  using top = argmaxRows(x);
  assertEquals(numbersOf(top), orders.map((order) => at(order, 0)), `largest of ${x}`);
}

/** sample(): only of the most probable elements, and the largest one at temperature 0. */
export function checkSample(device: Device, dtype: ModelFloat, [rows, columns]: Shape): void {
  const values = randomNumbers(dtype, rows * columns, 6);
  using x = matrixOf(device, dtype, values, [rows, columns], 1);
  const seed = BigInt(freshRandom().below(2 ** 30));
  const draw = (temperature: number, p: number): number[] => {
    using index = sample(x, { temperature, p, seed, offset: 5 });
    return numbersOf(index);
  };
  const all = rowsOf(values, columns);
  draw(0, 1).forEach((j, i) => assertEquals(at(at(all, i), j), Math.max(...at(all, i))));
  const [temperature, p] = [0.75, 0.5];
  const drawn = draw(temperature, p);
  assertEquals(draw(temperature, p), drawn, "the same arguments");
  drawn.forEach((j, i) => {
    const row = at(all, i);
    const top = Math.max(...row);
    const weights = row.map((value) => Math.exp((value - top) / temperature));
    const total = weights.reduce((a, b) => a + b, 0);
    const above = weights.filter((weight) => weight > at(weights, j)).reduce((a, b) => a + b, 0);
    // Sums of floats: the border between what may be drawn and what may not is that sharp.
    assert(above <= total * (p + 2 ** -15), `element ${j} of row ${i} of ${x}`);
  });
}

/** sample() draws with the probabilities of a softmax: a fixed seed, so that it never fails by chance. */
export function checkSampledShares(device: Device, rows: number): void {
  const logits = [1, -0.5, 0.25, -Infinity, 2, -3];
  using x = matrixOf(
    device,
    "float32",
    Array.from({ length: rows }, () => logits).flat(),
    [rows, logits.length],
  );
  for (const [temperature, p, allowed] of [[2, 1, 6], [1, 0.8, 2]] as const) {
    using index = sample(x, { temperature, p, seed: 2024n, offset: 0 });
    const counts = logits.map(() => 0);
    for (const j of numbersOf(index)) counts[j] = at(counts, j) + 1;
    const bar = at(logits.toSorted((a, b) => b - a), allowed - 1);
    const weights = logits.map((value) => value >= bar ? Math.exp(value / temperature) : 0);
    const total = weights.reduce((a, b) => a + b, 0);
    weights.forEach((weight, j) => {
      const share = weight / total;
      const deviation = Math.sqrt(rows * share * (1 - share));
      const off = Math.abs(at(counts, j) - rows * share);
      assert(off <= 4 * deviation, `${at(counts, j)} instead of ${rows * share} times ${j}`);
    });
  }
}

/** addRmsNorm(). */
export function checkAddRmsNorm(device: Device, dtype: ModelFloat, [rows, columns]: Shape): void {
  const [a, b, weights] = [
    randomNumbers(dtype, rows * columns, 2),
    randomNumbers(dtype, rows * columns, 2),
    randomNumbers(dtype, columns, 2),
  ];
  const eps = 2 ** -10;
  using x = matrixOf(device, dtype, a, [rows, columns], 8);
  using residual = matrixOf(device, dtype, b, [rows, columns], 0);
  using w = vectorOf(device, dtype, weights);
  const { s, y, rstd } = addRmsNorm(x, residual, w, { eps });
  const sums = a.map((value, i) => roundFloat(value + at(b, i), dtype));
  assertEquals(numbersOf(s), sums, `sum of ${x} and ${residual}`);
  const scales = rowsOf(sums, columns).map((row) =>
    1 / Math.sqrt(row.reduce((total, value) => total + value * value, 0) / columns + eps)
  );
  assertWithin(rstd, scales.map((scale): Expected => [scale, scale]), `rstd of ${x}`);
  const expected = sums.map((value, i): Expected => {
    const exact = value * at(scales, Math.floor(i / columns)) * at(weights, i % columns);
    return [exact, Math.abs(exact)];
  });
  assertWithin(y, expected, `norm of ${x} and ${residual}`);
  for (const tensor of [s, y, rstd]) tensor[Symbol.dispose]();
}
