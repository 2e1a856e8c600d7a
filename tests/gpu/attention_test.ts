/** The shipped attention on a GPU, against double precision: several blocks of K and V, tails, gaps. */
import { Device } from "@tri/tri/ffi";
import { checkAttention } from "../support/kernels/attention.ts";
import { checkAttentionBias } from "../support/kernels/attention_bias.ts";
import { checkAttentionVarlen } from "../support/kernels/attention_varlen.ts";
import { gpuTest } from "../support/gpu.ts";

const SIZES = [[1, 1], [131, 517], [257, 64]] as const;

const SIZES_OF_HEADS = {
  float16: [64, 96, 128, 256],
  bfloat16: [64, 96, 128, 256],
  float32: [64, 128],
};

for (const dtype of ["float16", "bfloat16", "float32"] as const) {
  for (const d of SIZES_OF_HEADS[dtype]) {
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

gpuTest("attention() shows rows a window of keys", () => {
  using device = Device.open();
  for (const causal of [false, true]) {
    for (const window of [1, 100, 300]) {
      for (const d of [64, 128]) {
        const size = { batches: 1, heads: 2, m: 517, n: 650, d, window };
        checkAttention(device, "float16", size, causal);
      }
    }
  }
  // The first rows see nothing, the last ones not the first keys.
  checkAttention(
    device,
    "bfloat16",
    { batches: 1, heads: 1, m: 300, n: 70, d: 96, window: 50 },
    true,
  );
});

gpuTest("attentionBias() adds to the scores", () => {
  using device = Device.open();
  for (const dtype of ["float16", "bfloat16"] as const) {
    for (const d of [64, 128]) {
      // Odd and even numbers of keys have an instance each.
      for (const n of [199, 200]) {
        const size = { batches: 2, heads: 2, keyHeads: 1, m: 131, n, d };
        checkAttentionBias(device, { dtype, size, own: [true, true, true] });
        checkAttentionBias(device, {
          dtype,
          size,
          own: [false, true, false],
          hidden: 0.5,
          causal: true,
        });
      }
    }
  }
});

gpuTest("attentionVarlen() keeps sequences apart", () => {
  using device = Device.open();
  const lengths = [[300, 299], [0, 5], [1, 1], [7, 0], [129, 257], [66, 20]] as const;
  for (const dtype of ["float16", "bfloat16"] as const) {
    for (const d of [64, 128]) {
      checkAttentionVarlen(device, { dtype, lengths, heads: [4, 2], d, causal: false });
      checkAttentionVarlen(device, { dtype, lengths, heads: [2, 2], d, causal: true, window: 70 });
    }
  }
});
