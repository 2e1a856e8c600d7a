/** Convolutions in groups of few channels and their gradients on the emulator: every image, variant and instance. */
import { groupedConv2d } from "../../generated/grouped_conv2d.ts";
import {
  groupedConv2dBackwardData,
  groupedConv2dBackwardWeights,
} from "../../generated/grouped_conv2d_backward.ts";
import { assertEquals } from "../support/assert.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import {
  checkConvolution,
  checkDataGradient,
  checkWeightsGradient,
  type Convolution,
  SMALL,
} from "../support/kernels/convolutions.ts";
import { everyVariant } from "./devices.ts";

/** Channels that are not neighbours. */
const ANY: readonly Convolution[] = [
  { x: [1, 4, 5, 5], f: [10, 2, 2], stride: [2, 1], groups: 5, channelsFirst: true, splits: 2 },
  { x: [2, 5, 3, 6], f: [6, 3, 2], pad: [1, 1], groups: 2, channelsFirst: true },
];
/** Neighbouring channels, in groups of several channels or filters, or not in whole vectors. */
const NEIGHBOURS: readonly Convolution[] = [
  ...SMALL.odd.filter(({ x, ...rest }) => !("channelsFirst" in rest) && x[3] !== 8),
  { x: [2, 7, 6, 72], f: [72, 3, 3], stride: [2, 1], pad: [1, 1], gap: 1, groups: 72, splits: 3 },
  { x: [1, 6, 5, 80], f: [160, 2, 3], dilation: [2, 1], pad: [0, 2], groups: 20, splits: 2 },
  // Rows and columns of pictures that no filter reaches.
  { x: [1, 6, 7, 5], f: [5, 1, 2], stride: [3, 2], dilation: [1, 2], groups: 5 },
];
/** Each channel by itself, in whole vectors. */
const DEPTHWISE: readonly Convolution[] = [
  { x: [2, 7, 6, 72], f: [72, 3, 3], stride: [2, 1], pad: [1, 1], groups: 72, splits: 3 },
  { x: [1, 9, 4, 16], f: [16, 2, 5], dilation: [3, 1], pad: [2, 3], gap: 8, groups: 16 },
  { x: [3, 1, 1, 8], f: [8, 1, 1], groups: 8, splits: 2 },
];

for (
  const { kernel, file, variants, check } of [
    {
      kernel: "grouped_conv2d",
      file: "grouped_conv2d",
      variants: groupedConv2d.variants,
      check: (...[device, dtype, convolution]: Parameters<typeof checkConvolution>) =>
        checkConvolution(device, dtype, convolution, true, groupedConv2d),
    },
    {
      kernel: "grouped_conv2d_backward_data",
      file: "grouped_conv2d_backward",
      variants: groupedConv2dBackwardData.variants,
      check: (...[device, dtype, convolution]: Parameters<typeof checkConvolution>) =>
        checkDataGradient(device, dtype, convolution, true, groupedConv2dBackwardData),
    },
    {
      kernel: "grouped_conv2d_backward_weights",
      file: "grouped_conv2d_backward",
      variants: groupedConv2dBackwardWeights.variants,
      check: (...[device, dtype, convolution]: Parameters<typeof checkConvolution>) =>
        checkWeightsGradient(device, dtype, convolution, true, groupedConv2dBackwardWeights),
    },
  ] as const
) {
  everyVariant(`${kernel}() takes groups of any size, on {}`, file, variants, (device, dtype) => {
    for (const convolution of ANY) {
      assertEquals(check(device, dtype, convolution, true), `${kernel}_${dtype}`);
    }
    for (const convolution of NEIGHBOURS) {
      assertInstance(check(device, dtype, convolution, true), `${kernel}_${dtype}_s2`);
    }
  });

  everyVariant(
    `${kernel}() takes whole vectors of channels by themselves, on {}`,
    file,
    variants,
    (device, dtype) => {
      for (const convolution of DEPTHWISE) {
        assertInstance(check(device, dtype, convolution, true), `${kernel}_${dtype}_s1`);
      }
    },
  );
}
