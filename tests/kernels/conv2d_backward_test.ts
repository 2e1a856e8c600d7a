/** The gradients of the shipped convolution on the emulator: every image, variant and instance, through the wrappers. */
import { conv2dBackwardData, conv2dBackwardWeights } from "../../generated/conv2d_backward.ts";
import { assertEquals } from "../support/assert.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import {
  checkDataGradient,
  checkWeightsGradient,
  type Convolution,
  SMALL,
} from "../support/kernels/convolutions.ts";
import { everyVariant } from "./devices.ts";

const ODD: readonly Convolution[] = [
  ...SMALL.odd,
  // Rows and columns of pictures that no filter reaches.
  { x: [1, 6, 7, 2], f: [3, 1, 2], stride: [3, 2], dilation: [1, 2] },
];
const FEW: readonly Convolution[] = [
  ...SMALL.few,
  { x: [1, 5, 6, 2], f: [72, 5, 3], pad: [2, 1], splits: 3 },
];
const ALIGNED: readonly Convolution[] = [
  ...SMALL.aligned,
  { x: [1, 9, 5, 16], f: [72, 2, 3], stride: [2, 2], dilation: [3, 1], pad: [0, 3], splits: 3 },
  // Channels in whole lines, of which copies of windows bring pixels.
  { x: [2, 5, 6, 64], f: [24, 2, 3], stride: [2, 1], dilation: [1, 2], pad: [1, 2], splits: 2 },
  { x: [40, 1, 1, 128], f: [8, 3, 3], pad: [1, 1], gap: 8 },
];

/** Channels times strides that fit 16 columns, with results of whole vectors. */
const FEW_COLUMNS: readonly Convolution[] = [
  { x: [2, 15, 13, 3], f: [8, 7, 7], stride: [2, 2], pad: [3, 3] },
  { x: [1, 9, 12, 4], f: [72, 3, 4], stride: [2, 2], pad: [0, 1], gap: 8 },
  { x: [3, 7, 8, 1], f: [16, 2, 5], stride: [3, 3], pad: [4, 5] },
  { x: [1, 6, 11, 2], f: [24, 1, 1], stride: [3, 2] },
  { x: [2, 8, 5, 3], f: [136, 5, 3], stride: [1, 3], pad: [7, 1] },
  { x: [1, 5, 9, 4], f: [8, 3, 3], pad: [1, 1] },
  { x: [1, 10, 9, 1], f: [8, 2, 3], stride: [4, 4], pad: [1, 2] },
  // Several tiles of cells in both directions.
  { x: [2, 37, 67, 3], f: [8, 2, 3], stride: [2, 2], pad: [1, 1] },
];
/** The same, but for more columns or dilation. */
const MANY_COLUMNS: readonly Convolution[] = [
  ...SMALL.few,
  { x: [1, 7, 8, 5], f: [8, 3, 3], stride: [2, 2] },
];

for (
  const { kernel, variants, check } of [
    {
      kernel: "conv2d_backward_data",
      variants: conv2dBackwardData.variants,
      check: checkDataGradient,
    },
    {
      kernel: "conv2d_backward_weights",
      variants: conv2dBackwardWeights.variants,
      check: checkWeightsGradient,
    },
  ] as const
) {
  everyVariant(
    `${kernel} makes the gradient of any convolution, on {}`,
    "conv2d_backward",
    variants,
    (device, dtype) => {
      for (const convolution of ODD) {
        assertEquals(check(device, dtype, convolution, true), `${kernel}_${dtype}`);
      }
    },
  );

  everyVariant(
    `${kernel} takes whole vectors of aligned channels, on {}`,
    "conv2d_backward",
    variants,
    (device, dtype) => {
      for (const convolution of ALIGNED) {
        assertInstance(check(device, dtype, convolution, true), `${kernel}_${dtype}_s1`);
      }
    },
  );

  everyVariant(
    `${kernel} takes whole vectors of channels in groups, on {}`,
    "conv2d_backward",
    variants,
    (device, dtype) => {
      for (const convolution of SMALL.grouped) {
        const all = kernel === "conv2d_backward_data" ? convolution.f[0] : convolution.x[3];
        const isWhole = all / convolution.groups % 64 === 0;
        const entry = check(device, dtype, convolution, true);
        assertInstance(entry, `${kernel}_${dtype}_s${isWhole ? 3 : 4}`);
      }
    },
  );
}

everyVariant(
  "conv2d_backward_weights() takes whole vectors of results of few channels, on {}",
  "conv2d_backward",
  conv2dBackwardWeights.variants,
  (device, dtype) => {
    for (const convolution of FEW) {
      const entry = checkWeightsGradient(device, dtype, convolution, true);
      assertInstance(entry, `conv2d_backward_weights_${dtype}_s2`);
    }
  },
);

everyVariant(
  "conv2d_backward_data() has all phases of few channels as columns of one product, on {}",
  "conv2d_backward",
  conv2dBackwardData.variants,
  (device, dtype) => {
    for (const convolution of FEW_COLUMNS) {
      const entry = checkDataGradient(device, dtype, convolution, true);
      // Four floats are a vector of channels.
      const isVector = dtype === "float32" && convolution.x[3] === 4;
      assertInstance(entry, `conv2d_backward_data_${dtype}_s${isVector ? 1 : 2}`);
    }
    for (const convolution of MANY_COLUMNS) {
      const entry = checkDataGradient(device, dtype, convolution, true);
      assertEquals(entry, `conv2d_backward_data_${dtype}`);
    }
  },
);
