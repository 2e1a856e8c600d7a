/** The shipped attention of sequences of any lengths on the emulator: every image, through the wrapper. */
import { attentionVarlen } from "../../generated/attention_varlen.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertThrows } from "../support/assert.ts";
import { checkAttentionVarlen } from "../support/kernels/attention_varlen.ts";
import { everyTarget } from "./devices.ts";

everyTarget("attentionVarlen() keeps sequences apart, on {}", ["attention_varlen"], (device) => {
  // Some have no queries, no keys, or neither; some have one.
  const lengths = [[33, 70], [0, 5], [1, 1], [7, 0], [0, 0], [66, 20]] as const;
  checkAttentionVarlen(device, { dtype: "float16", lengths, heads: [2, 1], d: 64, causal: false });
  checkAttentionVarlen(device, { dtype: "bfloat16", lengths, heads: [1, 1], d: 128, causal: true });
});

everyTarget("attentionVarlen() shows a window of keys, on {}", ["attention_varlen"], (device) => {
  const test = { dtype: "float16", heads: [2, 2], d: 64 } as const;
  const lengths = [[70, 70], [3, 150], [40, 3]] as const;
  checkAttentionVarlen(device, { ...test, lengths, causal: true, window: 9 });
  checkAttentionVarlen(device, { ...test, lengths, causal: false, window: 1 });
});

Deno.test("attentionVarlen() checks the extents of its tensors", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.zeros("float16", [8, 2, 64]);
  using k = device.zeros("float16", [8, 3, 64]);
  using two = device.tensor(new Int32Array([0, 8]), [2]);
  using three = device.tensor(new Int32Array([0, 4, 8]), [3]);
  const options = { longest: 8, scale: 1, causal: false, window: 0 };
  assertThrows(
    () => attentionVarlen(q, k, k, two, two, options),
    ArgumentError,
    "the heads of Q must be a multiple of those of K",
  );
  assertThrows(() => attentionVarlen(q, q, q, two, three, options), ArgumentError, "shape[0]");
});
