/** The shipped attention of a few queries on a GPU, against double precision: long sequences in many parts, small pages. */
import { Device } from "@tri/tri/ffi";
import { checkDecode, type DecodeCase } from "../support/kernels/decode.ts";
import { gpuTest } from "../support/gpu.ts";

const CASES: Readonly<Record<string, Omit<DecodeCase, "dtype" | "d">>> = {
  "one piece": { heads: [4, 4], m: 1, lengths: [1777], size: 1777, splits: 7, causal: false },
  "long pages": { heads: [8, 2], m: 1, lengths: [513, 0, 64], size: 128, splits: 3, causal: true },
  "short pages": { heads: [8, 2], m: 8, lengths: [257, 5], size: 16, splits: 2, causal: true },
  "many rows": { heads: [16, 2], m: 5, lengths: [300], size: 64, splits: 4, causal: true },
};

for (const [name, size] of Object.entries(CASES)) {
  gpuTest(`decode() weighs values in pages: ${name}`, () => {
    using device = Device.open();
    for (const dtype of ["float16", "bfloat16"] as const) {
      for (const d of [64, 128]) checkDecode(device, { ...size, dtype, d });
    }
  });
}
