/** The shipped convolution on the emulator: every image, variant and instance, through the wrapper. */
import { conv2d } from "../../generated/conv2d.ts";
import { assertEquals } from "../support/assert.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import { checkConvolution, type Convolution, SMALL } from "../support/kernels/convolutions.ts";
import { everyVariant } from "./devices.ts";

const FEW: readonly Convolution[] = [
  ...SMALL.few,
  { x: [1, 5, 6, 1], f: [24, 3, 3], pad: [1, 1] },
];
const ALIGNED: readonly Convolution[] = [
  ...SMALL.aligned,
  { x: [1, 9, 4, 16], f: [72, 2, 3], dilation: [3, 1], pad: [0, 3] },
];

everyVariant(
  "conv2d() convolves pictures of any size, on {}",
  "conv2d",
  conv2d.variants,
  (device, dtype) => {
    for (const convolution of SMALL.odd) {
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

everyVariant(
  "conv2d() takes whole vectors of channels in groups, on {}",
  "conv2d",
  conv2d.variants,
  (device, dtype) => {
    for (const convolution of SMALL.grouped) {
      const isWhole = convolution.x[3] / convolution.groups % 64 === 0;
      const entry = checkConvolution(device, dtype, convolution, true);
      assertInstance(entry, `conv2d_${dtype}_s${isWhole ? 3 : 4}`);
    }
  },
);
