/** The shipped kernels on rows, on the emulator: softmax, normalisations, cross-entropy; in one tile and in several. */
import { crossEntropy } from "../../generated/cross_entropy.ts";
import { layerNorm } from "../../generated/layer_norm.ts";
import { rmsNorm } from "../../generated/rms_norm.ts";
import { softmax } from "../../generated/softmax.ts";
import type { Device, DType } from "../../ffi/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import {
  assertNear,
  matrixOf,
  numbersOf,
  randomNumbers,
  ROUNDING,
  vectorOf,
} from "../support/numbers.ts";
import { everyTarget } from "./devices.ts";

/** Rows, columns, and the gap after each row: odd, aligned, one element, more than a tile. */
const SIZES = [[2, 781, 3], [1, 1024, 0], [3, 1, 2], [1, 2051, 1]] as const;

/** Rows of fresh numbers. */
function rowsOf(values: readonly number[], columns: number): number[][] {
  return Array.from(
    { length: values.length / columns },
    (_, i) => values.slice(i * columns, (i + 1) * columns),
  );
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Results are rounded once to their type; what they are computed from has errors of float. */
function toleranceOf(dtype: DType): number {
  return must(ROUNDING[dtype], "a float type") * 1.01 + (dtype === "float64" ? 1e-13 : 2e-5);
}

everyTarget("softmax() makes rows of any length sum to one, on {}", (device) => {
  for (const dtype of softmax.variants) {
    for (const [rows, columns, gap] of SIZES) {
      const values = randomNumbers(dtype, rows * columns, 9);
      using x = matrixOf(device, dtype, values, [rows, columns], gap);
      using y = softmax(x);
      const expected = rowsOf(values, columns).flatMap((row) => {
        const top = Math.max(...row);
        const exps = row.map((value) => Math.exp(value - top));
        return exps.map((value) => value / sum(exps));
      });
      assertNear(numbersOf(y), expected, toleranceOf(dtype), 1e-3, `softmax of ${x}`);
    }
  }
});

function moments(row: readonly number[], eps: number): { mean: number; rstd: number; rms: number } {
  const mean = sum(row) / row.length;
  const variance = sum(row.map((value) => (value - mean) ** 2)) / row.length;
  const square = sum(row.map((value) => value * value)) / row.length;
  return { mean, rstd: 1 / Math.sqrt(variance + eps), rms: 1 / Math.sqrt(square + eps) };
}

const EPS = 2 ** -10;

everyTarget("layerNorm() and rmsNorm() normalise rows of any length, on {}", (device) => {
  for (const dtype of layerNorm.variants) {
    for (const [rows, columns, gap] of SIZES) checkNorms(device, dtype, rows, columns, gap);
  }
});

function checkNorms(
  device: Device,
  dtype: typeof layerNorm.variants[number],
  rows: number,
  columns: number,
  gap: number,
): void {
  const values = randomNumbers(dtype, rows * columns, 2);
  const [w, b] = [randomNumbers(dtype, columns, 2), randomNumbers(dtype, columns, 2)];
  using x = matrixOf(device, dtype, values, [rows, columns], gap);
  using weights = vectorOf(device, dtype, w);
  using shift = vectorOf(device, dtype, b);
  const layer = layerNorm(x, weights, shift, { eps: EPS });
  const rms = rmsNorm(x, weights, { eps: EPS });
  const found = rowsOf(values, columns);
  const all = found.map((row) => moments(row, EPS));
  const at = (list: readonly number[], i: number): number => must(list[i], "number");
  const near = (tensor: Parameters<typeof numbersOf>[0], expected: readonly number[]): void =>
    assertNear(numbersOf(tensor), expected, toleranceOf(tensor.dtype), 1, `normalised ${x}`);
  near(layer.mean, all.map(({ mean }) => mean));
  near(layer.rstd, all.map(({ rstd }) => rstd));
  near(rms.rstd, all.map(({ rms }) => rms));
  near(
    layer.y,
    found.flatMap((row, r) => {
      const { mean, rstd } = must(all[r], "moments");
      return row.map((value, i) => (value - mean) * rstd * at(w, i) + at(b, i));
    }),
  );
  near(
    rms.y,
    found.flatMap((row, r) =>
      row.map((value, i) => value * must(all[r], "moments").rms * at(w, i))
    ),
  );
  for (const tensor of [layer.y, layer.mean, layer.rstd, rms.y, rms.rstd]) tensor[Symbol.dispose]();
}

everyTarget("crossEntropy() compares rows of any length with their labels, on {}", (device) => {
  for (const dtype of crossEntropy.variants) {
    for (const [rows, columns, gap] of SIZES) {
      const values = randomNumbers(dtype, rows * columns, 9);
      const labels = Array.from(
        { length: rows },
        (_, i) => i === 2 ? -100 : columns - 1 - i % columns,
      );
      using x = matrixOf(device, dtype, values, [rows, columns], gap);
      using label = vectorOf(device, "int64", labels.map(BigInt));
      const { loss, lse } = crossEntropy(x, label);
      const logs = rowsOf(values, columns).map((row) => Math.log(sum(row.map(Math.exp))));
      const losses = logs.map((log, i) =>
        i === 2 ? 0 : log - must(values[i * columns + must(labels[i], "label")], "logit")
      );
      const tolerance = dtype === "float64" ? 1e-13 : 1e-5;
      assertNear(numbersOf(lse), logs, tolerance, 1, `logarithms of ${x}`);
      assertNear(numbersOf(loss), losses, tolerance, 1, `losses of ${x}`);
      for (const tensor of [loss, lse]) tensor[Symbol.dispose]();
    }
  }
});
