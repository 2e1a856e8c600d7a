/** The kernels that models need beside products and normalisations, on the emulator. */
import { cumulativeSum } from "../../generated/cumulative_sum.ts";
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
import { halfOf } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";

const FLOATS: readonly ModelFloat[] = ["float32", "float16", "bfloat16"];

everyTarget("swiglu(), geglu() and their derivatives are right, on {}", ["gated"], (device) => {
  for (const dtype of halfOf(FLOATS, 4)) {
    for (const shape of [[3, 67], [2, 1032]] as const) checkGated(device, dtype, shape);
  }
});

everyTarget("rotary() turns pairs by their tokens' positions, on {}", ["rotary"], (device) => {
  for (const dtype of halfOf(FLOATS, 5)) {
    for (const shape of [[5, 3, 20], [7, 2, 64]] as const) checkRotary(device, dtype, shape);
  }
});

everyTarget("adamw() makes one step, on {}", ["adamw"], (device) => {
  for (const dtype of halfOf(FLOATS, 6)) {
    for (const length of [1, 2051]) checkAdamw(device, dtype, length);
  }
});

everyTarget("embedding() and its gradient find their rows, on {}", ["embedding"], (device) => {
  for (const dtype of halfOf(FLOATS, 7)) {
    for (const shape of [[1, 3, 4], [11, 1030, 23]] as const) checkEmbedding(device, dtype, shape);
  }
});

const QUANTIZE = ["quantize", "quantize_blocks"];
everyTarget("quantizeRows() and quantizeBlocks() invert, on {}", QUANTIZE, (device) => {
  for (const dtype of halfOf(FLOATS, 8)) {
    for (const small of ["int8", "float8e4"] as const) {
      for (const shape of [[3, 131], [2, 2320], [1, 8208]] as const) {
        checkQuantize(device, dtype, small, shape);
      }
    }
  }
});

everyTarget("cumulativeSum() adds along rows, on {}", ["cumulative_sum"], (device) => {
  for (const dtype of halfOf(cumulativeSum.variants, 13)) {
    for (const shape of [[3, 7], [2, 4101]] as const) checkCumulativeSum(device, dtype, shape);
  }
});

everyTarget("addRmsNorm() normalises the sum that it stores, on {}", ["add_rms_norm"], (device) => {
  for (const dtype of halfOf(FLOATS, 9)) {
    for (const shape of [[3, 67], [2, 1000], [1, 4096], [2, 5003], [1, 16400]] as const) {
      checkAddRmsNorm(device, dtype, shape);
    }
  }
});

everyTarget("sortRows() is stable in both directions, on {}", ["sort_rows"], (device) => {
  for (const dtype of halfOf(FLOATS, 10)) {
    for (const shape of [[3, 1], [2, 67], [1, 515]] as const) checkSortRows(device, dtype, shape);
  }
});

everyTarget("topk() finds the first of the largest, on {}", ["topk"], (device) => {
  for (const dtype of halfOf(FLOATS, 11)) {
    checkTopk(device, dtype, [3, 5], 5);
    checkTopk(device, dtype, [1, 8201], 64);
  }
});

everyTarget("sample() draws of the most probable elements, on {}", ["sample"], (device) => {
  for (const dtype of halfOf(FLOATS, 12)) {
    for (const shape of [[3, 7], [2, 2100]] as const) checkSample(device, dtype, shape);
  }
});

everyTarget("sample() draws with the probabilities of a softmax, on {}", ["sample"], (device) => {
  checkSampledShares(device, 150);
});
