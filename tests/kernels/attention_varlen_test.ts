/** The shipped attention of sequences of any lengths on the emulator: every image, through the wrapper. */
import { attentionVarlen } from "../../generated/attention_varlen.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { checkAttentionVarlen } from "../support/kernels/attention_varlen.ts";
import { numbersOf } from "../support/numbers.ts";
import { sampled } from "../support/sampled.ts";
import { deviceFor, everyTarget } from "./devices.ts";

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

Deno.test("attentionVarlen() copies boxes of sequences that end inside of the tensors", () => {
  using device = deviceFor("sm_90a");
  const test = { dtype: "float16", heads: [2, 1], causal: false, form: "fast" } as const;
  // More than a tile of rows, and of keys, so that rows of the next sequence are beside those of this one.
  const lengths = [[130, 140], [0, 9], [257, 3], [5, 129]] as const;
  for (const d of sampled([64, 128], 1)) checkAttentionVarlen(device, { ...test, lengths, d });
});

Deno.test("attentionVarlen() takes offsets beyond its tensors for their ends", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.tensor(new Float16Array(4 * 64).fill(1), [4, 1, 64]);
  using offsets = device.tensor(new Int32Array([-3, 2, 9, 5]), [4]);
  const options = { longest: 12, scale: 1, causal: false, window: 0 };
  // Rows 0 and 1, 2 and 3, none.
  const { o, lse } = attentionVarlen(q, q, q, offsets, offsets, options);
  using _o = o;
  using _lse = lse;
  assertEquals(numbersOf(o), new Array<number>(4 * 64).fill(1));
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
