/** Products with few results of many terms: 256 x K times K x 256, in eight parts and by the plain product. */
import { benchmark } from "@tri/tri/bench";
import { matmul } from "../../generated/matmul.ts";
import { splitKMatmul } from "../../generated/split_k_matmul.ts";
import { normal } from "./inputs.ts";

const SIZE = 256;

export default benchmark({
  name: "split_k_matmul_float16",
  title: "Product of 256 x K and K x 256, float16",
  x: { names: ["K"], values: [1024, 4096, 16384, 65536] },
  measure: { unit: "TFLOP/s", flops: (k) => 2 * SIZE * SIZE * k },
  inputs: ({ device, x: k, keep }) => ({
    a: keep(normal(device, "float16", [SIZE, k])),
    b: keep(normal(device, "float16", [k, SIZE])),
    // Two locks for each tile of 64 x 64, the smallest that is shipped.
    locks: keep(device.zeros("int32", [2 * (SIZE / 64) ** 2])),
    out: keep(device.empty("float16", [SIZE, SIZE])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ a, b, locks, out }) =>
        splitKMatmul.prepare(a, b, locks, { splits: 8, ordered: false, out }),
    },
    whole: { label: "tri matmul", prepare: ({ a, b, out }) => matmul.prepare(a, b, { out }) },
  },
});
