/** Causal attention of 32 heads of 128 numbers over sequences of N / 4 to N rows, 16384 rows in all. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { attentionVarlen } from "../../generated/attention_varlen.ts";
import { normal } from "./inputs.ts";

const [HEADS, WIDTH, ROWS] = [32, 128, 16384];

/** Where sequences of a quarter to the whole of the longest one begin, and the end of the last one. */
function offsetsOf(longest: number): number[] {
  const offsets = [0];
  for (let end = 0, i = 1; end < ROWS; i++) {
    end = Math.min(ROWS, end + longest * (1 + i % 4) / 4);
    offsets.push(end);
  }
  return offsets;
}

/** Pairs of a query and a key that it sees, if it saw all keys of its sequence. */
const pairsOf = (offsets: readonly number[]): number =>
  offsets.reduce((sum, end, i) => sum + (end - (offsets[i - 1] ?? 0)) ** 2, 0);

const varlen: Benchmark = benchmark({
  name: "attention_varlen_causal_float16",
  title: "Causal attention of sequences of several lengths, float16",
  x: { names: ["N"], values: [512, 1024, 2048, 4096] },
  measure: { unit: "TFLOP/s", flops: (n) => 2 * HEADS * WIDTH * pairsOf(offsetsOf(n)) },
  inputs: ({ device, x: n, keep }) => {
    const shape = [ROWS, HEADS, WIDTH] as const;
    const offsets = new Int32Array(offsetsOf(n));
    return {
      q: keep(normal(device, "float16", shape)),
      k: keep(normal(device, "float16", shape)),
      v: keep(normal(device, "float16", shape)),
      offsets: keep(device.tensor(offsets, [offsets.length])),
      longest: n,
      out: {
        o: keep(device.empty("float16", shape)),
        lse: keep(device.empty("float32", [HEADS, ROWS])),
      },
    };
  },
  lines: {
    ours: {
      label: "tri",
      prepare: ({ q, k, v, offsets, longest, out }) =>
        attentionVarlen.prepare(q, k, v, offsets, offsets, {
          longest,
          scale: 1 / Math.sqrt(WIDTH),
          causal: true,
          window: 0,
          out,
        }),
    },
  },
});

export default [varlen];
