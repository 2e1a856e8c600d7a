/** The shipped attention on the emulator: every image, every variant, through the wrapper. */
import { attention } from "../../generated/attention.ts";
import { attentionBias } from "../../generated/attention_bias.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assert, assertThrows } from "../support/assert.ts";
import { checkAttention } from "../support/kernels/attention.ts";
import { deviceFor, everyTarget } from "./devices.ts";

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

everyTarget("attention() takes rows of 96 and of 256 elements, on {}", ["attention"], (device) => {
  const size = { batches: 1, heads: 2, m: 35, n: 37 };
  checkAttention(device, "float16", { ...size, d: 96 }, true, true);
  checkAttention(device, "bfloat16", { ...size, keyHeads: 1, d: 96 }, false, true);
  checkAttention(device, "float16", { ...size, heads: 1, d: 256 }, false, true);
  checkAttention(device, "bfloat16", { ...size, heads: 1, d: 256 }, true, true);
});

everyTarget("attention() shows rows a window of keys, on {}", ["attention"], (device) => {
  const size = { batches: 1, heads: 1, m: 70, n: 150, d: 64 };
  // Blocks before the window are passed over; one row sees one key.
  for (const window of [1, 9]) checkAttention(device, "float16", { ...size, window }, true);
  checkAttention(device, "bfloat16", { ...size, window: 40 }, false);
  // Wider than all keys; windows that end before the first key or begin after the last one.
  checkAttention(device, "float16", { ...size, n: 33, window: 2 ** 31 - 1 }, true);
  checkAttention(device, "float16", { ...size, m: 67, n: 3, window: 2 }, true);
  checkAttention(device, "float32", { ...size, m: 1, n: 40, window: 5 }, false);
});

everyTarget("attention() of nothing is zero, on {}", ["attention"], (device) => {
  checkAttention(device, "float16", { batches: 1, heads: 1, m: 3, n: 0, d: 64 }, false, true);
});

Deno.test("attention() and attentionBias() are done by tensor copies on sm_90a", () => {
  using device = deviceFor("sm_90a");
  using x = device.zeros("float16", [1, 1, 3, 96]);
  using y = device.zeros("float16", [1, 1, 3, 64]);
  using bias = device.zeros("float16", [1, 1, 1, 3]);
  for (const window of [0, 2]) {
    const { profile } = attention(x, x, x, { scale: 1, causal: true, window, profile: true });
    assert(profile.kernel?.endsWith("_tensor"), `${profile.kernel}, a window of ${window}`);
  }
  const { profile } = attentionBias(y, y, y, bias, { scale: 1, causal: false, profile: true });
  assert(profile.kernel?.endsWith("_tensor"), profile.kernel);
});

Deno.test("attention() names the sizes of heads that it takes", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("float16", [1, 1, 4, 16]);
  assertThrows(
    () => attention(x, x, x, { scale: 1, causal: false, window: 0 }),
    ArgumentError,
    "shape[3] = 64, 96, 128 or 256",
  );
});

Deno.test("attention() refuses heads of keys that do not divide those of the queries", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.zeros("float16", [1, 6, 4, 64]);
  for (const heads of [0, 4, 12]) {
    using k = device.zeros("float16", [1, heads, 4, 64]);
    assertThrows(
      () => attention(q, k, k, { scale: 1, causal: false, window: 0 }),
      ArgumentError,
      `the heads of Q must be a multiple of those of K, got H = 6, KH = ${heads}`,
    );
  }
});
