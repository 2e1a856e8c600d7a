/** The shipped product with what follows it, on the emulator: each part alone, all together, and none. */
import { matmulFused } from "../../generated/matmul_fused.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { checkFused } from "../support/kernels/fused.ts";
import { operandOf } from "../support/kernels/products.ts";
import { sampled } from "../support/sampled.ts";
import { everyVariant } from "./devices.ts";

const ALL = ["rowScale", "columnScale", "bias", "residual"] as const;

everyVariant(
  "matmulFused() multiplies, scales, adds and activates, on {}",
  "matmul_fused",
  matmulFused.variants,
  (device, variant) => {
    const odd = { variant, m: 5, n: 67, k: 37, gap: 1, storage: "rows", factor: 0.5 } as const;
    checkFused(device, { ...odd, activation: 2, parts: ALL });
    checkFused(device, { ...odd, activation: 1, parts: ["bias"], storage: "columns" });
    const even = { variant, m: 66, n: 48, k: 72, gap: 16, factor: 1 } as const;
    checkFused(device, { ...even, storage: "rows", activation: 3, parts: ["residual"] });
    checkFused(device, { ...even, storage: "columns", activation: 2, parts: ALL });
    checkFused(device, { ...even, storage: "columns", activation: 0, parts: [] });
    // A part of two tiles, whose columns are computed in slices where tiles are wide.
    const wide = { variant, m: 66, n: 272, k: 24, gap: 16, storage: "columns" } as const;
    checkFused(device, { ...wide, activation: 2, parts: ALL, factor: 0.5 });
    // Nothing to add; beyond the largest number of float8; one row.
    checkFused(device, { ...odd, m: 3, k: 0, activation: 2, parts: ["bias"] });
    const factor = variant === "bfloat16_float8" ? 1000 : 2;
    checkFused(device, {
      ...even,
      m: 1,
      storage: "rows",
      activation: 0,
      parts: ["rowScale"],
      factor,
    });
  },
);

Deno.test("matmulFused() is right in each version of what follows wide sums", () => {
  using device = Device.open({ device: "emulator", arch: "sm_90" });
  const parts = [["bias", "residual"], ["residual"], ["bias"], ALL, []] as const;
  const cases = parts.flatMap((some) =>
    ([0, 1, 2, 3] as const).map((activation) => ({ activation, parts: some }))
  );
  for (const { activation, parts } of sampled(cases, 5)) {
    for (const variant of ["float16", "bfloat16_float8"] as const) {
      // Rows end in the first tile, columns in the second one.
      const size = { m: 70, n: 272, k: 40, gap: 16, storage: "rows", factor: 0.5 } as const;
      checkFused(device, { ...size, variant, activation, parts });
    }
  }
});

Deno.test("matmulFused() activates infinities without making NaN of them where there is none", () => {
  using device = Device.open({ device: "emulator" });
  using a = operandOf(device, "bfloat16", [1, 1], { values: [1] });
  using b = operandOf(device, "bfloat16", [1, 2], { values: [Infinity, 3e38] });
  for (const activation of [0, 1, 2, 3]) {
    using c = matmulFused(a.tensor, b.tensor, { variant: "bfloat16", activation, factor: 1 });
    assertEquals(numbersOf(c)[0], Infinity);
    assertEquals(Number.isFinite(numbersOf(c)[1]), true);
  }
});

Deno.test("matmulFused() refuses unknown activations and vectors of another length", () => {
  using device = Device.open({ device: "emulator" });
  using a = operandOf(device, "float16", [3, 8]);
  using b = operandOf(device, "float16", [8, 5]);
  using bias = device.zeros("float32", [4]);
  const call = (options: { activation: number; bias?: typeof bias }): void =>
    void matmulFused(a.tensor, b.tensor, { variant: "float16", factor: 1, ...options });
  assertThrows(() => call({ activation: 4 }), ArgumentError, "activation must be 0 (none)");
  assertThrows(() => call({ activation: 0, bias }), ArgumentError, "bias");
});
