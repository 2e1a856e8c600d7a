/** The shipped products and the convolution on a GPU: odd and aligned sizes, every storage, locks under load. */
import { Device } from "@tri/tri/ffi";
import { batchedMatmul } from "../../generated/batched_matmul.ts";
import { conv2d } from "../../generated/conv2d.ts";
import { groupedConv2d } from "../../generated/grouped_conv2d.ts";
import {
  groupedConv2dBackwardData,
  groupedConv2dBackwardWeights,
} from "../../generated/grouped_conv2d_backward.ts";
import { matmul } from "../../generated/matmul.ts";
import { matmulPlain } from "../../generated/matmul_plain.ts";
import { splitKMatmul } from "../../generated/split_k_matmul.ts";
import { checkBatch, checkSplit } from "../support/kernels/batches.ts";
import {
  checkConvolution,
  checkDataGradient,
  checkWeightsGradient,
  type Convolution,
  SMALL,
} from "../support/kernels/convolutions.ts";
import { gpuTest } from "../support/gpu.ts";
import { assertProductOf, operandOf } from "../support/kernels/products.ts";

gpuTest("matmul() multiplies matrices of any size and storage", () => {
  using device = Device.open();
  for (const dtype of matmul.variants) {
    for (const left of ["rows", "columns", "apart"] as const) {
      for (const right of ["rows", "columns"] as const) {
        for (const [m, n, k, gap] of [[131, 191, 77, 1], [144, 272, 208, 0]] as const) {
          using a = operandOf(device, dtype, [m, k], { storage: left, gap });
          using b = operandOf(device, dtype, [k, n], { storage: right, gap });
          using c = matmul(a.tensor, b.tensor);
          assertProductOf(c, a, b);
        }
      }
    }
  }
});

gpuTest("matmulPlain() multiplies matrices of any size", () => {
  using device = Device.open();
  for (const dtype of matmulPlain.variants) {
    for (const [m, n, k, gap] of [[257, 191, 301, 1], [272, 336, 208, 0], [1, 1, 1, 0]] as const) {
      using a = operandOf(device, dtype, [m, k], { gap });
      using b = operandOf(device, dtype, [k, n], { gap });
      using c = matmulPlain(a.tensor, b.tensor);
      assertProductOf(c, a, b);
    }
  }
});

gpuTest("batchedMatmul() multiplies batches of any size and storage", () => {
  using device = Device.open();
  for (const dtype of batchedMatmul.variants) {
    for (const storage of ["rows", "columns"] as const) {
      for (const isShared of [false, true]) {
        checkBatch(device, dtype, { z: 9, m: 67, n: 131, k: 77, gap: 1, storage, isShared }, false);
        checkBatch(device, dtype, { z: 7, m: 80, n: 144, k: 96, gap: 8, storage, isShared }, false);
      }
    }
  }
});

gpuTest("splitKMatmul() makes parts of a product, and addParts() adds them", () => {
  using device = Device.open();
  for (const dtype of splitKMatmul.variants) {
    for (const splits of [1, 7, 64]) {
      checkSplit(device, dtype, { m: 67, n: 133, k: 301, gap: 1, splits }, false);
      checkSplit(device, dtype, { m: 136, n: 72, k: 520, gap: 0, splits }, false);
    }
  }
});

/** Groups of few channels, each by itself, and others. */
const GROUPED: readonly Convolution[] = [
  ...SMALL.grouped,
  { x: [2, 19, 22, 72], f: [72, 3, 3], pad: [1, 1], groups: 72, splits: 3 },
  { x: [1, 17, 23, 40], f: [40, 5, 5], pad: [2, 3], gap: 8, groups: 40, splits: 2 },
  { x: [2, 13, 16, 136], f: [136, 7, 7], pad: [3, 3], groups: 136, splits: 5 },
  { x: [2, 15, 21, 72], f: [72, 3, 3], pad: [1, 1], groups: 36, splits: 4 },
  { x: [1, 16, 19, 136], f: [136, 3, 3], stride: [2, 1], pad: [1, 2], groups: 34, splits: 3 },
  { x: [2, 14, 18, 136], f: [136, 2, 3], stride: [1, 2], pad: [1, 1], groups: 17, splits: 7 },
];

gpuTest("conv2d() convolves pictures of any size, and its gradients are those of that", () => {
  using device = Device.open();
  for (const dtype of conv2d.variants) {
    for (const channels of [1, 3, 11, 16, 40, 72]) {
      for (const channelsFirst of [false, true]) {
        const convolution: Convolution = {
          x: [2, 19, 23, channels],
          f: [24, 3, 5],
          stride: [2, 1],
          pad: [1, 2],
          dilation: [1, 2],
          channelsFirst,
          splits: 5,
        };
        checkConvolution(device, dtype, convolution, false);
        // The references take long.
        if (![3, 40].includes(channels)) continue;
        checkDataGradient(device, dtype, convolution, false);
        checkWeightsGradient(device, dtype, convolution, false);
      }
    }
    const few: Convolution = { x: [2, 37, 67, 3], f: [72, 7, 7], stride: [2, 2], pad: [3, 3] };
    checkDataGradient(device, dtype, few, false);
    for (const convolution of GROUPED) {
      checkConvolution(device, dtype, convolution, false);
      checkDataGradient(device, dtype, convolution, false);
      checkWeightsGradient(device, dtype, convolution, false);
      checkConvolution(device, dtype, convolution, false, groupedConv2d);
      checkDataGradient(device, dtype, convolution, false, groupedConv2dBackwardData);
      checkWeightsGradient(device, dtype, convolution, false, groupedConv2dBackwardWeights);
    }
  }
});
