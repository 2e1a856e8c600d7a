/** Gradients of convolutions of 32 pictures of 56 x 56 pixels, channels last, with as many filters of 3 x 3 as channels. */
import { benchmark } from "@tri/tri/bench";
import { addParts } from "../../generated/add_parts.ts";
import { conv2dBackwardData, conv2dBackwardWeights } from "../../generated/conv2d_backward.ts";
import { normal } from "./inputs.ts";

const [PICTURES, SIDE, SPLITS] = [32, 56, 16];
const STEPS = { strideH: 1, strideW: 1, padH: 1, padW: 1, dilationH: 1, dilationW: 1, groups: 1 };
const X = { names: ["C", "K"], values: [32, 64, 128, 256] };
const MEASURE = {
  unit: "TFLOP/s",
  flops: (c: number) => 2 * PICTURES * SIDE * SIDE * 9 * c * c,
} as const;

const data = benchmark({
  name: "conv2d_backward_data_float16",
  title: "Gradient of a convolution 3 x 3 by 32 x 56 x 56 pixels, float16",
  x: X,
  measure: MEASURE,
  inputs: ({ device, x: c, keep }) => ({
    dy: keep(normal(device, "float16", [PICTURES, SIDE, SIDE, c])),
    f: keep(normal(device, "float16", [c, 3, 3, c])),
    out: keep(device.empty("float16", [PICTURES, SIDE, SIDE, c])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ dy, f, out }) => conv2dBackwardData.prepare(dy, f, { ...STEPS, out }),
    },
  },
});

const weights = benchmark({
  name: "conv2d_backward_weights_float16",
  title: "Gradient of a convolution of 32 x 56 x 56 pixels by its filters 3 x 3, float16",
  x: X,
  measure: MEASURE,
  inputs: ({ device, x: c, keep }) => ({
    dy: keep(normal(device, "float16", [PICTURES, SIDE, SIDE, c])),
    x: keep(normal(device, "float16", [PICTURES, SIDE, SIDE, c])),
    parts: keep(device.empty("float32", [SPLITS, c, 9 * c])),
    out: keep(device.empty("float16", [c, 9 * c])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ dy, x, parts, out }) => {
        const options = { ...STEPS, r: 3, s: 3, splits: SPLITS, out: parts };
        const first = conv2dBackwardWeights.prepare(dy, x, options);
        const second = addParts.prepare(parts, { out });
        return (): void => {
          first();
          second();
        };
      },
    },
  },
});

export default [data, weights];
