/** The shipped attention on the emulator: every image, every variant, through the wrapper. */
import { attention } from "../../generated/attention.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertThrows } from "../support/assert.ts";
import { checkAttention } from "../support/kernels/attention.ts";
import { everyTarget } from "./devices.ts";

everyTarget("attention() weighs values by their scores, on {}", ["attention"], (device) => {
  const check = (
    dtype: "float16" | "bfloat16" | "float32",
    m: number,
    n: number,
    d: number,
  ): void => checkAttention(device, dtype, { batches: 1, heads: 2, m, n, d }, false, true);
  check("float16", 35, 67, 64);
  check("float16", 32, 64, 128);
  check("bfloat16", 64, 33, 128);
  check("float32", 34, 35, 64);
});

everyTarget("attention() shows rows only what is before them, on {}", ["attention"], (device) => {
  const check = (
    dtype: "float16" | "bfloat16" | "float32",
    m: number,
    n: number,
    d: number,
  ): void => checkAttention(device, dtype, { batches: 2, heads: 1, m, n, d }, true, true);
  check("float16", 3, 70, 128);
  check("bfloat16", 67, 67, 64);
  check("float32", 33, 33, 128);
  // The first two rows see nothing.
  check("float16", 5, 3, 64);
});

everyTarget("attention() shares heads of keys, on {}", ["attention"], (device) => {
  const size = { batches: 2, heads: 6, keyHeads: 2, m: 5, n: 37, d: 64 };
  checkAttention(device, "float16", size, true, true);
  checkAttention(device, "bfloat16", { ...size, batches: 1, keyHeads: 1 }, false, true);
});

everyTarget("attention() of nothing is zero, on {}", ["attention"], (device) => {
  checkAttention(device, "float16", { batches: 1, heads: 1, m: 3, n: 0, d: 64 }, false, true);
});

Deno.test("attention() takes rows of 64 and of 128 elements only", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("float16", [1, 1, 4, 96]);
  assertThrows(() => attention(x, x, x, { scale: 1, causal: false }), ArgumentError, "shape[3]");
});

Deno.test("attention() refuses heads of keys that do not divide those of the queries", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.zeros("float16", [1, 6, 4, 64]);
  for (const heads of [0, 4, 12]) {
    using k = device.zeros("float16", [1, heads, 4, 64]);
    assertThrows(
      () => attention(q, k, k, { scale: 1, causal: false }),
      ArgumentError,
      "the heads of Q must be a multiple of those of K",
    );
  }
});
