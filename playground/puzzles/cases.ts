/** Hidden inputs of the puzzles, and what must come out: results in double precision, and limits of counters. */
import type { LaunchProfile } from "../../ffi/profile.ts";
import type { Fill } from "../session/inputs.ts";

/** Elements of the tensors that a kernel reads, by name, and the numbers that it is called with. */
export interface Inputs {
  readonly tensors: Readonly<Record<string, Float64Array>>;
  readonly sizes: Readonly<Record<string, number>>;
}

/** A launch that is judged. */
export interface Case {
  readonly sizes: Readonly<Record<string, number>>;
  readonly fills?: Readonly<Record<string, Fill>>;
}

/** What is demanded of a launch beside its result. */
export interface Limit {
  /** What is wrong, with what was counted; undefined: nothing. */
  readonly exceeded: (profile: LaunchProfile) => string | undefined;
}

/** How a puzzle is judged. */
export interface Judgement {
  readonly cases: readonly Case[];
  /** The tensor that is compared, and its elements by row-major index. */
  readonly output: string;
  readonly expected: (inputs: Inputs) => (index: number) => number;
  /** How far an element may be off, as a part of the largest one. */
  readonly tolerance: number;
  readonly limits?: readonly Limit[];
}

const random = (seed: number): Fill => ({ kind: "random", seed });
const numbers = (...values: readonly number[]): Fill => ({ kind: "numbers", values });

const at = (values: Float64Array | undefined, index: number): number => values?.[index] ?? 0;

function sum(count: number, term: (index: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

/** Of rows: a function of one of them, for each. */
const ofRows =
  (name: string, of: (row: Float64Array) => number) => ({ tensors, sizes }: Inputs) => {
    const { N = 1 } = sizes;
    const all = tensors[name] ?? new Float64Array();
    return (row: number): number => of(all.subarray(row * N, row * N + N));
  };

/** Each sector once, but for rows that begin in the middle of one. */
const FEW_SECTORS: Limit = {
  exceeded: ({ global: { sectors, idealSectors } }) =>
    sectors <= 1.1 * idealSectors
      ? undefined
      : `${sectors} sectors of memory where ${idealSectors} are enough`,
};
const NO_CONFLICTS: Limit = {
  exceeded: ({ shared: { bankConflicts } }) =>
    bankConflicts === 0 ? undefined : `${bankConflicts} bank conflicts`,
};

/** By the name of the puzzle. */
export const JUDGEMENTS: Readonly<Record<string, Judgement>> = {
  puzzle_tail_mask: {
    cases: [{ sizes: { N: 128 } }, { sizes: { N: 1 } }, { sizes: { N: 63 } }, {
      sizes: { N: 257 },
    }],
    output: "Z",
    expected: ({ tensors: { X, Y } }) => (i) => at(X, i) + at(Y, i),
    tolerance: 0,
  },
  puzzle_outer_sum: {
    cases: [{ sizes: { M: 16, N: 16 } }, { sizes: { M: 33, N: 5 } }, { sizes: { M: 1, N: 70 } }],
    output: "Z",
    expected: ({ tensors: { X, Y }, sizes: { N = 1 } }) => (index) =>
      at(X, Math.floor(index / N)) + at(Y, index % N),
    tolerance: 0,
  },
  puzzle_long_rows: {
    cases: [{ sizes: { M: 3, N: 20 } }, { sizes: { M: 5, N: 64 } }, { sizes: { M: 4, N: 131 } }],
    output: "Y",
    expected: ofRows("X", (row) => sum(row.length, (j) => at(row, j))),
    tolerance: 1e-6,
  },
  puzzle_row_maximum: {
    cases: [
      { sizes: { M: 5, N: 64 } },
      { sizes: { M: 3, N: 17 }, fills: { X: numbers(-5, -2.5, -3, -8) } },
      { sizes: { M: 2, N: 1 }, fills: { X: numbers(-1e30) } },
    ],
    output: "Y",
    expected: ofRows("X", (row) => Math.max(...row)),
    tolerance: 0,
  },
  puzzle_stencil: {
    cases: [{ sizes: { N: 1 } }, { sizes: { N: 64 } }, { sizes: { N: 150 } }],
    output: "Y",
    expected: ({ tensors: { X }, sizes: { N = 0 } }) => (i) =>
      (i > 0 ? at(X, i - 1) : 0) + at(X, i) + (i + 1 < N ? at(X, i + 1) : 0),
    tolerance: 1e-6,
  },
  puzzle_safe_softmax: {
    cases: [
      { sizes: { M: 4, N: 30 } },
      { sizes: { M: 3, N: 64 }, fills: { X: numbers(1000, 1001, 999.5, 990, 1000.25) } },
      { sizes: { M: 2, N: 7 }, fills: { X: numbers(-500, -501, -499.5) } },
    ],
    output: "Y",
    expected: ({ tensors: { X = new Float64Array() }, sizes: { N = 1 } }) => (index) => {
      const row = X.subarray(Math.floor(index / N) * N, Math.floor(index / N) * N + N);
      const top = Math.max(...row);
      return Math.exp(at(X, index) - top) / sum(N, (j) => Math.exp(at(row, j) - top));
    },
    tolerance: 1e-5,
  },
  puzzle_variance: {
    cases: [
      { sizes: { M: 4, N: 48 } },
      { sizes: { M: 3, N: 64 }, fills: { X: numbers(4096, 4096.5, 4097, 4095.25, 4096.75) } },
      { sizes: { M: 2, N: 9 }, fills: { X: numbers(-9000, -9000.5, -8999) } },
    ],
    output: "Y",
    expected: ofRows("X", (row) => {
      const mean = sum(row.length, (j) => at(row, j)) / row.length;
      return sum(row.length, (j) => (at(row, j) - mean) ** 2) / row.length;
    }),
    tolerance: 1e-3,
  },
  puzzle_whole_sectors: {
    cases: [{ sizes: { M: 64, N: 128 } }, { sizes: { M: 128, N: 32 }, fills: { X: random(7) } }],
    output: "Y",
    expected: ({ tensors: { X }, sizes: { M = 1, N = 1 } }) => (index) =>
      at(X, (index % M) * N + Math.floor(index / M)),
    tolerance: 0,
    limits: [FEW_SECTORS, NO_CONFLICTS],
  },
  puzzle_product: {
    cases: [
      { sizes: { M: 16, N: 16, K: 16 } },
      { sizes: { M: 32, N: 48, K: 80 } },
      { sizes: { M: 17, N: 9, K: 33 } },
    ],
    output: "C",
    expected: ({ tensors: { A, B }, sizes: { N = 1, K = 1 } }) => (index) =>
      sum(K, (k) => at(A, Math.floor(index / N) * K + k) * at(B, k * N + index % N)),
    tolerance: 1e-5,
  },
  puzzle_race: {
    cases: [
      { sizes: { N: 64 }, fills: { COUNTS: { kind: "zeros" } } },
      { sizes: { N: 300 }, fills: { X: random(3), COUNTS: { kind: "ramp" } } },
    ],
    output: "COUNTS",
    expected: ({ tensors: { X = new Float64Array(), COUNTS } }) => (value) =>
      at(COUNTS, value) + X.filter((x) => (x & 7) === value).length,
    tolerance: 0,
  },
};
