/** Transpositions of square matrices, beside a copy of the same bytes: what memory allows. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { copy } from "../../generated/copy.ts";
import { transpose } from "../../generated/transpose.ts";
import { type FloatDType, normal } from "./inputs.ts";

function transposition(dtype: FloatDType, bytes: number): Benchmark {
  return benchmark({
    name: `transpose_${dtype}`,
    title: `Transposition, ${dtype}`,
    x: { names: ["M", "N"], values: [1024, 2048, 4096, 8192, 16384] },
    measure: { unit: "GB/s", bytes: (n) => 2 * bytes * n * n },
    inputs: ({ device, x: n, keep }) => ({
      x: keep(normal(device, dtype, [n, n])),
      out: keep(device.empty(dtype, [n, n])),
    }),
    lines: {
      ours: { label: "tri", prepare: ({ x, out }) => transpose.prepare(x, { out }) },
      copy: { label: "copy (tri)", prepare: ({ x, out }) => copy.prepare(x, { out }) },
    },
  });
}

export default [transposition("float32", 4), transposition("float16", 2)];
