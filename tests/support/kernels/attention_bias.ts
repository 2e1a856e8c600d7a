/** Attention with a bias against double precision, for tests on the emulator and on a GPU. */
import { attentionBias } from "../../../generated/attention_bias.ts";
import type { Device } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { numbersOf, randomNumbers, stridedOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";
import { attentionReference, type AttentionSize, nearReference, tensorOf } from "./attention.ts";

export interface BiasCase {
  readonly dtype: "float16" | "bfloat16";
  readonly size: AttentionSize;
  readonly causal?: boolean;
  /** Along which of batches, heads and rows the bias has numbers of its own; along the others all share one. */
  readonly own: readonly [boolean, boolean, boolean];
  /** Part of the bias that is minus infinity. */
  readonly hidden?: number;
}

/** Runs the shipped kernel on fresh numbers; each row of the bias is followed by something that is no number. */
export function checkAttentionBias(device: Device, test: BiasCase): void {
  const { dtype, size, causal = false, own, hidden = 0 } = test;
  const { batches, heads, keyHeads = heads, m, n, d } = size;
  const numbers = (count: number, rows: number): number[] =>
    randomNumbers(dtype, batches * count * rows * d, 1);
  const [q, k, v] = [numbers(heads, m), numbers(keyHeads, n), numbers(keyHeads, n)];
  const [ownBatches, ownHeads, ownRows] = [batches, heads, m].map((extent, i) =>
    own[i] ? extent : 1
  );
  const shape = [ownBatches ?? 1, ownHeads ?? 1, ownRows ?? 1, n] as const;
  const random = freshRandom();
  const values = randomNumbers(dtype, shape.reduce((a, b) => a * b), 4)
    .map((value) => random.unit() < hidden ? -Infinity : value);
  const pitch = n + 2;
  const rowCount = values.length / Math.max(1, n);
  const padded = Array.from(
    { length: rowCount * pitch },
    (_, i) => i % pitch < n ? must(values[Math.floor(i / pitch) * n + i % pitch], "bias") : NaN,
  );
  const whole = stridedOf(device, dtype, padded, [shape[0], shape[1], shape[2], pitch]);
  using bias = whole.narrow(3, 0, n);
  const at = (...indices: readonly number[]): number =>
    indices.reduce(
      (offset, index, axis) =>
        offset * must(shape[axis], "extent") + (shape[axis] === 1 && axis < 3 ? 0 : index),
      0,
    );
  const tensor = (numbers: readonly number[], count: number, rows: number) =>
    tensorOf(device, dtype, numbers, [batches, count, rows, d], false);
  using tq = tensor(q, heads, m);
  using tk = tensor(k, keyHeads, n);
  using tv = tensor(v, keyHeads, n);
  using o = device.empty(dtype, [batches, heads, m, d]);
  using lse = device.empty("float32", [batches, heads, m]);
  o.fill(NaN);
  lse.fill(NaN);
  const scale = Math.fround(3 / Math.sqrt(d));
  attentionBias(tq, tk, tv, bias, { scale, causal, out: { o, lse } });
  const expected = attentionReference(size, {
    q,
    k,
    v,
    scale,
    causal,
    bias: (...indices) => must(values[at(...indices)], "bias"),
  });
  nearReference(dtype, { o: numbersOf(o), lse: numbersOf(lse) }, expected, JSON.stringify(test));
}
