/** The shipped batched product on the emulator: every image, variant and instance, through the wrapper. */
import { batchedMatmul } from "../../generated/batched_matmul.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import { checkBatch } from "../support/kernels/batches.ts";
import { everyVariant } from "./devices.ts";

everyVariant(
  "batchedMatmul() multiplies batches of any size and storage, on {}",
  "batched_matmul",
  batchedMatmul.variants,
  (device, dtype) => {
    for (
      const [batch, suffix] of [
        [{ z: 3, m: 35, n: 7, k: 21, gap: 1 }, ""],
        [{ z: 2, m: 13, n: 7, k: 4, gap: 3, storage: "columns", isShared: true }, ""],
        [{ z: 2, m: 67, n: 48, k: 40, gap: 8 }, "_s1"],
        [{ z: 2, m: 33, n: 72, k: 40, gap: 0, storage: "columns", isShared: true }, "_s2"],
      ] as const
    ) {
      const kernel = checkBatch(device, dtype, batch, true);
      assertInstance(kernel, `batched_matmul_${dtype}${suffix}`);
    }
  },
);
