/** The kernels that models need beside products and normalisations, on a GPU. */
import { Device } from "@tri/tri/ffi";
import { cumulativeSum } from "../../generated/cumulative_sum.ts";
import { gpuTest } from "../support/gpu.ts";
import type { ModelFloat } from "../support/models/compare.ts";
import { checkGated } from "../support/models/gated.ts";
import { checkQuantize } from "../support/models/quantize.ts";
import { checkRotary } from "../support/models/rotary.ts";
import {
  checkAddRmsNorm,
  checkCumulativeSum,
  checkSample,
  checkSampledShares,
  checkSortRows,
  checkTopk,
} from "../support/models/rows.ts";
import { checkAdamw, checkEmbedding } from "../support/models/training.ts";

const FLOATS: readonly ModelFloat[] = ["float32", "float16", "bfloat16"];

for (const dtype of FLOATS) {
  gpuTest(`swiglu(), geglu() and rotary() are right for ${dtype}`, () => {
    using device = Device.open();
    for (const shape of [[3, 67], [30, 2056]] as const) checkGated(device, dtype, shape);
    for (const shape of [[5, 3, 20], [67, 8, 64]] as const) checkRotary(device, dtype, shape);
  });

  gpuTest(`adamw() and embedding() are right for ${dtype}`, () => {
    using device = Device.open();
    for (const length of [1, 2051, 1 << 18]) checkAdamw(device, dtype, length);
    for (const shape of [[1, 3, 4], [211, 1030, 300]] as const) {
      checkEmbedding(device, dtype, shape);
    }
  });

  gpuTest(`quantizeRows() and quantizeBlocks() invert for ${dtype}`, () => {
    using device = Device.open();
    for (const small of ["int8", "float8e4"] as const) {
      for (const shape of [[3, 131], [17, 8208]] as const) {
        checkQuantize(device, dtype, small, shape);
      }
    }
  });

  gpuTest(`addRmsNorm() is right for ${dtype}`, () => {
    using device = Device.open();
    for (const shape of [[3, 67], [66, 1000], [5, 4096], [3, 16384], [2, 40001]] as const) {
      checkAddRmsNorm(device, dtype, shape);
    }
  });

  gpuTest(`sortRows() and topk() are right for ${dtype}`, () => {
    using device = Device.open();
    for (const shape of [[3, 1], [11, 200], [2, 4096]] as const) {
      checkSortRows(device, dtype, shape);
    }
    checkTopk(device, dtype, [67, 5], 5);
    checkTopk(device, dtype, [3, 12003], 64);
  });

  gpuTest(`sample() draws ${dtype} elements of the most probable`, () => {
    using device = Device.open();
    for (const shape of [[3, 7], [33, 32003]] as const) checkSample(device, dtype, shape);
  });
}

for (const dtype of cumulativeSum.variants) {
  gpuTest(`cumulativeSum() adds ${dtype} elements along rows`, () => {
    using device = Device.open();
    for (const shape of [[3, 7], [131, 4101]] as const) checkCumulativeSum(device, dtype, shape);
  });
}

gpuTest("sample() draws with the probabilities of a softmax", () => {
  using device = Device.open();
  checkSampledShares(device, 8192);
});
