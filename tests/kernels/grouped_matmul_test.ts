/** The shipped products of rows in groups on the emulator: empty groups, groups of one row and of several tiles. */
import { groupedMatmul } from "../../generated/grouped_matmul.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { checkGroups } from "../support/kernels/groups.ts";
import { sampled } from "../support/sampled.ts";
import { everyVariant } from "./devices.ts";

everyVariant(
  "groupedMatmul() multiplies each group with its matrix, on {}",
  "grouped_matmul",
  groupedMatmul.variants,
  (device, variant) => {
    const cases = [
      { groups: [3, 0, 67, 1], k: 37, n: 70, gap: 1 },
      { groups: [0, 5, 66, 0], k: 72, n: 80, gap: 8 },
    ];
    // Variants choose each for itself.
    for (const one of sampled(cases, 1, groupedMatmul.variants.indexOf(variant))) {
      checkGroups(device, { variant, ...one });
    }
    // Nothing to add.
    checkGroups(device, { variant, groups: [2, 1], k: 0, n: 8, gap: 0 });
  },
);

Deno.test("groupedMatmul() of no rows launches tiles that have nothing to do", () => {
  using device = Device.open({ device: "emulator" });
  using a = device.zeros("float16", [0, 16]);
  using w = device.zeros("float16", [2, 16, 16]);
  using offsets = device.zeros("int32", [3]);
  using c = groupedMatmul(a, w, offsets, { variant: "float16" });
  assertEquals(c.shape, [0, 16]);
});

Deno.test("groupedMatmul() refuses gated columns without a partner, and offsets of other groups", () => {
  using device = Device.open({ device: "emulator" });
  using a = device.zeros("float16", [4, 16]);
  using offsets = device.zeros("int32", [3]);
  const call = (groups: number, columns: number): void => {
    using w = device.zeros("float16", [groups, 16, columns]);
    groupedMatmul(a, w, offsets, { variant: "float16_gated" });
  };
  assertThrows(() => call(2, 7), ArgumentError, "gated columns come in pairs");
  assertThrows(() => call(3, 8), ArgumentError, "offsets");
});
