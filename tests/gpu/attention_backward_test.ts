/** The shipped derivatives of attention on a GPU, against double precision: several blocks, tails, gaps. */
import { Device } from "@tri/tri/ffi";
import { checkDerivatives } from "../support/kernels/attention_backward.ts";
import { gpuTest } from "../support/gpu.ts";

const SIZES = [[1, 1], [131, 277], [257, 64]] as const;

for (const dtype of ["float16", "bfloat16", "float32"] as const) {
  for (const d of [64, 128]) {
    for (const causal of [false, true]) {
      const what = causal ? "what sees what is before it" : "what sees everything";
      gpuTest(`attentionBackward() derives ${what}, ${dtype}, ${d} elements a row`, () => {
        using device = Device.open();
        for (const [m, n] of SIZES) {
          checkDerivatives(device, dtype, { batches: 2, heads: 1, m, n, d }, causal);
        }
        checkDerivatives(
          device,
          dtype,
          { batches: 1, heads: 6, keyHeads: 2, m: 131, n: 200, d },
          causal,
        );
      });
    }
  }
}
