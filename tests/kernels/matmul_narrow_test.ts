/** Products of TF32 and float8, and with weights of 8 and 4 bits, on the emulator: every image, variant and instance. */
import { matmulNarrow } from "../../generated/matmul_narrow.ts";
import { quantizedMatmul } from "../../generated/quantized_matmul.ts";
import { assert } from "../support/assert.ts";
import { deviceFor, everyVariant } from "./devices.ts";
import { checkNarrow } from "../support/kernels/matmul_narrow.ts";
import { checkQuantized } from "../support/kernels/quantized.ts";

everyVariant(
  "matmulNarrow() multiplies matrices of any size and strides, on {}",
  "matmul_narrow",
  matmulNarrow.variants,
  (device, variant) => {
    checkNarrow(device, variant, { m: 67, n: 35, k: 51, gap: 1, columns: false }, { suffix: "" });
    checkNarrow(device, variant, { m: 1, n: 1, k: 1, gap: 2, columns: true }, { suffix: "" });
  },
);

everyVariant(
  "matmulNarrow() multiplies aligned matrices without bank conflicts, on {}",
  "matmul_narrow",
  matmulNarrow.variants,
  (device, variant) => {
    checkNarrow(device, variant, { m: 70, n: 144, k: 272, gap: 0, columns: true }, {
      suffix: "_s1",
    });
    checkNarrow(device, variant, { m: 130, n: 16, k: 32, gap: 16, columns: false }, {
      suffix: "_s2",
    });
    // Small products of float8 are subnormal numbers of it; large ones are not.
    checkNarrow(device, variant, { m: 3, n: 16, k: 144, gap: 0, columns: true, scale: 2 ** -6 }, {
      suffix: "_s1",
    });
  },
);

everyVariant(
  "quantizedMatmul() multiplies by weights of any size and strides, on {}",
  "quantized_matmul",
  quantizedMatmul.variants,
  (device, variant) => {
    checkQuantized(device, variant, { m: 5, n: 35, k: 203, gap: 1, columns: false }, "");
    checkQuantized(device, variant, { m: 131, n: 7, k: 65, gap: 0, columns: true }, "");
    checkQuantized(device, variant, { m: 1, n: 1, k: 1, gap: 2, columns: true }, "");
  },
);

everyVariant(
  "quantizedMatmul() takes vectors of aligned weights, on {}",
  "quantized_matmul",
  quantizedMatmul.variants,
  (device, variant) => {
    checkQuantized(device, variant, { m: 16, n: 80, k: 400, gap: 0, columns: true }, "_s1");
    checkQuantized(device, variant, { m: 1, n: 16, k: 128, gap: 16, columns: false }, "_s2");
    checkQuantized(device, variant, { m: 67, n: 144, k: 208, gap: 16, columns: true }, "_s3");
    checkQuantized(device, variant, { m: 17, n: 80, k: 464, gap: 0, columns: false }, "_s4");
    checkQuantized(device, variant, { m: 131, n: 144, k: 272, gap: 16, columns: true }, "_s5");
    checkQuantized(device, variant, { m: 130, n: 144, k: 208, gap: 0, columns: false }, "_s6");
  },
);

Deno.test("quantizedMatmul() is done by tensor copies on sm_90a", () => {
  using device = deviceFor("sm_90a");
  for (const variant of quantizedMatmul.variants) {
    for (const columns of [true, false]) {
      const size = { m: 5, n: 80, k: 272, gap: 0, columns };
      const kernel = checkQuantized(device, variant, size, columns ? "_s1" : "_s2");
      assert(kernel?.endsWith("_tensor"), kernel);
    }
  }
});
