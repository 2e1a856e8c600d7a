/** The derivatives of attention of 32 heads of 128 numbers, 16384 queries in all; a causal one counts the half that it computes. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { attention } from "../../generated/attention.ts";
import {
  attentionBackwardKeys,
  attentionBackwardQueries,
  attentionBackwardRows,
} from "../../generated/attention_backward.ts";
import { normal } from "./inputs.ts";

const [HEADS, WIDTH, QUERIES] = [32, 128, 16384];

function backward(causal: boolean): Benchmark {
  return benchmark({
    name: causal ? "attention_backward_causal_float16" : "attention_backward_float16",
    title: `Derivatives of ${causal ? "causal " : ""}attention, float16`,
    x: { names: ["M", "N"], values: [512, 1024, 2048, 4096, 8192] },
    measure: {
      unit: "TFLOP/s",
      // Five products of the derivatives, however many the kernels compute.
      flops: (n) => 10 * HEADS * WIDTH * QUERIES * n / (causal ? 2 : 1),
    },
    inputs: ({ device, x: n, keep }) => {
      const shape = [QUERIES / n, HEADS, n, WIDTH] as const;
      const some = () => keep(normal(device, "float16", shape));
      const [q, k, v, dO] = [some(), some(), some(), some()];
      const forward = attention(q, k, v, { scale: 1 / Math.sqrt(WIDTH), causal, window: 0 });
      const [o, lse] = [keep(forward.o), keep(forward.lse)];
      const result = () => keep(device.empty("float16", shape));
      return {
        ...{ q, k, v, dO, o, lse },
        rows: keep(attentionBackwardRows(o, dO, lse)),
        dq: result(),
        out: { dk: result(), dv: result() },
      };
    },
    lines: {
      ours: {
        label: "tri",
        prepare: ({ q, k, v, dO, o, lse, rows, dq, out }) => {
          const options = { scale: 1 / Math.sqrt(WIDTH), causal };
          const inputs = [q, k, v, dO, rows] as const;
          const first = attentionBackwardRows.prepare(o, dO, lse, { out: rows });
          const second = attentionBackwardKeys.prepare(...inputs, { ...options, out });
          const third = attentionBackwardQueries.prepare(...inputs, { ...options, out: dq });
          return (): void => {
            first();
            second();
            third();
          };
        },
      },
    },
  });
}

export default [backward(false), backward(true)];
