/** Products of TF32 and float8, and with weights of 8 and 4 bits, on a GPU, all variants, against sums in double precision. */
import { Device } from "@tri/tri/ffi";
import { matmulNarrow } from "../../generated/matmul_narrow.ts";
import { quantizedMatmul } from "../../generated/quantized_matmul.ts";
import { checkNarrow } from "../support/kernels/matmul_narrow.ts";
import { checkQuantized } from "../support/kernels/quantized.ts";
import { gpuTest } from "../support/gpu.ts";

const SIZES = [
  { m: 1, n: 1, k: 1, gap: 0 },
  { m: 67, n: 35, k: 51, gap: 1 },
  { m: 144, n: 272, k: 208, gap: 16 },
  { m: 200, n: 320, k: 1040, gap: 0 },
] as const;

/** Part of the sum of magnitudes that an instruction may lose with float8, and elements along k whose sum it adds to. */
const LOST = 2 ** -10;
const EXACT_DEPTH = 128;
const STEP = 32;

gpuTest("matmulNarrow() multiplies matrices of all sizes, by rows and by columns", () => {
  using device = Device.open();
  for (const variant of matmulNarrow.variants) {
    for (const size of SIZES) {
      const depth = variant.endsWith("_exact") ? Math.min(size.k, EXACT_DEPTH) : size.k;
      const sumError = variant === "tf32" ? 0 : LOST * Math.ceil(depth / STEP);
      for (const columns of [false, true]) {
        checkNarrow(device, variant, { ...size, columns }, { sumError });
      }
    }
  }
});

const QUANTIZED = [
  { m: 1, n: 1, k: 1, gap: 0 },
  { m: 5, n: 48, k: 1040, gap: 16 },
  { m: 67, n: 35, k: 203, gap: 1 },
  { m: 100, n: 144, k: 1040, gap: 0 },
  { m: 600, n: 320, k: 656, gap: 0 },
] as const;

gpuTest("quantizedMatmul() multiplies by weights of all sizes, by rows and by columns", () => {
  using device = Device.open();
  for (const variant of quantizedMatmul.variants) {
    for (const size of QUANTIZED) {
      for (const columns of [false, true]) checkQuantized(device, variant, { ...size, columns });
    }
  }
});
