/** Softmax of rows of several lengths, 2^26 elements in all. */
import { benchmark } from "@tri/tri/bench";
import { softmax } from "../../generated/softmax.ts";
import { normal } from "./inputs.ts";

const ELEMENTS = 2 ** 26;

export default benchmark({
  name: "softmax_float32",
  title: "Softmax of 2^26 elements, float32",
  x: { names: ["columns"], values: [256, 512, 1024, 2048, 4096, 8192, 16384] },
  // Read once, written once: a row that is too long for one tile is read twice, from the L2 cache at best.
  measure: { unit: "GB/s", bytes: () => 2 * 4 * ELEMENTS },
  inputs: ({ device, x: columns, keep }) => ({
    x: keep(normal(device, "float32", [ELEMENTS / columns, columns])),
    out: keep(device.empty("float32", [ELEMENTS / columns, columns])),
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, out }) => softmax.prepare(x, { out }) },
  },
});
