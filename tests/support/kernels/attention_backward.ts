/** The shipped derivatives of attention against double precision, for tests on the emulator and on a GPU. */
import {
  attentionBackwardKeys,
  attentionBackwardQueries,
  attentionBackwardRows,
} from "../../../generated/attention_backward.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { roundFloat } from "../../../compiler/support/float.ts";
import { assert, assertEquals } from "../assert.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { numbersOf, randomNumbers, stridedOf } from "../numbers.ts";
import { attentionReference, type AttentionSize, tensorOf } from "./attention.ts";

type Type = "float16" | "bfloat16" | "float32";

export interface DerivativeInputs {
  /** Row-major: q, o and g, the derivatives by o, are [batches, heads, m, d]; k and v are [batches, keyHeads, n, d]. */
  readonly q: readonly number[];
  readonly k: readonly number[];
  readonly v: readonly number[];
  readonly g: readonly number[];
  readonly lse: readonly number[];
  readonly delta: readonly number[];
  readonly scale: number;
  readonly causal: boolean;
}

/** A derivative, and how far from it sums of products of rounded factors may be. */
interface Bounded {
  readonly exact: Float64Array;
  readonly error: Float64Array;
}

interface Derivatives {
  readonly dq: Bounded;
  readonly dk: Bounded;
  readonly dv: Bounded;
}

/** Relative error of one operation on floats, and of a term of a sum, which tensor cores cut off. */
const UNIT = 2 ** -24;
const TERM = 2 ** -22;
/** Floats below it are zero to the kernels. */
const LEAST = 2 ** -126;
/** Largest relative error of exp2 on all targets. */
const EXP2 = 2 ** -21;

/** Score by score. What is rounded to the type on the way, or has been computed in float, widens the bounds. */
function derivativesReference(
  type: Type,
  { batches, heads, keyHeads = heads, m, n, d }: AttentionSize,
  { q, k, v, g, lse, delta, scale, causal }: DerivativeInputs,
): Derivatives {
  const bounded = (rows: number): Bounded => ({
    exact: new Float64Array(batches * rows * d),
    error: new Float64Array(batches * rows * d),
  });
  const [dq, dk, dv] = [bounded(heads * m), bounded(keyHeads * n), bounded(keyHeads * n)];
  const add = ({ exact, error }: Bounded, at: number, factor: Factor, by: number): void => {
    exact[at] = must(exact[at], "sum") + factor.value * by;
    // A sum has an operation for each of its terms.
    const size = Math.abs(factor.value) + factor.error;
    error[at] = must(error[at], "error") + Math.abs(by) * factor.error + LEAST +
      (m * heads + n) * TERM * size * Math.abs(by);
  };
  const at = (values: readonly number[], row: number, x: number): number =>
    must(values[row * d + x], "element");
  const dot = (a: readonly number[], i: number, b: readonly number[], j: number): Factor => {
    let [value, size] = [0, 0];
    for (let x = 0; x < d; x++) {
      const term = at(a, i, x) * at(b, j, x);
      value += term;
      size += Math.abs(term);
    }
    return { value, error: d * (TERM * size + LEAST) };
  };
  for (let head = 0; head < batches * heads; head++) {
    const shared = Math.floor(head / (heads / keyHeads));
    for (let row = head * m; row < (head + 1) * m; row++) {
      const last = causal ? Math.min(n, row - head * m + 1 + n - m) : n;
      for (let column = shared * n; column < shared * n + last; column++) {
        const score = dot(q, row, k, column);
        const shift = must(lse[row], "lse");
        const p = Math.exp(score.value * scale - shift);
        // Both terms of the exponent are rounded a few times.
        const exponent = scale * score.error +
          4 * UNIT * (Math.abs(score.value * scale) + Math.abs(shift));
        const pError = p * (Math.expm1(exponent) + EXP2) + LEAST;
        const subtracted = must(delta[row], "delta");
        const dp = dot(g, row, v, column);
        const ds = p * (dp.value - subtracted);
        const size = Math.abs(dp.value) + Math.abs(subtracted);
        const dsError = pError * size + (p + pError) * (dp.error + UNIT * size) + LEAST;
        const roundedP = rounded(type, p, pError);
        const roundedDs = rounded(type, ds, dsError);
        for (let x = 0; x < d; x++) {
          add(dv, column * d + x, roundedP, at(g, row, x));
          add(dk, column * d + x, roundedDs, scale * at(q, row, x));
          add(dq, row * d + x, roundedDs, scale * at(k, column, x));
        }
      }
    }
  }
  return { dq, dk, dv };
}

/** A number, and how far from it what the kernel has may be. */
interface Factor {
  readonly value: number;
  readonly error: number;
}

function rounded(type: Type, value: number, error: number): Factor {
  const size = Math.abs(value) + error;
  return { value, error: error + roundingError(type, size) };
}

/**
 * Runs the three kernels on fresh numbers. Those of causal runs lie with their heads between rows; `gain` multiplies the
 * derivatives that come in.
 */
export function checkDerivatives(
  device: Device,
  type: Type,
  size: AttentionSize,
  causal: boolean,
  gain = 1,
): void {
  const { batches, heads, keyHeads = heads, m, n, d } = size;
  const numbers = (rows: number, most: number): number[] =>
    randomNumbers(type, batches * rows * d, most);
  const [q, k, v] = [numbers(heads * m, 1), numbers(keyHeads * n, 1), numbers(keyHeads * n, 1)];
  const g = numbers(heads * m, gain);
  const scale = Math.fround(3 / Math.sqrt(d));
  const what = `${type} ${JSON.stringify(size)}${causal ? " causal" : ""}`;
  const forward = attentionReference(size, { q, k, v, scale, causal });
  const o = forward.o.map((value) => roundFloat(value, type));
  const lse = forward.lse.map(Math.fround);

  const tensor = (values: readonly number[], count: number, rows: number): Tensor<Type, 4> =>
    tensorOf(device, type, values, [batches, count, rows, d], causal);
  using tq = tensor(q, heads, m);
  using tk = tensor(k, keyHeads, n);
  using tv = tensor(v, keyHeads, n);
  using to = tensor(o, heads, m);
  using tg = tensor(g, heads, m);
  using tLse = stridedOf(device, "float32", lse, [batches, heads, m]);

  using rows = attentionBackwardRows(to, tg, tLse);
  const { shift, delta } = rowsOf(numbersOf(rows), batches * heads, m);
  checkShift(shift, lse, what);
  checkDelta(delta, o, g, d, what);

  const options = { scale, causal };
  using dq = attentionBackwardQueries(tq, tk, tv, tg, rows, options);
  const { dk, dv } = attentionBackwardKeys(tq, tk, tv, tg, rows, options);
  using _dk = dk;
  using _dv = dv;
  const expected = derivativesReference(type, size, { q, k, v, g, lse, delta, scale, causal });
  near(type, numbersOf(dq), expected.dq, `dq of ${what}`);
  near(type, numbersOf(dk), expected.dk, `dk of ${what}`);
  near(type, numbersOf(dv), expected.dv, `dv of ${what}`);
}

/** What the first kernel gives for each row, without what is behind the last one. */
function rowsOf(
  rows: readonly number[],
  heads: number,
  m: number,
): { readonly shift: readonly number[]; readonly delta: readonly number[] } {
  const padded = Math.ceil(m / 128) * 128;
  assertEquals(rows.length, heads * 2 * padded, "rows");
  const of = (which: number): number[] =>
    Array.from({ length: heads }, (_, head) => {
      const from = (2 * head + which) * padded;
      assert(
        rows.slice(from + m, from + padded).every((value) => value === 0),
        "rows behind the last",
      );
      return rows.slice(from, from + m);
    }).flat();
  return { shift: of(0), delta: of(1) };
}

function checkShift(shift: readonly number[], lse: readonly number[], what: string): void {
  shift.forEach((found, row) => {
    const exact = must(lse[row], "lse");
    const wanted = exact === -Infinity ? 0 : -exact * Math.LOG2E;
    const error = 4 * UNIT * Math.abs(wanted);
    assertRounded("float32", found, wanted, error, () => `shift[${row}] of ${what}`);
  });
}

function checkDelta(
  delta: readonly number[],
  o: readonly number[],
  g: readonly number[],
  d: number,
  what: string,
): void {
  assertEquals(delta.length, o.length / d, `delta of ${what}`);
  delta.forEach((found, row) => {
    let [exact, magnitude] = [0, 0];
    for (let x = row * d; x < (row + 1) * d; x++) {
      const term = must(o[x], "o") * must(g[x], "g");
      exact += term;
      magnitude += Math.abs(term);
    }
    const error = d * (UNIT * magnitude + LEAST);
    assertRounded("float32", found, exact, error, () => `delta[${row}] of ${what}`);
  });
}

function near(
  type: Type,
  found: readonly number[],
  { exact, error }: Bounded,
  what: string,
): void {
  assertEquals(found.length, exact.length, what);
  exact.forEach((value, i) =>
    assertRounded(type, found[i] ?? NaN, value, must(error[i], "error"), () => `${what}[${i}]`)
  );
}
