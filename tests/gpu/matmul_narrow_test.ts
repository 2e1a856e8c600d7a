/** Products of TF32 and float8 on a GPU, all variants, against sums in double precision. */
import { Device } from "@tri/tri/ffi";
import { matmulNarrow } from "../../generated/matmul_narrow.ts";
import { checkNarrow } from "../support/kernels/matmul_narrow.ts";
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
