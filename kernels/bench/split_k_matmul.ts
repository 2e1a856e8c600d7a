/** Products with few results of many terms: 256 x K times K x 256, in eight parts and by the plain product. */
import { benchmark } from "@tri/tri/bench";
import { addParts } from "../../generated/add_parts.ts";
import { matmul } from "../../generated/matmul.ts";
import { splitKMatmul } from "../../generated/split_k_matmul.ts";
import { normal } from "./inputs.ts";

const [SIZE, SPLITS] = [256, 8];

export default benchmark({
  name: "split_k_matmul_float16",
  title: "Product of 256 x K and K x 256, float16",
  x: { names: ["K"], values: [1024, 4096, 16384, 65536] },
  measure: { unit: "TFLOP/s", flops: (k) => 2 * SIZE * SIZE * k },
  inputs: ({ device, x: k, keep }) => ({
    a: keep(normal(device, "float16", [SIZE, k])),
    b: keep(normal(device, "float16", [k, SIZE])),
    parts: keep(device.empty("float32", [SPLITS, SIZE, SIZE])),
    out: keep(device.empty("float16", [SIZE, SIZE])),
  }),
  lines: {
    ours: {
      label: "tri",
      prepare: ({ a, b, parts, out }) => {
        const multiply = splitKMatmul.prepare(a, b, { splits: SPLITS, out: parts });
        const add = addParts.prepare(parts, { out });
        return () => {
          multiply();
          add();
        };
      },
    },
    whole: { label: "tri matmul", prepare: ({ a, b, out }) => matmul.prepare(a, b, { out }) },
  },
});
