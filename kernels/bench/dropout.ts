/** Dropout of vectors, which draws a random number for each element. */
import { benchmark } from "@tri/tri/bench";
import { dropout } from "../../generated/dropout.ts";
import { normal } from "./inputs.ts";

export default benchmark({
  name: "dropout_float32",
  title: "Dropout, float32",
  x: { names: ["N"], values: [18, 20, 22, 24, 26, 28].map((log2) => 2 ** log2) },
  measure: { unit: "GB/s", bytes: (n) => 2 * 4 * n },
  inputs: ({ device, x: n, keep }) => ({
    x: keep(normal(device, "float32", [n])),
    out: keep(device.empty("float32", [n])),
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, out }) => dropout.prepare(x, { p: 0.5, seed: 1, out }) },
  },
});
