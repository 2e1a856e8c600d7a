/** Attention of 32 heads of 128 numbers, 16384 queries of each in all, with a bias of its own for each head. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { attentionBias } from "../../generated/attention_bias.ts";
import { normal } from "./inputs.ts";

const [HEADS, WIDTH, QUERIES] = [32, 128, 16384];

const biased: Benchmark = benchmark({
  name: "attention_bias_float16",
  title: "Attention with a bias, float16",
  x: { names: ["M", "N"], values: [512, 1024, 2048, 4096] },
  measure: { unit: "TFLOP/s", flops: (n) => 4 * HEADS * WIDTH * QUERIES * n },
  inputs: ({ device, x: n, keep }) => {
    const shape = [QUERIES / n, HEADS, n, WIDTH] as const;
    return {
      q: keep(normal(device, "float16", shape)),
      k: keep(normal(device, "float16", shape)),
      v: keep(normal(device, "float16", shape)),
      bias: keep(normal(device, "float16", [1, HEADS, n, n])),
      out: {
        o: keep(device.empty("float16", shape)),
        lse: keep(device.empty("float32", [QUERIES / n, HEADS, n])),
      },
    };
  },
  lines: {
    ours: {
      label: "tri",
      prepare: ({ q, k, v, bias, out }) =>
        attentionBias.prepare(q, k, v, bias, { scale: 1 / Math.sqrt(WIDTH), causal: false, out }),
    },
  },
});

export default [biased];
