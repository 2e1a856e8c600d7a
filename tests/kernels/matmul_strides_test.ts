/** The shipped matrix product on the emulator, with matrices that do not lie by rows. */
import { matmul } from "../../generated/matmul.ts";
import { assertProductOf, operandOf } from "../support/kernels/products.ts";
import { everyVariant } from "./devices.ts";
import { checkMatmul } from "../support/kernels/matmul.ts";

everyVariant(
  "matmul() takes matrices stored by columns, without bank conflicts, on {}",
  "matmul",
  matmul.variants,
  (device, dtype) => {
    const storages = [["rows", "columns"], ["columns", "rows"], ["columns", "columns"]] as const;
    storages.forEach((storage, i) =>
      checkMatmul(device, dtype, { m: 80, n: 48, k: 80, gap: 0, storage }, `_s${i + 2}`)
    );
  },
);

everyVariant(
  "matmul() takes and fills matrices with any strides, on {}",
  "matmul",
  matmul.variants,
  (device, dtype) => {
    checkMatmul(device, dtype, { m: 19, n: 37, k: 41, gap: 3, storage: ["apart", "columns"] }, "");
    using a = operandOf(device, dtype, [35, 18], { storage: "columns", gap: 1 });
    using b = operandOf(device, dtype, [18, 33], { storage: "apart" });
    const out = dtype === "int8" ? "int32" : dtype;
    using transposed = device.empty(out, [33, 35]);
    matmul(a.tensor, b.tensor, { out: transposed.transpose() });
    assertProductOf(transposed.transpose(), a, b);
  },
);
