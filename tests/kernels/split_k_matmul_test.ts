/** The shipped split product on the emulator: locks between programs, in any order and in that of k. */
import { splitKMatmul } from "../../generated/split_k_matmul.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertThrows } from "../support/assert.ts";
import { checkSplit } from "../support/kernels/batches.ts";
import { operandOf } from "../support/products.ts";
import { everyVariant } from "./devices.ts";

everyVariant(
  "splitKMatmul() adds the parts of a product under locks, on {}",
  "split_k_matmul",
  splitKMatmul.variants,
  (device, dtype) => {
    const isEven = splitKMatmul.variants.indexOf(dtype) % 2 === 0;
    checkSplit(device, dtype, { m: 35, n: 67, k: 133, gap: 1, splits: 3 }, isEven);
    checkSplit(device, dtype, { m: 72, n: 32, k: 136, gap: 0, splits: 2 }, !isEven);
    // More parts than steps, and one part.
    const small = { m: 3, n: 5, k: 7, gap: 2 };
    if (dtype === "float32") checkSplit(device, dtype, { ...small, splits: 5 }, true);
    if (dtype === "float64") checkSplit(device, dtype, { ...small, splits: 1 }, false);
  },
);

Deno.test("splitKMatmul() refuses too few locks", () => {
  using device = Device.open({ device: "emulator" });
  using a = operandOf(device, "float32", [65, 8]);
  using b = operandOf(device, "float32", [8, 8]);
  using locks = device.zeros("int32", [3]);
  assertThrows(
    () => splitKMatmul(a.tensor, b.tensor, locks, { splits: 2, ordered: false }),
    ArgumentError,
    "locks needs 2 * cdiv(M, 64) * cdiv(N, 64) numbers",
  );
});
