/** The shipped derivatives of attention on the emulator: every image, every variant, through the wrappers. */
import { attention } from "../../generated/attention.ts";
import {
  attentionBackwardKeys,
  attentionBackwardQueries,
  attentionBackwardRows,
} from "../../generated/attention_backward.ts";
import { ArgumentError, Device } from "../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { checkDerivatives } from "../support/kernels/attention_backward.ts";
import { numbersOf, stridedOf } from "../support/numbers.ts";
import { sampled } from "../support/sampled.ts";
import { everyTarget } from "./devices.ts";

const SOURCE = ["attention_backward"];

/** What {@linkcode checkDerivatives} takes after the device. */
type Case = Parameters<typeof checkDerivatives> extends [Device, ...infer Rest] ? Rest : never;

/** Checks a sample of cases, so many of them. */
function checkSome(device: Device, count: number, cases: readonly Case[]): void {
  for (const one of sampled(cases, count)) checkDerivatives(device, ...one);
}

everyTarget("attentionBackward() derives what sees everything, on {}", SOURCE, (device) => {
  checkSome(device, 1, [
    ["float16", { batches: 1, heads: 2, m: 35, n: 67, d: 64 }, false],
    ["bfloat16", { batches: 1, heads: 1, m: 70, n: 33, d: 128 }, false],
    ["float32", { batches: 1, heads: 1, m: 18, n: 35, d: 64 }, false],
  ]);
});

everyTarget("attentionBackward() derives what sees what is before it, on {}", SOURCE, (device) => {
  checkSome(device, 2, [
    ["float16", { batches: 2, heads: 1, m: 3, n: 70, d: 128 }, true],
    ["bfloat16", { batches: 1, heads: 1, m: 67, n: 67, d: 64 }, true],
    ["float32", { batches: 1, heads: 1, m: 17, n: 17, d: 128 }, true],
    // Most rows see nothing, and rows behind the first block see all keys.
    ["float16", { batches: 1, heads: 1, m: 135, n: 3, d: 64 }, true],
  ]);
});

everyTarget("attentionBackward() adds up heads that share keys, on {}", SOURCE, (device) => {
  const size = { batches: 2, heads: 6, keyHeads: 2, m: 5, n: 37, d: 64 };
  checkSome(device, 1, [
    ["float16", size, true],
    ["bfloat16", { ...size, batches: 1, keyHeads: 1 }, false],
  ]);
});

everyTarget("attentionBackward() takes large and small derivatives, on {}", SOURCE, (device) => {
  const size = { batches: 1, heads: 1, m: 19, n: 21, d: 64 };
  checkSome(device, 2, [
    ["bfloat16", size, false, 2 ** 100],
    ["bfloat16", size, true, 2 ** -100],
    ["float16", size, true, 2 ** 8],
    ["float32", size, true, 2 ** 100],
  ]);
});

everyTarget("attentionBackward() of nothing is zero, on {}", SOURCE, (device) => {
  // No keys, no queries, no heads.
  checkDerivatives(device, "float16", { batches: 1, heads: 1, m: 3, n: 0, d: 64 }, false);
  checkDerivatives(device, "float16", { batches: 1, heads: 2, m: 0, n: 3, d: 64 }, true);
  checkDerivatives(device, "bfloat16", { batches: 1, heads: 0, m: 2, n: 3, d: 128 }, false);
});

Deno.test("attentionBackward() takes what attention() left, and gives the same bits again", () => {
  using device = Device.open({ device: "emulator" });
  const numbers = Array.from({ length: 3 * 64 }, (_, i) => (i * 7) % 11 / 8 - 0.5);
  using x = stridedOf(device, "float16", numbers, [1, 1, 3, 64]);
  const options = { scale: 0.125, causal: true };
  const { o, lse } = attention(x, x, x, { ...options, window: 0 });
  using rows = attentionBackwardRows(o, x, lse);
  o[Symbol.dispose]();
  lse[Symbol.dispose]();
  const run = (): number[] => {
    using dq = attentionBackwardQueries(x, x, x, x, rows, options);
    const { dk, dv } = attentionBackwardKeys(x, x, x, x, rows, options);
    const found = [dq, dk, dv].flatMap((tensor) => numbersOf(tensor));
    dk[Symbol.dispose]();
    dv[Symbol.dispose]();
    return found;
  };
  assertEquals(run(), run());
});

Deno.test("attentionBackward() refuses heads of keys that do not divide those of the queries", () => {
  using device = Device.open({ device: "emulator" });
  using q = device.zeros("float16", [1, 6, 4, 64]);
  using rows = device.zeros("float32", [1, 6, 2, 128]);
  for (const heads of [4, 12]) {
    using k = device.zeros("float16", [1, heads, 4, 64]);
    const options = { scale: 1, causal: false };
    const runs = [
      () => attentionBackwardKeys(q, k, k, q, rows, options),
      () => attentionBackwardQueries(q, k, k, q, rows, options),
    ];
    for (const run of runs) {
      assertThrows(run, ArgumentError, "the heads of Q must be a multiple of those of K");
    }
  }
});
