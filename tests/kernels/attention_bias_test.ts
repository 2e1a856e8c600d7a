/** The shipped attention with a bias on the emulator: every image, through the wrapper. */
import { attentionBias } from "../../generated/attention_bias.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertThrows } from "../support/assert.ts";
import { checkAttentionBias } from "../support/kernels/attention_bias.ts";
import { everyTarget } from "./devices.ts";

everyTarget("attentionBias() adds to the scores, on {}", ["attention_bias"], (device) => {
  const size = { batches: 2, heads: 2, m: 35, n: 67, d: 64 };
  checkAttentionBias(device, { dtype: "float16", size, own: [true, true, true] });
  const grouped = { ...size, batches: 1, keyHeads: 1, n: 36, d: 128 };
  checkAttentionBias(device, {
    dtype: "bfloat16",
    size: grouped,
    own: [true, true, true],
    causal: true,
  });
});

everyTarget("attentionBias() shares a bias, on {}", ["attention_bias"], (device) => {
  const size = { batches: 2, heads: 2, m: 5, n: 20, d: 64 };
  for (const own of [[false, true, true], [true, false, false], [false, false, false]] as const) {
    checkAttentionBias(device, { dtype: "float16", size, own });
  }
});

everyTarget("attentionBias() hides keys at minus infinity, on {}", ["attention_bias"], (device) => {
  const size = { batches: 1, heads: 2, m: 33, n: 70, d: 64 };
  checkAttentionBias(device, {
    dtype: "float16",
    size,
    own: [true, true, true],
    hidden: 0.9,
    causal: true,
  });
  // No row sees anything; one row, one key.
  checkAttentionBias(device, { dtype: "bfloat16", size, own: [true, true, false], hidden: 1 });
  checkAttentionBias(device, {
    dtype: "float16",
    size: { ...size, m: 1, n: 1 },
    own: [true, true, true],
  });
});

Deno.test("attentionBias() says which extents a bias may have", () => {
  using device = Device.open({ device: "emulator" });
  using x = device.zeros("float16", [2, 3, 4, 64]);
  const call = (shape: readonly [number, number, number, number]) => (): void => {
    using bias = device.zeros("float16", shape);
    attentionBias(x, x, x, bias, { scale: 1, causal: false });
  };
  for (const shape of [[3, 3, 4, 4], [2, 2, 4, 4], [2, 3, 2, 4]] as const) {
    assertThrows(
      call(shape),
      ArgumentError,
      "the extents of Bias must be those of the scores, or 1",
    );
  }
  assertThrows(call([2, 3, 4, 5]), ArgumentError, "shape[3]");
});
