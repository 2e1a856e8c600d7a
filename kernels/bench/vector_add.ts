/** Sums of two vectors. */
import { benchmark } from "@tri/tri/bench";
import { vectorAdd } from "../../generated/vector_add.ts";
import { normal } from "./inputs.ts";

export default benchmark({
  name: "vector_add_float32",
  title: "Sum of two vectors, float32",
  x: { names: ["N"], values: [18, 20, 22, 24, 26, 28].map((log2) => 2 ** log2) },
  measure: { unit: "GB/s", bytes: (n) => 3 * 4 * n },
  inputs: ({ device, x: n, keep }) => ({
    x: keep(normal(device, "float32", [n])),
    y: keep(normal(device, "float32", [n])),
    out: keep(device.empty("float32", [n])),
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, y, out }) => vectorAdd.prepare(x, y, { out }) },
  },
});
