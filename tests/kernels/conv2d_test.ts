/** The shipped convolution on the emulator: every image, variant and instance, through the wrapper. */
import { conv2d } from "../../generated/conv2d.ts";
import { assertEquals } from "../support/assert.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import { checkConvolution, type Convolution } from "../support/kernels/convolutions.ts";
import { everyVariant } from "./devices.ts";

const ODD: readonly Convolution[] = [
  { x: [2, 9, 7, 3], f: [5, 3, 2], stride: [2, 1], pad: [1, 2], dilation: [1, 2], gap: 1 },
  { x: [1, 5, 6, 11], f: [3, 3, 3], pad: [1, 1], channelsFirst: true },
  { x: [1, 1, 1, 1], f: [1, 1, 1] },
];
/** Few channels, filters without gaps, and results of whole vectors. */
const FEW: readonly Convolution[] = [
  { x: [2, 9, 7, 3], f: [8, 3, 2], stride: [2, 1], pad: [1, 2], dilation: [1, 2] },
  { x: [1, 5, 6, 1], f: [24, 3, 3], pad: [1, 1] },
];
const ALIGNED: readonly Convolution[] = [
  { x: [2, 6, 7, 40], f: [24, 3, 3], stride: [1, 2], pad: [1, 1], gap: 8 },
  { x: [1, 9, 4, 16], f: [72, 2, 3], dilation: [3, 1], pad: [0, 3] },
];

everyVariant(
  "conv2d() convolves pictures of any size, on {}",
  "conv2d",
  conv2d.variants,
  (device, dtype) => {
    for (const convolution of ODD) {
      assertEquals(checkConvolution(device, dtype, convolution, true), `conv2d_${dtype}`);
    }
    for (const convolution of FEW) {
      assertInstance(checkConvolution(device, dtype, convolution, true), `conv2d_${dtype}_s2`);
    }
  },
);

everyVariant(
  "conv2d() takes whole vectors of aligned channels, on {}",
  "conv2d",
  conv2d.variants,
  (device, dtype) => {
    for (const convolution of ALIGNED) {
      assertInstance(checkConvolution(device, dtype, convolution, true), `conv2d_${dtype}_s1`);
    }
  },
);
