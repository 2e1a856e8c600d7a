/** Products of rows in groups against double precision: for tests on the emulator and on a GPU. */
import { groupedMatmul, groupedMatmulRows } from "../../../generated/grouped_matmul.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { matrixOf, numbersOf, randomNumbers, stridedOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";

/** Groups of rows. */
export interface GroupCase {
  readonly variant: "float16" | "bfloat16" | "float16_gated" | "bfloat16_gated";
  /** Rows of each group. */
  readonly groups: readonly number[];
  readonly k: number;
  /** Columns of each matrix; even for gated variants. */
  readonly n: number;
  /** Elements between rows of A and of C. */
  readonly gap: number;
}

/** Runs both kernels; what was in C before is no number. */
export function checkGroups(device: Device, test: GroupCase): void {
  const { variant, groups, k, n, gap } = test;
  const isGated = variant.endsWith("_gated");
  const dtype = variant.startsWith("float16") ? "float16" : "bfloat16";
  const random = freshRandom();
  const rows = groups.reduce((sum, count) => sum + count, 0);
  const offsets = [0];
  for (const count of groups) offsets.push(must(offsets.at(-1), "end") + count);
  const groupOf = (row: number): number => offsets.findLastIndex((begin) => begin <= row);
  const columns = isGated ? n / 2 : n;
  const a = randomNumbers(dtype, rows * k, 1);
  const w = randomNumbers(dtype, groups.length * k * n, 1);
  // Some rows of A twice or never, and rows of C in any order.
  const gather = Array.from({ length: rows }, () => random.below(rows));
  const scatter = gather.map((_, row) => ({ row, at: random.unit() }))
    .toSorted((x, y) => x.at - y.at).map(({ row }) => row);

  using made = new DisposableStack();
  const ints = (values: readonly number[]): Tensor<"int32", 1> =>
    made.use(device.tensor(Int32Array.from(values), [values.length]));
  const poisoned = (): Tensor<"float16" | "bfloat16", 2> =>
    made.use(matrixOf(device, dtype, Array(rows * columns).fill(NaN), [rows, columns], gap));
  const ta = made.use(matrixOf(device, dtype, a, [rows, k], gap));
  const tw = made.use(stridedOf(device, dtype, w, [groups.length, k, n] as const));
  const ends = ints(offsets);
  const gated = { variant };
  const [sorted, anywhere] = [poisoned(), poisoned()];
  groupedMatmul(ta, tw, ends, { ...gated, out: sorted });
  groupedMatmulRows(ta, tw, ends, ints(gather), ints(scatter), { ...gated, out: anywhere });

  const product = (from: number, group: number, column: number): Sum => {
    let [sum, size] = [0, 0];
    for (let q = 0; q < k; q++) {
      const term = must(a[from * k + q], "a") * must(w[(group * k + q) * n + column], "w");
      sum += term;
      size += Math.abs(term);
    }
    return { value: sum, error: k * 2 ** -22 * size };
  };
  const [foundSorted, foundAnywhere] = [numbersOf(sorted), numbersOf(anywhere)];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const of = (from: number): Sum => {
        const group = groupOf(row);
        if (!isGated) return product(from, group, column);
        return gate(product(from, group, 2 * column), product(from, group, 2 * column + 1));
      };
      const what = (): string => `[${row}, ${column}] of ${JSON.stringify(test)}`;
      const compare = (found: number | undefined, { value, error }: Sum): void =>
        assertRounded(dtype, found ?? NaN, value, error + roundingError("float32", value), what);
      compare(foundSorted[row * columns + column], of(row));
      const target = must(scatter[row], "row of C");
      compare(foundAnywhere[target * columns + column], of(must(gather[row], "row of A")));
    }
  }
}

/** A number, and how far from it one that is computed may be. */
interface Sum {
  readonly value: number;
  readonly error: number;
}

/** silu(x) * y; the slope of silu is at most 1.1, its relative error 2^-20. */
function gate(x: Sum, y: Sum): Sum {
  const silu = x.value / (1 + Math.exp(-x.value));
  const ofSilu = 1.1 * x.error + 2 ** -19 * Math.abs(silu);
  const value = silu * y.value;
  return { value, error: ofSilu * (Math.abs(y.value) + y.error) + Math.abs(silu) * y.error };
}
