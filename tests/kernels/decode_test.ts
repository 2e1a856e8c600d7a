/** The shipped attention of a few queries on the emulator: every image, pages of any size, empty sequences, empty parts. */
import { decode } from "../../generated/decode.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertThrows } from "../support/assert.ts";
import { checkDecode } from "../support/kernels/decode.ts";
import { everyTarget } from "./devices.ts";

everyTarget("decode() weighs values in pages, on {}", ["decode"], (device) => {
  const pages = { dtype: "float16", heads: [4, 2], m: 1, d: 64, causal: true } as const;
  checkDecode(device, { ...pages, lengths: [70, 0, 133], size: 64, splits: 3 });
  checkDecode(device, { ...pages, lengths: [35, 1], size: 16, splits: 2, dtype: "bfloat16" });
  // One page for each sequence, of any size; more parts than steps.
  checkDecode(device, { ...pages, lengths: [5, 67], size: 67, splits: 5, d: 128 });
  // More parts than are added at a time.
  checkDecode(device, { ...pages, lengths: [40, 1], size: 64, splits: 37 });
});

everyTarget("decode() shows queries only what is before them, on {}", ["decode"], (device) => {
  const rows = { dtype: "bfloat16", heads: [6, 2], d: 64, splits: 2, causal: true } as const;
  // More queries than keys: the first ones see nothing. Rows that share keys: 21.
  checkDecode(device, { ...rows, m: 7, lengths: [3, 68], size: 64 });
  checkDecode(device, { ...rows, m: 3, lengths: [40], size: 32, dtype: "float16" });
});

everyTarget("decode() gives keys of minus infinity no weight, on {}", ["decode"], (device) => {
  const keys = { dtype: "float16", heads: [3, 3], m: 2, d: 64, infinite: true } as const;
  checkDecode(device, { ...keys, lengths: [66], size: 64, splits: 4, causal: false });
});

Deno.test("decode() refuses heads that cannot share keys, and small pages", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.zeros("float16", [1, 3, 1, 64]);
  using table = device.zeros("int32", [1, 2]);
  using lengths = device.zeros("int32", [1]);
  const call = (heads: number, size: number, splits: number): void => {
    using k = device.zeros("float16", [2, heads, size, 64]);
    decode(q, k, k, table, lengths, { splits, scale: 1, causal: false });
  };
  assertThrows(
    () => call(2, 16, 1),
    ArgumentError,
    "the heads of Q must be a multiple of those of K",
  );
  assertThrows(() => call(3, 8, 1), ArgumentError, "pages must have a multiple of 16 keys");
  assertThrows(() => call(3, 16, 0), ArgumentError, "splits must be at least 1");
});
