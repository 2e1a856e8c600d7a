/** The shipped attention on a GPU, against double precision: several blocks of K and V, tails, gaps. */
import { Device } from "@tri/tri/ffi";
import { checkAttention } from "../support/kernels/attention.ts";
import { gpuTest } from "../support/gpu.ts";

const SIZES = [[1, 1], [131, 517], [257, 64]] as const;

for (const dtype of ["float16", "bfloat16", "float32"] as const) {
  for (const d of [64, 128]) {
    for (const causal of [false, true]) {
      const how = causal ? "shows rows only what is before them" : "weighs values by their scores";
      gpuTest(`attention() ${how}, ${dtype}, ${d} elements a row`, () => {
        using device = Device.open();
        for (const [m, n] of SIZES) {
          checkAttention(device, dtype, { batches: 2, heads: 1, m, n, d }, causal);
        }
        checkAttention(
          device,
          dtype,
          { batches: 2, heads: 6, keyHeads: 2, m: 131, n: 200, d },
          causal,
        );
      });
    }
  }
}
