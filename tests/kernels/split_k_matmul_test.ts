/** The shipped split product and the sum of its parts on the emulator: every image, variant and instance. */
import { addParts } from "../../generated/add_parts.ts";
import { splitKMatmul } from "../../generated/split_k_matmul.ts";
import { Device } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { assertRounded, roundingError } from "../support/bounds.ts";
import { assertInstance } from "../support/kernels/entry.ts";
import { checkSplit } from "../support/kernels/batches.ts";
import { numbersOf, randomNumbers, stridedOf } from "../support/numbers.ts";
import { everyVariant } from "./devices.ts";

everyVariant(
  "splitKMatmul() makes parts of a product, on {}",
  "split_k_matmul",
  splitKMatmul.variants,
  (device, dtype) => {
    const odd = { m: 35, n: 67, k: 133, gap: 1, splits: 3 };
    assertEquals(checkSplit(device, dtype, odd, true), `split_k_matmul_${dtype}`);
    const aligned = { m: 72, n: 32, k: 200, gap: 0, splits: 2 };
    assertInstance(checkSplit(device, dtype, aligned, true), `split_k_matmul_${dtype}_s1`);
    // More parts than steps, and one part.
    const small = { m: 3, n: 5, k: 7, gap: 2 };
    if (dtype === "float32") checkSplit(device, dtype, { ...small, splits: 5 }, true);
    if (dtype === "float64") checkSplit(device, dtype, { ...small, splits: 1 }, true);
  },
);

Deno.test("addParts() adds many parts, and few of many results, in one order", () => {
  using device = Device.open({ device: "emulator" });
  for (const [count, rows, columns] of [[37, 3, 131], [3, 512, 512]] as const) {
    const values = randomNumbers("float32", count * rows * columns, 1);
    const parts = stridedOf(device, "float32", values, [count, rows, columns]);
    const results = [1, 2].map(() =>
      numbersOf(addParts(parts, { out: device.empty("float32", [rows, columns]) }))
    );
    assertEquals(results[0], results[1]);
    results[0]?.forEach((found, at) => {
      let [sum, magnitude] = [0, 0];
      for (let part = 0; part < count; part++) {
        const value = values[part * rows * columns + at] ?? NaN;
        sum += value;
        magnitude += Math.abs(value);
      }
      const error = roundingError("float32", magnitude, count);
      assertRounded("float32", found, sum, error, () => `element ${at}`);
    });
  }
});
