/** Products of many square matrices, 2^24 elements a side in all. */
import { benchmark } from "@tri/tri/bench";
import { batchedMatmul } from "../../generated/batched_matmul.ts";
import { normal } from "./inputs.ts";

const ELEMENTS = 2 ** 24;

export default benchmark({
  name: "batched_matmul_float16",
  title: "Products of 2^24 / N^2 matrices, float16",
  x: { names: ["M", "N", "K"], values: [64, 128, 256, 512, 1024] },
  measure: { unit: "TFLOP/s", flops: (n) => 2 * ELEMENTS * n },
  inputs: ({ device, x: n, keep }) => {
    const shape = [ELEMENTS / n ** 2, n, n] as const;
    return {
      a: keep(normal(device, "float16", shape)),
      b: keep(normal(device, "float16", shape)),
      out: keep(device.empty("float16", shape)),
    };
  },
  lines: {
    ours: { label: "tri", prepare: ({ a, b, out }) => batchedMatmul.prepare(a, b, { out }) },
  },
});
