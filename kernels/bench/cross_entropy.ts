/** Cross-entropy of rows of several lengths, 2^26 elements in all. */
import { benchmark } from "@tri/tri/bench";
import { crossEntropy } from "../../generated/cross_entropy.ts";
import { normal } from "./inputs.ts";

const ELEMENTS = 2 ** 26;

export default benchmark({
  name: "cross_entropy_float32",
  title: "Cross-entropy of 2^26 elements, float32",
  x: { names: ["classes"], values: [256, 512, 1024, 2048, 4096, 8192, 16384] },
  // Read once; what is written is small beside that.
  measure: { unit: "GB/s", bytes: () => 4 * ELEMENTS },
  inputs: ({ device, x: classes, keep }) => {
    const rows = ELEMENTS / classes;
    const labels = BigInt64Array.from({ length: rows }, (_, row) => BigInt(row * 7919 % classes));
    return {
      x: keep(normal(device, "float32", [rows, classes])),
      label: keep(device.tensor(labels, [rows])),
      out: {
        loss: keep(device.empty("float32", [rows])),
        lse: keep(device.empty("float32", [rows])),
      },
    };
  },
  lines: {
    ours: { label: "tri", prepare: ({ x, label, out }) => crossEntropy.prepare(x, label, { out }) },
  },
});
