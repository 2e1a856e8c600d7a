/** Products of TF32 and float8 on the emulator: every image, every variant and instance, through the wrapper. */
import { matmulNarrow } from "../../generated/matmul_narrow.ts";
import { everyVariant } from "./devices.ts";
import { checkNarrow } from "../support/kernels/matmul_narrow.ts";

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
