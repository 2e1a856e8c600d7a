/** The shipped matrix product on the emulator: every image, every variant, both instances, through the wrapper. */
import { matmul } from "../../generated/matmul.ts";
import type { Device } from "../../ffi/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { matrixOf, numbersOf, randomNumbers, ROUNDING } from "../support/numbers.ts";
import { everyTarget } from "./devices.ts";

type Variant = typeof matmul.variants[number];

interface Size {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements between rows. */
  readonly gap: number;
}

/** Sums are made in float for the narrow floats. */
const sumRounding = (dtype: Variant): number =>
  dtype === "int8" ? 0 : ROUNDING[dtype === "float64" ? "float64" : "float32"] ?? 0;

function check(device: Device, dtype: Variant, { m, n, k, gap }: Size, isAligned: boolean): void {
  const [x, y] = [numbers(dtype, m * k), numbers(dtype, k * n)];
  using a = matrixOf(device, dtype, scalars(dtype, x), [m, k], gap);
  using b = matrixOf(device, dtype, scalars(dtype, y), [k, n], gap);
  const { result, profile } = matmul(a, b, { profile: true });
  using c = result;
  assertEquals(profile.kernel, `matmul_${dtype}${isAligned ? "_a16" : ""}`);
  if (isAligned) assertEquals(profile.shared.bankConflicts, 0, profile.kernel);
  const z = numbersOf(c);
  const final = dtype === "int8" ? 0 : ROUNDING[dtype] ?? 0;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let [sum, magnitude] = [0, 0];
      for (let q = 0; q < k; q++) {
        const product = (x[i * k + q] ?? NaN) * (y[q * n + j] ?? NaN);
        sum += product;
        magnitude += Math.abs(product);
      }
      const bound = (k + 1) * sumRounding(dtype) * magnitude + final * Math.abs(sum);
      assert(
        Math.abs((z[i * n + j] ?? NaN) - sum) <= bound,
        `${dtype} ${m} x ${n} x ${k} [${i}, ${j}]: ${z[i * n + j]} instead of ${sum}`,
      );
    }
  }
}

/** Of the whole range of int8, around 1 otherwise. */
function numbers(dtype: Variant, count: number): number[] {
  if (dtype !== "int8") return randomNumbers(dtype, count, 1);
  return Array.from({ length: count }, () => Math.floor(Math.random() * 256) - 128);
}
const scalars = (dtype: Variant, values: readonly number[]): (number | bigint)[] =>
  dtype === "int8" ? values.map(BigInt) : [...values];

everyTarget("matmul() multiplies matrices of odd sizes, on {}", (device) => {
  for (const dtype of matmul.variants) check(device, dtype, { m: 67, n: 35, k: 51, gap: 1 }, false);
});

everyTarget("matmul() multiplies one row and one column, on {}", (device) => {
  for (const dtype of matmul.variants) check(device, dtype, { m: 1, n: 1, k: 1, gap: 2 }, false);
});

everyTarget("matmul() multiplies aligned matrices without bank conflicts, on {}", (device) => {
  for (const dtype of matmul.variants) check(device, dtype, { m: 80, n: 144, k: 96, gap: 0 }, true);
});
