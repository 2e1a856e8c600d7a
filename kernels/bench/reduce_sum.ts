/** Sums of all elements of a vector, in a fixed order and in any. */
import { benchmark } from "@tri/tri/bench";
import { atomicSum, reduceSum } from "../../generated/reduce_sum.ts";
import { normal } from "./inputs.ts";

/** Four programs for each multiprocessor of an H100. */
const PARTS = 528;

export default benchmark({
  name: "reduce_sum_float32",
  title: "Sum of a vector's elements, float32",
  x: { names: ["N"], values: [18, 20, 22, 24, 26, 28].map((log2) => 2 ** log2) },
  measure: { unit: "GB/s", bytes: (n) => 4 * n },
  inputs: ({ device, x: n, keep }) => ({
    x: keep(normal(device, "float32", [n])),
    parts: keep(device.empty("float32", [PARTS])),
    y: keep(device.zeros("float32", [1])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ x, parts, y }) => {
        const passes = [
          reduceSum.prepare(x, { parts: PARTS, out: parts }),
          reduceSum.prepare(parts, { parts: 1, out: y }),
        ];
        return () => passes.forEach((pass) => pass());
      },
    },
    atomic: { label: "tri, any order", prepare: ({ x, y }) => atomicSum.prepare(x, y) },
  },
});
