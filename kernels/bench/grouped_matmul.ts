/** Rows in 64 groups of N, times a matrix of 4096 x 1536 for each group. */
import { benchmark } from "@tri/tri/bench";
import { groupedMatmul } from "../../generated/grouped_matmul.ts";
import { normal } from "./inputs.ts";

const [GROUPS, K, COLUMNS] = [64, 4096, 1536];

export default benchmark({
  name: "grouped_matmul_float16",
  title: "Products of 64 groups of N rows, float16",
  x: { names: ["N"], values: [16, 64, 128, 256, 1024] },
  measure: { unit: "TFLOP/s", flops: (n) => 2 * GROUPS * n * K * COLUMNS },
  inputs: ({ device, x: n, keep }) => ({
    a: keep(normal(device, "float16", [GROUPS * n, K])),
    w: keep(normal(device, "float16", [GROUPS, K, COLUMNS])),
    offsets: keep(
      device.tensor(Int32Array.from({ length: GROUPS + 1 }, (_, i) => i * n), [GROUPS + 1]),
    ),
    out: keep(device.empty("float16", [GROUPS * n, COLUMNS])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ a, w, offsets, out }) =>
        groupedMatmul.prepare(a, w, offsets, { variant: "float16", out }),
    },
  },
});
