/** Transpositions of square matrices, beside a copy of the same bytes: no transposition can be faster. */
import { type Benchmark, benchmark } from "@tri/tri/bench";
import { copy } from "../../generated/copy.ts";
import { transpose } from "../../generated/transpose.ts";

const SIZES = [512, 1024, 2048, 4096, 8192, 16384];

function transposition(dtype: "float32" | "float16", bytes: number): Benchmark {
  return benchmark({
    name: `transpose_${dtype}`,
    title: `Transposition, ${dtype}`,
    x: { names: ["M", "N"], values: SIZES },
    measure: { unit: "GB/s", bytes: (n) => 2 * bytes * n * n },
    inputs: ({ device, x: n, keep }) => ({
      x: keep(device.zeros(dtype, [n, n])),
      out: keep(device.empty(dtype, [n, n])),
    }),
    lines: {
      ours: { label: "tri", prepare: ({ x, out }) => transpose.prepare(x, { out }) },
      copy: { label: "tri copy (bound)", prepare: ({ x, out }) => copy.prepare(x, { out }) },
    },
  });
}

export default [transposition("float32", 4), transposition("float16", 2)];
