/** A linear layer with bias, GELU and residual: N x 4096 times 4096 x 4096, beside the product alone. */
import { benchmark } from "@tri/tri/bench";
import { matmul } from "../../generated/matmul.ts";
import { matmulFused } from "../../generated/matmul_fused.ts";
import { normal } from "./inputs.ts";

const SIZE = 4096;
const GELU = 2;

export default benchmark({
  name: "matmul_fused_float16",
  title: "Product, bias, GELU and residual: N x 4096 times 4096 x 4096, float16",
  x: { names: ["N"], values: [128, 512, 2048, 4096, 8192] },
  measure: { unit: "TFLOP/s", flops: (n) => 2 * n * SIZE * SIZE },
  inputs: ({ device, x: n, keep }) => ({
    a: keep(normal(device, "float16", [n, SIZE])),
    b: keep(normal(device, "float16", [SIZE, SIZE])),
    bias: keep(normal(device, "float32", [SIZE])),
    residual: keep(normal(device, "float16", [n, SIZE])),
    out: keep(device.empty("float16", [n, SIZE])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ a, b, bias, residual, out }) =>
        matmulFused.prepare(a, b, {
          variant: "float16",
          bias,
          residual,
          activation: GELU,
          factor: 1,
          out,
        }),
    },
    plain: { label: "tri matmul alone", prepare: ({ a, b, out }) => matmul.prepare(a, b, { out }) },
  },
});
