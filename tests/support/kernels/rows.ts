/** The shipped kernels on rows on any device, against formulas in double precision. */
import { crossEntropy, crossEntropyBackward } from "../../../generated/cross_entropy.ts";
import { layerNorm, layerNormBackward } from "../../../generated/layer_norm.ts";
import {
  layerNormBackwardWeights,
  rmsNormBackwardWeights,
} from "../../../generated/norm_weights.ts";
import { sumRows } from "../../../generated/reduce_sum.ts";
import { rmsNorm, rmsNormBackward } from "../../../generated/rms_norm.ts";
import { softmax, softmaxBackward } from "../../../generated/softmax.ts";
import type { Device, DType, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { bytesOf } from "../../../ffi/tensors/host.ts";
import { assertEquals } from "../assert.ts";
import { ROUNDING } from "../bounds.ts";
import { assertNear, matrixOf, numbersOf, randomNumbers, vectorOf } from "../numbers.ts";

/** Rows, columns, and the gap after each row. */
export type Size = readonly [rows: number, columns: number, gap: number];

type Float = typeof softmax.variants[number];

/** Element types of the kernels on rows. */
export const FLOATS: readonly Float[] = softmax.variants;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const dot = (a: readonly number[], b: readonly number[]): number =>
  sum(a.map((value, i) => value * at(b, i)));
const at = <T>(list: readonly T[], i: number): T => must(list[i], "element");

/** The values as rows. */
const rowsOf = (values: readonly number[], columns: number): number[][] =>
  Array.from(
    { length: values.length / columns },
    (_, i) => values.slice(i * columns, (i + 1) * columns),
  );

/** Results are rounded once to their type; what they are computed from has errors of float. */
const toleranceOf = (dtype: DType): number =>
  must(ROUNDING[dtype], "a float type") * 1.01 + (dtype === "float64" ? 1e-13 : 2e-5);

/** What is computed in. */
const realOf = (dtype: Float): "float32" | "float64" => dtype === "float64" ? "float64" : "float32";

function near(tensor: Tensor, expected: readonly number[], floor: number, what: string): void {
  assertNear(numbersOf(tensor), expected, toleranceOf(tensor.dtype), floor, what);
}

/**
 * The result in the memory of an argument has the same bits as in memory of its own with the same gaps, which may decide
 * the form of an entry and so the order of sums. The argument is used up.
 */
function assertInPlace<D extends DType>(
  argument: Tensor<D, 2>,
  compute: (out: Tensor<D, 2>) => unknown,
): void {
  const [rows, columns] = argument.shape;
  const [stride] = argument.strides;
  const poison = new Array<number>(rows * columns).fill(77);
  using apart = matrixOf(
    argument.device,
    argument.dtype,
    poison,
    [rows, columns],
    stride - columns,
  );
  compute(apart);
  compute(argument);
  assertEquals(bitsOf(argument), bitsOf(apart), `${argument} in place`);
}

const bitsOf = (tensor: Tensor): Uint8Array => bytesOf(tensor.readSync());

const softmaxOf = (row: readonly number[]): number[] => {
  const top = row.reduce((a, b) => Math.max(a, b));
  const exps = row.map((value) => Math.exp(value - top));
  const total = sum(exps);
  return exps.map((value) => value / total);
};

/** softmax() and its derivative. */
export function checkSoftmax(device: Device, dtype: Float, [rows, columns, gap]: Size): void {
  const values = randomNumbers(dtype, rows * columns, 9);
  using x = matrixOf(device, dtype, values, [rows, columns], gap);
  using y = softmax(x);
  near(y, rowsOf(values, columns).flatMap(softmaxOf), 1e-3, `softmax of ${x}`);

  const results = numbersOf(y);
  const slopes = randomNumbers(dtype, rows * columns, 2);
  using dy = matrixOf(device, dtype, slopes, [rows, columns], gap);
  using dx = softmaxBackward(y, dy);
  const expected = rowsOf(results, columns).flatMap((row, i) => {
    const slope = slopes.slice(i * columns, (i + 1) * columns);
    const level = dot(row, slope);
    return row.map((value, j) => value * (at(slope, j) - level));
  });
  near(dx, expected, 1e-2, `derivative of the softmax of ${x}`);
  assertInPlace(dy, (out) => softmaxBackward(y, dy, { out }));
  assertInPlace(x, (out) => softmax(x, { out }));
}

const EPS = 2 ** -10;

interface Moments {
  readonly mean: number;
  readonly rstd: number;
}

/** Of the population; `centred` false: about 0, as rms_norm has it. */
function momentsOf(row: readonly number[], centred: boolean): Moments {
  const mean = centred ? sum(row) / row.length : 0;
  const variance = sum(row.map((value) => (value - mean) ** 2)) / row.length;
  return { mean, rstd: 1 / Math.sqrt(variance + EPS) };
}

/** DX, DW and DB of a normalisation. */
function derivatives(
  x: readonly number[][],
  dy: readonly number[][],
  w: readonly number[],
  centred: boolean,
): { dx: number[]; dw: number[]; db: number[] } {
  const dw = w.map(() => 0);
  const db = w.map(() => 0);
  const dx = x.flatMap((row, i) => {
    const { mean, rstd } = momentsOf(row, centred);
    const h = row.map((value) => (value - mean) * rstd);
    const g = at(dy, i).map((slope, j) => slope * at(w, j));
    at(dy, i).forEach((slope, j) => {
      dw[j] = at(dw, j) + slope * at(h, j);
      db[j] = at(db, j) + slope;
    });
    const along = dot(g, h) / row.length;
    const level = centred ? sum(g) / row.length : 0;
    return g.map((value, j) => (value - level - at(h, j) * along) * rstd);
  });
  return { dx, dw, db };
}

/** layerNorm() and rmsNorm(). */
export function checkNorms(device: Device, dtype: Float, [rows, columns, gap]: Size): void {
  const values = randomNumbers(dtype, rows * columns, 2);
  const [w, b] = [randomNumbers(dtype, columns, 2), randomNumbers(dtype, columns, 2)];
  using x = matrixOf(device, dtype, values, [rows, columns], gap);
  using weights = vectorOf(device, dtype, w);
  using shift = vectorOf(device, dtype, b);
  const found = rowsOf(values, columns);
  const { mean, ...layer } = layerNorm(x, weights, shift, { eps: EPS });
  const rms = rmsNorm(x, weights, { eps: EPS });
  near(mean, found.map((row) => momentsOf(row, true).mean), 1, `means of ${x}`);
  mean[Symbol.dispose]();
  using copy = x.clone();
  assertInPlace(copy, (y) => {
    const { mean, rstd } = layerNorm(copy, weights, shift, { eps: EPS, out: { y } });
    for (const tensor of [mean, rstd]) tensor[Symbol.dispose]();
  });
  assertInPlace(x, (y) => {
    rmsNorm(x, weights, { eps: EPS, out: { y } }).rstd[Symbol.dispose]();
  });
  for (const [{ y, rstd }, centred] of [[layer, true], [rms, false]] as const) {
    const what = `${centred ? "layer" : "rms"} norm of ${x}`;
    const all = found.map((row) => momentsOf(row, centred));
    near(rstd, all.map((one) => one.rstd), 1, what);
    const expected = found.flatMap((row, i) => {
      const { mean, rstd } = at(all, i);
      return row.map((value, j) => (value - mean) * rstd * at(w, j) + (centred ? at(b, j) : 0));
    });
    near(y, expected, 1, what);
    for (const tensor of [y, rstd]) tensor[Symbol.dispose]();
  }
}

/** The derivatives of layerNorm() and rmsNorm(), those of weights in several parts. */
export function checkNormDerivatives(
  device: Device,
  dtype: Float,
  [rows, columns, gap]: Size,
  parts: number,
): void {
  const values = randomNumbers(dtype, rows * columns, 2);
  const slopes = randomNumbers(dtype, rows * columns, 2);
  const w = randomNumbers(dtype, columns, 2);
  const [found, slopeRows] = [rowsOf(values, columns), rowsOf(slopes, columns)];
  using x = matrixOf(device, dtype, values, [rows, columns], gap);
  using dy = matrixOf(device, dtype, slopes, [rows, columns], gap);
  using weights = vectorOf(device, dtype, w);
  for (const centred of [true, false]) {
    const what = `derivative of the ${centred ? "layer" : "rms"} norm of ${x}`;
    const real = realOf(dtype);
    const all = found.map((row) => momentsOf(row, centred));
    using mean = vectorOf(device, real, all.map((one) => one.mean));
    using rstd = vectorOf(device, real, all.map((one) => one.rstd));
    using pw = matrixOf(device, real, new Array(parts * columns).fill(77), [parts, columns]);
    using pb = matrixOf(device, real, new Array(parts * columns).fill(77), [parts, columns]);
    using dx = centred
      ? layerNormBackward(x, dy, weights, mean, rstd)
      : rmsNormBackward(x, dy, weights, rstd);
    if (centred) layerNormBackwardWeights(x, dy, mean, rstd, { out: { dw: pw, db: pb } });
    else rmsNormBackwardWeights(x, dy, rstd, { out: pw });
    using dw = sumRows(pw);
    using db = sumRows(pb);
    const expected = derivatives(found, slopeRows, w, centred);
    near(dx, expected.dx, 4, `${what} by x`);
    near(dw, expected.dw, rows, `${what} by w`);
    if (centred) near(db, expected.db, rows, `${what} by b`);
    else assertInPlace(dy, (out) => rmsNormBackward(x, dy, weights, rstd, { out }));
  }
}

/** crossEntropy() and its derivative; row 2 has a label that says it does not count. */
export function checkCrossEntropy(device: Device, dtype: Float, [rows, columns, gap]: Size): void {
  const values = randomNumbers(dtype, rows * columns, 9);
  const labels = Array.from({ length: rows }, (_, i) => i === 2 ? -100 : columns - 1 - i % columns);
  using x = matrixOf(device, dtype, values, [rows, columns], gap);
  using label = vectorOf(device, "int64", labels.map(BigInt));
  const { loss, lse } = crossEntropy(x, label);
  const found = rowsOf(values, columns);
  const logs = found.map((row) => Math.log(sum(row.map(Math.exp))));
  near(lse, logs, 1, `logarithms of ${x}`);
  near(
    loss,
    logs.map((log, i) => i === 2 ? 0 : log - at(at(found, i), at(labels, i))),
    1,
    `losses of ${x}`,
  );

  const slopes = randomNumbers(realOf(dtype), rows, 2);
  using dloss = vectorOf(device, realOf(dtype), slopes);
  using exact = vectorOf(device, realOf(dtype), logs);
  using dx = crossEntropyBackward(x, label, exact, dloss);
  const expected = found.flatMap((row, i) =>
    softmaxOf(row).map((value, j) =>
      i === 2 ? 0 : (value - (j === labels[i] ? 1 : 0)) * at(slopes, i)
    )
  );
  near(dx, expected, 1, `derivative of the losses of ${x}`);
  assertInPlace(x, (out) => crossEntropyBackward(x, label, exact, dloss, { out }));
  for (const tensor of [loss, lse]) tensor[Symbol.dispose]();
}
