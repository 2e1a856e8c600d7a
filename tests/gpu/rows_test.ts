/**
 * The shipped kernels on rows and vectors on a GPU, against formulas in double precision. `TRI_QUICK=1` leaves out most
 * rows, and of vectors the long ones (for runs under a sanitizer).
 */
import { Device } from "@tri/tri/ffi";
import { gpuTest } from "../support/gpu.ts";
import {
  checkCrossEntropy,
  checkNormDerivatives,
  checkNorms,
  checkSoftmax,
  FLOATS,
  type Size,
} from "../support/kernels/rows.ts";
import {
  checkDropout,
  checkReduceSum,
  checkReduceSumBits,
  checkSumRows,
  SUMS,
} from "../support/kernels/reductions.ts";

const QUICK = Deno.env.get("TRI_QUICK") === "1";

const ALL_SIZES: readonly Size[] = [
  [1, 1, 0],
  [67, 200, 0],
  [9, 512, 0],
  [67, 401, 0],
  [131, 781, 3],
  [130, 1024, 0],
  [7, 2000, 0],
  [7, 2003, 0],
  [19, 4000, 8],
  [5, 4097, 0],
  [3, 8000, 8],
  [3, 16383, 0],
  [3, 16384, 0],
  [3, 16385, 0],
  [3, 32000, 0],
  [2, 33001, 0],
  [2, 40000, 8],
];
const SIZES = ALL_SIZES.map(([rows, columns, gap]): Size => [
  QUICK ? Math.min(rows, Math.ceil(8192 / columns)) : rows,
  columns,
  gap,
]);
const LENGTHS = [1, 4097, 100_003, 1 << 20].filter((length) => !QUICK || length < 1e5);

for (const dtype of FLOATS) {
  gpuTest(`softmax() and its derivative are right for ${dtype} rows of any length`, () => {
    using device = Device.open();
    for (const size of SIZES) checkSoftmax(device, dtype, size);
  });

  gpuTest(`layerNorm() and rmsNorm() are right for ${dtype} rows of any length`, () => {
    using device = Device.open();
    for (const size of SIZES) checkNorms(device, dtype, size);
  });

  gpuTest(`derivatives of layerNorm() and rmsNorm() are right for ${dtype} rows`, () => {
    using device = Device.open();
    for (const [i, size] of SIZES.entries()) {
      checkNormDerivatives(device, dtype, size, 1 + 3 * (i % 3));
    }
  });

  gpuTest(`crossEntropy() and its derivative are right for ${dtype} rows of any length`, () => {
    using device = Device.open();
    for (const size of SIZES) checkCrossEntropy(device, dtype, size);
    // As many long rows as there is an instance for.
    if (dtype === "float32" && !QUICK) checkCrossEntropy(device, dtype, [512, 16388, 0]);
  });

  gpuTest(`dropout() drops ${dtype} elements by seed`, () => {
    using device = Device.open();
    for (const length of [5003, 65536]) checkDropout(device, dtype, length);
  });
}

// As many rows as take several turns of all clusters.
gpuTest("softmax(), layerNorm() and rmsNorm() are right for many long rows", () => {
  using device = Device.open();
  if (QUICK) return;
  // Clusters of 2, 4, 8 and 16 blocks.
  for (const size of [[134, 32765, 0], [62, 65532, 4], [34, 131068, 4], [18, 262140, 0]] as const) {
    checkNorms(device, "float32", size);
  }
  for (const size of [[134, 25001, 0], [62, 65533, 1], [34, 98305, 3], [34, 131067, 0]] as const) {
    checkSoftmax(device, "float32", size);
  }
});

for (const dtype of SUMS) {
  gpuTest(`reduceSum() and sumRows() add ${dtype} elements`, () => {
    using device = Device.open();
    for (const length of LENGTHS) checkReduceSum(device, dtype, length);
    if (dtype === "float32") checkReduceSumBits(device, 4_000_001, 500);
    for (const size of [[1, 1], [300, 65], [65, 257]] as const) checkSumRows(device, dtype, size);
  });
}
