/** Attention of a few queries over pages of keys, against double precision: for tests on the emulator and on a GPU. */
import { decode, decodeCombine } from "../../../generated/decode.ts";
import type { Device } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../assert.ts";
import { ROUNDING } from "../bounds.ts";
import { numbersOf, randomNumbers, stridedOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";

/** Sequences over pages. */
export interface DecodeCase {
  readonly dtype: "float16" | "bfloat16";
  /** Heads of queries, and of keys. */
  readonly heads: readonly [number, number];
  /** Queries of each sequence. */
  readonly m: number;
  /** Elements of a head. */
  readonly d: number;
  /** Keys of each sequence. */
  readonly lengths: readonly number[];
  /** Keys of a page. */
  readonly size: number;
  readonly splits: number;
  readonly causal: boolean;
  /** Some keys are minus infinity: nobody sees them. */
  readonly infinite?: boolean;
}

/** Runs both kernels; what lies behind the ends of sequences and in pages of nobody is no number. */
export function checkDecode(device: Device, test: DecodeCase): void {
  const { dtype, heads: [h, kh], m, d, lengths, size, splits, causal } = test;
  const random = freshRandom();
  const b = lengths.length;
  const perSequence = Math.max(1, ...lengths.map((length) => Math.ceil(length / size)));
  const pages = b * perSequence + 1;
  // Pages in any order, one of nobody.
  const order = Array.from({ length: pages }, (_, i) => i)
    .map((page) => ({ page, at: random.unit() })).toSorted((x, y) => x.at - y.at)
    .map(({ page }) => page);
  const table = order.slice(0, b * perSequence);
  const q = randomNumbers(dtype, b * h * m * d, 1).map((x) => test.infinite ? Math.abs(x) : x);
  const at = (sequence: number, head: number, key: number): number =>
    ((must(table[sequence * perSequence + Math.floor(key / size)], "page") * kh + head) * size +
      key % size) * d;
  const cache = (): number[] => {
    const fresh = randomNumbers(dtype, pages * kh * size * d, 1);
    const all = fresh.map(() => NaN);
    lengths.forEach((length, sequence) => {
      for (let head = 0; head < kh; head++) {
        for (let key = 0; key < length; key++) {
          const from = at(sequence, head, key);
          for (let x = from; x < from + d; x++) all[x] = must(fresh[x], "element");
        }
      }
    });
    return all;
  };
  const [k, v] = [cache(), cache()];
  if (test.infinite) {
    for (let from = 0; from < k.length; from += d * (1 + random.below(3))) {
      k.fill(-Infinity, from, from + d);
    }
  }

  using made = new DisposableStack();
  const shape = [pages, kh, size, d] as const;
  // Keys lie with heads beside each other, values with keys beside each other.
  const turned = [size * kh * d, d, kh * d, 1];
  const tq = made.use(stridedOf(device, dtype, q, [b, h, m, d] as const));
  const tk = made.use(stridedOf(device, dtype, k, shape, turned));
  const tv = made.use(stridedOf(device, dtype, v, shape));
  const tt = made.use(device.tensor(Int32Array.from(table), [b, perSequence]));
  const tl = made.use(device.tensor(Int32Array.from(lengths), [b]));
  const scale = Math.fround(3 / Math.sqrt(d));
  const parts = decode(tq, tk, tv, tt, tl, { splits, scale, causal });
  made.use(parts.parts);
  made.use(parts.lse);
  const poison = new Array<number>(b * h * m * d).fill(77);
  const o = made.use(stridedOf(device, dtype, poison, [b, h, m, d] as const));
  const { lse } = decodeCombine(parts.parts, parts.lse, { out: { o } });
  made.use(lse);

  const what = JSON.stringify(test);
  const tolerance = 3 * must(ROUNDING[dtype], "a float type") + 1e-5;
  const [foundO, foundLse] = [numbersOf(o), numbersOf(lse)];
  for (let row = 0; row < b * h * m; row++) {
    const sequence = Math.floor(row / (h * m));
    const head = Math.floor(Math.floor(row / m) % h / (h / kh));
    const length = must(lengths[sequence], "length");
    const seen = Math.max(0, causal ? length - m + 1 + row % m : length);
    const scores = Array.from({ length: seen }, (_, key) => {
      let sum = 0;
      const from = at(sequence, head, key);
      for (let x = 0; x < d; x++) sum += must(q[row * d + x], "q") * must(k[from + x], "k");
      return sum * scale;
    });
    const top = Math.max(...scores);
    const exps = scores.map((score) => top === -Infinity ? 0 : Math.exp(score - top));
    const sum = exps.reduce((x, y) => x + y, 0);
    near(
      must(foundLse[row], "lse"),
      sum === 0 ? -Infinity : top + Math.log(sum),
      2e-5,
      `lse[${row}] of ${what}`,
    );
    for (let x = 0; x < d; x++) {
      const total = exps.reduce(
        (so, e, key) => so + e * must(v[at(sequence, head, key) + x], "v"),
        0,
      );
      near(
        must(foundO[row * d + x], "o"),
        sum === 0 ? 0 : total / sum,
        tolerance,
        `o[${row}, ${x}] of ${what}`,
      );
    }
  }
}

/** Weights sum to 1 and values are at most 1, so errors are absolute. */
function near(found: number, expected: number, tolerance: number, what: string): void {
  const isNear = found === expected || Math.abs(found - expected) <= tolerance;
  assert(isNear, `${what}: ${found} instead of ${expected}`);
}
