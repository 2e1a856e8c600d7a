/** Sums of all elements of a vector. */
import { benchmark } from "@tri/tri/bench";
import { reduceSum } from "../../generated/reduce_sum.ts";
import { normal } from "./inputs.ts";

export default benchmark({
  name: "reduce_sum_float32",
  title: "Sum of a vector's elements, float32",
  x: { names: ["N"], values: [18, 20, 22, 24, 26, 28].map((log2) => 2 ** log2) },
  measure: { unit: "GB/s", bytes: (n) => 4 * n },
  inputs: ({ device, x: n, keep }) => ({
    x: keep(normal(device, "float32", [n])),
    y: keep(device.zeros("float32", [1])),
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, y }) => reduceSum.prepare(x, y) },
  },
});
