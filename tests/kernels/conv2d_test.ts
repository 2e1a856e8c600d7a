/** The shipped convolution on the emulator: every image, variant and instance, through the wrapper. */
import { conv2d } from "../../generated/conv2d.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
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

Deno.test("conv2d() names the argument by which sizes would be divided, and which is 0", () => {
  using device = Device.open({ device: "emulator" });
  const [x, f] = [device.zeros("float16", [1, 4, 4, 8]), device.zeros("float16", [8, 3, 3, 8])];
  const steps = { strideH: 1, strideW: 1, padH: 0, padW: 0, dilationH: 1, dilationW: 1, groups: 1 };
  for (
    const [wrong, expected] of [
      [{ groups: 0 }, "groups must divide channels and filters, got C = 8, K = 8, groups = 0"],
      [{ strideH: 0 }, "strides must be at least 1, got stride_h = 0, stride_w = 1"],
    ] as const
  ) assertThrows(() => conv2d(x, f, { ...steps, ...wrong }), ArgumentError, expected);
});
