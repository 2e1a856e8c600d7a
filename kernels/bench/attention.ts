/** Attention of 32 heads of 128 numbers, 16384 queries of each in all; a causal one counts the half that it computes. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { attention } from "../../generated/attention.ts";
import { normal } from "./inputs.ts";

const [HEADS, WIDTH, QUERIES] = [32, 128, 16384];

function forward(causal: boolean): Benchmark {
  return benchmark({
    name: causal ? "attention_causal_float16" : "attention_float16",
    title: `${causal ? "Causal attention" : "Attention"}, float16`,
    x: { names: ["M", "N"], values: [512, 1024, 2048, 4096, 8192] },
    measure: {
      unit: "TFLOP/s",
      flops: (n) => 4 * HEADS * WIDTH * QUERIES * n / (causal ? 2 : 1),
    },
    inputs: ({ device, x: n, keep }) => {
      const shape = [QUERIES / n, HEADS, n, WIDTH] as const;
      return {
        q: keep(normal(device, "float16", shape)),
        k: keep(normal(device, "float16", shape)),
        v: keep(normal(device, "float16", shape)),
        out: {
          o: keep(device.empty("float16", shape)),
          lse: keep(device.empty("float32", [QUERIES / n, HEADS, n])),
        },
      };
    },
    lines: {
      ours: {
        label: "tri",
        prepare: ({ q, k, v, out }) =>
          attention.prepare(q, k, v, { scale: 1 / Math.sqrt(WIDTH), causal, window: 0, out }),
      },
    },
  });
}

export default [forward(false), forward(true)];
