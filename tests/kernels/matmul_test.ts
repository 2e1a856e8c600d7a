/** The shipped matrix products on the emulator: every image, every variant and instance, through the wrappers. */
import { matmul } from "../../generated/matmul.ts";
import { matmulPlain } from "../../generated/matmul_plain.ts";
import { assertProductOf, cancel, operandOf, productNumbers } from "../support/kernels/products.ts";
import { everyVariant } from "./devices.ts";
import { checkMatmul } from "../support/kernels/matmul.ts";

everyVariant(
  "matmul() multiplies matrices of odd sizes, on {}",
  "matmul",
  matmul.variants,
  (device, dtype) => checkMatmul(device, dtype, { m: 67, n: 35, k: 51, gap: 1 }, "_s5"),
);

everyVariant(
  "matmul() multiplies one row and one column, on {}",
  "matmul",
  matmul.variants,
  (device, dtype) => checkMatmul(device, dtype, { m: 1, n: 1, k: 1, gap: 2 }, "_s5"),
);

everyVariant(
  "matmul() multiplies aligned matrices without bank conflicts, on {}",
  "matmul",
  matmul.variants,
  (device, dtype) => checkMatmul(device, dtype, { m: 80, n: 144, k: 96, gap: 0 }, "_s1"),
);

everyVariant(
  "matmul() rounds subnormal, overflowing and cancelling sums right, on {}",
  "matmul",
  matmul.variants.filter((dtype) => dtype !== "int8"),
  (device, dtype) => {
    const [m, n, k] = [17, 18, 35];
    for (const magnitude of ["small", "large", "ordinary"] as const) {
      const [x, y] = [m * k, k * n].map((count) => productNumbers(dtype, count, magnitude));
      if (x === undefined || y === undefined) continue;
      if (magnitude === "ordinary") cancel(x, y, k, n);
      using a = operandOf(device, dtype, [m, k], { values: x });
      using b = operandOf(device, dtype, [k, n], { values: y });
      using c = matmul(a.tensor, b.tensor);
      assertProductOf(c, a, b);
    }
  },
);

everyVariant(
  "matmulPlain() multiplies matrices of odd and aligned sizes, on {}",
  "matmul_plain",
  matmulPlain.variants,
  (device, dtype) => {
    for (const [m, n, k, gap] of [[67, 35, 51, 1], [80, 144, 96, 0], [1, 1, 1, 2]] as const) {
      using a = operandOf(device, dtype, [m, k], { gap });
      using b = operandOf(device, dtype, [k, n], { gap });
      using c = matmulPlain(a.tensor, b.tensor);
      assertProductOf(c, a, b);
    }
  },
);
