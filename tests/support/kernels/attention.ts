/** The shipped attention against double precision, for tests on the emulator and on a GPU. */
import { attention, type AttentionResults } from "../../../generated/attention.ts";
import { type Device, type DType, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../assert.ts";
import { assertInstance } from "./entry.ts";
import { ROUNDING } from "../bounds.ts";
import { numbersOf, randomNumbers, vectorOf } from "../numbers.ts";

type Type = "float16" | "bfloat16" | "float32";

export interface AttentionSize {
  readonly batches: number;
  readonly heads: number;
  /** Heads of K and V, a divisor of `heads`: as many as of Q if not given. */
  readonly keyHeads?: number;
  /** Rows of Q. */
  readonly m: number;
  /** Rows of K and V. */
  readonly n: number;
  /** Elements of a row. */
  readonly d: number;
  /** How many rows of K a row of Q sees at most, the last of which is its own: all if not given. */
  readonly window?: number;
}

interface AttentionInputs {
  /** Row-major: q is [batches, heads, m, d], k and v are [batches, keyHeads, n, d]. */
  readonly q: readonly number[];
  readonly k: readonly number[];
  readonly v: readonly number[];
  readonly scale: number;
  readonly causal: boolean;
  /** What is added to the score of row j of K, for row i of a head of a batch: nothing if not given. */
  readonly bias?: (batch: number, head: number, i: number, j: number) => number;
}

interface AttentionReference {
  readonly o: readonly number[];
  readonly lse: readonly number[];
}

/** softmax(scale * Q ^K + bias) V, row by row, with all scores of a row at once. */
export function attentionReference(
  { batches, heads, keyHeads = heads, m, n, d, window = Infinity }: AttentionSize,
  { q, k, v, scale, causal, bias = () => 0 }: AttentionInputs,
): AttentionReference {
  const o: number[] = [];
  const lse: number[] = [];
  for (let head = 0; head < batches * heads; head++) {
    // Batches are as many heads apart in K as in Q, divided by the size of a group.
    const shared = Math.floor(head / (heads / keyHeads));
    for (let i = 0; i < m; i++) {
      const own = i + n - m;
      const end = Math.max(0, causal ? Math.min(n, own + 1) : n);
      const first = Math.min(end, Math.max(0, own + 1 - window));
      const dot = (j: number): number => {
        let sum = 0;
        for (let x = 0; x < d; x++) {
          sum += must(q[(head * m + i) * d + x], "q") * must(k[(shared * n + j) * d + x], "k");
        }
        return sum * scale + bias(Math.floor(head / heads), head % heads, i, j);
      };
      const scores = Array.from({ length: end - first }, (_, j) => dot(first + j));
      const top = Math.max(...scores);
      const isBlind = top === -Infinity;
      const exps = scores.map((score) => isBlind ? 0 : Math.exp(score - top));
      const sum = exps.reduce((a, b) => a + b, 0);
      lse.push(isBlind ? -Infinity : top + Math.log(sum));
      for (let x = 0; x < d; x++) {
        const total = exps.reduce(
          (at, weight, j) => at + weight * must(v[(shared * n + first + j) * d + x], "v"),
          0,
        );
        o.push(isBlind ? 0 : total / sum);
      }
    }
  }
  return { o, lse };
}

/** [batches, heads, rows, d] of these numbers; with `swapped`, heads lie between rows, as in [batches, rows, heads, d]. */
export function tensorOf<D extends DType>(
  device: Device,
  dtype: D,
  values: readonly number[],
  [batches, heads, rows, d]: readonly [number, number, number, number],
  swapped: boolean,
): Tensor<D, 4> {
  const strides = swapped
    ? [heads * rows * d, d, heads * d, 1] as const
    : [heads * rows * d, rows * d, d, 1] as const;
  const laid = new Array<number>(values.length).fill(0);
  values.forEach((value, i) => {
    const at = [
      Math.floor(i / (d * rows * heads)),
      Math.floor(i / (d * rows)) % heads,
      Math.floor(i / d) % rows,
      i % d,
    ];
    laid[at.reduce((sum, index, axis) => sum + index * must(strides[axis], "stride"), 0)] = value;
  });
  const { buffer } = vectorOf(device, dtype, laid);
  return new Tensor<D, 4>(buffer, { dtype, shape: [batches, heads, rows, d], strides, offset: 0 });
}

/**
 * Runs the shipped kernel on fresh numbers; causal ones lie with their heads between rows. The result of a profiled
 * run must be free of bank conflicts too.
 */
export function checkAttention(
  device: Device,
  dtype: Type,
  size: AttentionSize,
  causal: boolean,
  profile = false,
): void {
  const { batches, heads, keyHeads = heads, m, n, d } = size;
  const [q, k, v] = [heads * m, keyHeads * n, keyHeads * n]
    .map((rows) => randomNumbers(dtype, batches * rows * d, 1));
  const inputs = { q: must(q, "q"), k: must(k, "k"), v: must(v, "v"), scale: 3 / Math.sqrt(d) };
  const tensor = (values: readonly number[], count: number, rows: number): Tensor<Type, 4> =>
    tensorOf(device, dtype, values, [batches, count, rows, d], causal);
  using tq = tensor(inputs.q, heads, m);
  using tk = tensor(inputs.k, keyHeads, n);
  using tv = tensor(inputs.v, keyHeads, n);
  const scale = Math.fround(inputs.scale);
  const options = { scale, causal, window: size.window ?? 0 };
  const what = `${dtype} ${JSON.stringify(size)}${causal ? " causal" : ""}`;
  const run = (): AttentionResults<Type> => {
    if (!profile) return attention(tq, tk, tv, options);
    const { result, profile: counted } = attention(tq, tk, tv, { ...options, profile: true });
    assertInstance(counted.kernel, `attention_${dtype}_D${d}`);
    assertEquals(counted.shared.bankConflicts, 0, what);
    return result;
  };
  const result = run();
  using o = result.o;
  using lse = result.lse;
  const expected = attentionReference(size, { ...inputs, scale, causal });
  nearReference(dtype, { o: numbersOf(o), lse: numbersOf(lse) }, expected, what);
}

/** Compares what an attention of this type has computed from values of at most 1. */
export function nearReference(
  dtype: Type,
  actual: AttentionReference,
  expected: AttentionReference,
  what: string,
): void {
  // Exponentials are rounded to the type before they are multiplied, results once more. Weights sum to 1.
  const tolerance = 3 * must(ROUNDING[dtype], "a float type") + 1e-5;
  near(actual.o, expected.o, tolerance, `o of ${what}`);
  near(actual.lse, expected.lse, 2e-5, `lse of ${what}`);
}

function near(
  actual: readonly number[],
  expected: readonly number[],
  tolerance: number,
  what: string,
): void {
  assertEquals(actual.length, expected.length, what);
  expected.forEach((value, i) => {
    const is = actual[i] ?? NaN;
    assert(
      Object.is(is, value) || Math.abs(is - value) <= tolerance,
      `${what}[${i}]: ${is} instead of ${value}`,
    );
  });
}
