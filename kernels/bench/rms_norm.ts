/** RMS normalisation of rows of several lengths, 2^26 elements in all. */
import { benchmark } from "@tri/tri/bench";
import { rmsNorm } from "../../generated/rms_norm.ts";
import { normal } from "./inputs.ts";

const ELEMENTS = 2 ** 26;

export default benchmark({
  name: "rms_norm_float32",
  title: "RMS normalisation of 2^26 elements, float32",
  x: { names: ["columns"], values: [256, 512, 1024, 2048, 4096, 8192, 16384] },
  // Read once, written once; weights and roots are small beside that.
  measure: { unit: "GB/s", bytes: () => 2 * 4 * ELEMENTS },
  inputs: ({ device, x: columns, keep }) => ({
    x: keep(normal(device, "float32", [ELEMENTS / columns, columns])),
    w: keep(normal(device, "float32", [columns])),
    out: {
      y: keep(device.empty("float32", [ELEMENTS / columns, columns])),
      rstd: keep(device.empty("float32", [ELEMENTS / columns])),
    },
  }),
  lines: {
    ours: { label: "tri", prepare: ({ x, w, out }) => rmsNorm.prepare(x, w, { eps: 1e-5, out }) },
  },
});
