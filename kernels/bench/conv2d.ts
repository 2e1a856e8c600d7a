/** Convolutions of 32 pictures of 56 x 56 pixels, channels last, with as many filters of 3 x 3 as there are channels. */
import { benchmark } from "@tri/tri/bench";
import { conv2d } from "../../generated/conv2d.ts";
import { normal } from "./inputs.ts";

const [PICTURES, SIDE] = [32, 56];

export default benchmark({
  name: "conv2d_float16",
  title: "Convolution 3 x 3 of 32 x 56 x 56 pixels, float16",
  x: { names: ["C", "K"], values: [32, 64, 128, 256] },
  measure: { unit: "TFLOP/s", flops: (c) => 2 * PICTURES * SIDE * SIDE * 9 * c * c },
  inputs: ({ device, x: c, keep }) => ({
    x: keep(normal(device, "float16", [PICTURES, SIDE, SIDE, c])),
    f: keep(normal(device, "float16", [c, 3, 3, c])),
    out: keep(device.empty("float16", [PICTURES, SIDE, SIDE, c])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ x, f, out }) =>
        conv2d.prepare(x, f, {
          ...{ strideH: 1, strideW: 1, padH: 1, padW: 1, dilationH: 1, dilationW: 1, groups: 1 },
          out,
        }),
    },
  },
});
