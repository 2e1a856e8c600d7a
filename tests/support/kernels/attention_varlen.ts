/** Attention of sequences of any lengths against double precision, for tests on the emulator and on a GPU. */
import { attentionVarlen } from "../../../generated/attention_varlen.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import { attentionReference, nearReference } from "./attention.ts";

export interface VarlenCase {
  readonly dtype: "float16" | "bfloat16";
  /** Queries and keys of each sequence. */
  readonly lengths: readonly (readonly [queries: number, keys: number])[];
  /** Heads of queries, and of keys. */
  readonly heads: readonly [number, number];
  readonly d: number;
  readonly causal: boolean;
  readonly window?: number;
  /** The launch must be that of a form with tensor copies. */
  readonly form?: "fast";
}

/** What rows hold that no sequence has. */
const UNTOUCHED = 7;

/** Runs the shipped kernel on fresh numbers. The first and the last rows belong to no sequence and are no numbers. */
export function checkAttentionVarlen(device: Device, test: VarlenCase): void {
  const { dtype, lengths, heads: [h, kh], d, causal, window, form } = test;
  const one = lengths.map(([m, n]) => ({
    m,
    n,
    q: randomNumbers(dtype, h * m * d, 1),
    k: randomNumbers(dtype, kh * n * d, 1),
    v: randomNumbers(dtype, kh * n * d, 1),
  }));
  /** [heads, rows, d] of each sequence as [all rows, heads, d], with a row of no numbers at both ends. */
  const packed = (count: number, parts: readonly (readonly number[])[]): number[] => {
    const nothing = new Array<number>(count * d).fill(NaN);
    return [nothing, ...parts.map((part) => byRow(part, count, d)), nothing].flat();
  };
  const offsets = (rows: readonly number[]): number[] =>
    rows.reduce<number[]>((all, row) => [...all, (all.at(-1) ?? 0) + row], [1]);
  const queries = offsets(lengths.map(([m]) => m));
  const keys = offsets(lengths.map(([, n]) => n));
  const tensor = (
    count: number,
    parts: readonly (readonly number[])[],
  ): Tensor<typeof dtype, 3> => {
    const all = packed(count, parts);
    return vectorOf(device, dtype, all).reshape([all.length / (count * d), count, d]);
  };
  using q = tensor(h, one.map((part) => part.q));
  using k = tensor(kh, one.map((part) => part.k));
  using v = tensor(kh, one.map((part) => part.v));
  using starts = vectorOf(device, "int32", queries);
  using keyStarts = vectorOf(device, "int32", keys);
  const rows = q.shape[0];
  using o = device.empty(dtype, [rows, h, d]);
  using lse = device.empty("float32", [h, rows]);
  o.fill(UNTOUCHED);
  lse.fill(UNTOUCHED);
  const scale = Math.fround(3 / Math.sqrt(d));
  const longest = Math.max(...lengths.map(([m]) => m));
  attentionVarlen(q, k, v, starts, keyStarts, {
    longest,
    scale,
    causal,
    window: window ?? 0,
    out: { o, lse },
    ...form === undefined ? {} : { form },
  });
  const untouched = new Array<number>(h * d).fill(UNTOUCHED);
  const expected = one.map(({ m, n, ...inputs }) =>
    attentionReference(
      { batches: 1, heads: h, keyHeads: kh, m, n, d, ...window === undefined ? {} : { window } },
      { ...inputs, scale, causal },
    )
  );
  const expectedLse = Array.from({ length: h }, (_, head) => [
    UNTOUCHED,
    ...expected.flatMap((part) => part.lse.slice(...headOf(part.lse, head, h))),
    UNTOUCHED,
  ]);
  nearReference(dtype, { o: numbersOf(o), lse: numbersOf(lse) }, {
    o: [untouched, ...expected.map((part) => byRow(part.o, h, d)), untouched].flat(),
    lse: expectedLse.flat(),
  }, JSON.stringify(test));
}

/** [heads, rows, d] as [rows, heads, d]. */
function byRow(values: readonly number[], heads: number, d: number): number[] {
  const rows = values.length / (heads * d);
  return Array.from({ length: rows * heads }, (_, i) => {
    const from = (i % heads * rows + Math.floor(i / heads)) * d;
    return values.slice(from, from + d);
  }).flat();
}

/** Where the rows of a head begin and end in [heads, rows]. */
function headOf(values: readonly number[], head: number, heads: number): [number, number] {
  const rows = values.length / heads;
  return [head * rows, (head + 1) * rows];
}
