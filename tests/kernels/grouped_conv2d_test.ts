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
  { x: [2, 7, 6, 72], f: [72, 3, 3], stride: [1, 2], pad: [1, 1], groups: 72, splits: 3 },
  { x: [1, 9, 4, 16], f: [16, 2, 5], dilation: [3, 1], pad: [2, 3], gap: 8, groups: 16 },
  { x: [3, 1, 1, 8], f: [8, 1, 1], groups: 8, splits: 2 },
];
/** The same with filters as wide as an instance is for, that move by one pixel; with lines that strips divide, and others. */
const WIDE: readonly (readonly [instance: string, convolution: Convolution])[] = [
  ["s1", { x: [2, 7, 9, 72], f: [72, 3, 3], pad: [1, 1], groups: 72, splits: 3 }],
  ["s1", { x: [1, 5, 8, 8], f: [8, 3, 3], dilation: [2, 1], pad: [2, 1], gap: 8, groups: 8 }],
  ["s2", { x: [1, 6, 10, 16], f: [16, 5, 5], pad: [2, 3], groups: 16, splits: 2 }],
  ["s3", { x: [2, 8, 7, 8], f: [8, 7, 7], pad: [3, 3], gap: 8, groups: 8, splits: 2 }],
];

/** Groups of so many bytes. */
const ofBytes = (dtype: keyof typeof BYTES, bytes: number): readonly Convolution[] => {
  const each = bytes / BYTES[dtype];
  const [few, many] = [16, 72].map((channels) => ({ channels, groups: channels / each }));
  if (few === undefined || many === undefined) return [];
  return [
    {
      x: [2, 7, 9, many.channels],
      f: [many.channels, 3, 3],
      pad: [1, 1],
      groups: many.groups,
      splits: 2,
    },
    {
      x: [1, 6, 5, few.channels],
      f: [few.channels, 2, 3],
      stride: [2, 3],
      dilation: [1, 2],
      pad: [0, 2],
      gap: 8,
      groups: few.groups,
    },
  ];
};
const BYTES = { float16: 2, bfloat16: 2, float32: 4 } as const;

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
      assertInstance(check(device, dtype, convolution, true), `${kernel}_${dtype}_s7`);
    }
  });

  everyVariant(
    `${kernel}() takes whole vectors of channels by themselves, on {}`,
    file,
    variants,
    (device, dtype) => {
      for (const convolution of DEPTHWISE) {
        assertInstance(check(device, dtype, convolution, true), `${kernel}_${dtype}_s4`);
      }
    },
  );

  everyVariant(
    `${kernel}() takes channels by themselves under filters of known widths, on {}`,
    file,
    variants,
    (device, dtype) => {
      for (const [instance, convolution] of WIDE) {
        assertInstance(
          check(device, dtype, convolution, true),
          `${kernel}_${dtype}_${instance}`,
        );
      }
    },
  );

  everyVariant(
    `${kernel}() takes groups of 8 and 16 bytes, on {}`,
    file,
    variants,
    (device, dtype) => {
      for (const [bytes, instance] of [[8, "s5"], [16, "s6"]] as const) {
        for (const convolution of ofBytes(dtype, bytes)) {
          assertInstance(
            check(device, dtype, convolution, true),
            `${kernel}_${dtype}_${instance}`,
          );
        }
      }
    },
  );
}
