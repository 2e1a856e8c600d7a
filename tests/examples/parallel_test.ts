/**
 * Several emulators compute what one does, within rounding: a perceptron and attention with split weights, and training with
 * split samples.
 */
import {
  type Samples,
  shareWeights,
  trainStep,
  type Weights,
} from "../../examples/parallel/data_parallel.ts";
import {
  type HostMatrix,
  splitWeights,
  tensorParallel,
} from "../../examples/parallel/tensor_parallel.ts";
import {
  HEAD_SIZE,
  splitHeads,
  tensorParallelAttention,
} from "../../examples/parallel/tensor_parallel_attention.ts";
import { Device, type Tensor } from "../../ffi/mod.ts";
import { type Communicator, openCommunicators } from "../../ffi/nccl/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertThrows } from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(2);

const [ROWS, INPUTS, HIDDEN, OUTPUTS] = [12, 9, 20, 7];

type Values = Float32Array<ArrayBuffer>;

function numbers(count: number, random: () => number): Values {
  return Float32Array.from({ length: count }, () => 2 * random() - 1);
}

/** C = A @ B in double precision, [m, k] and [k, n]; `a` and `b` give elements. */
function product(
  [m, k, n]: readonly [number, number, number],
  a: (row: number, column: number) => number,
  b: (row: number, column: number) => number,
): number[] {
  return Array.from({ length: m * n }, (_, at) => {
    const [row, column] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let i = 0; i < k; i++) sum += a(row, i) * b(i, column);
    return sum;
  });
}

const rowsOf =
  (values: ArrayLike<number>, width: number) => (row: number, column: number): number =>
    values[row * width + column] ?? NaN;
const columnsOf = (values: ArrayLike<number>, width: number) => (row: number, column: number) =>
  values[column * width + row] ?? NaN;

/** Attention of rows over the rows before them and themselves, for each head of HEAD_SIZE columns. */
function causalAttention(
  [rows, heads]: readonly [number, number],
  q: readonly number[],
  k: readonly number[],
  v: readonly number[],
): number[] {
  const width = heads * HEAD_SIZE;
  const result = new Array<number>(rows * width).fill(0);
  for (let head = 0; head < heads; head++) {
    const at = (row: number, d: number): number => row * width + head * HEAD_SIZE + d;
    const of = (values: readonly number[], row: number): number[] =>
      values.slice(at(row, 0), at(row, HEAD_SIZE));
    for (let row = 0; row < rows; row++) {
      const query = of(q, row);
      const scores = Array.from(
        { length: row + 1 },
        (_, j) =>
          of(k, j).reduce((sum, x, d) => sum + x * must(query[d], "query"), 0) * HEAD_SIZE ** -0.5,
      );
      const most = Math.max(...scores);
      const parts = scores.map((score) => Math.exp(score - most));
      const total = parts.reduce((sum, part) => sum + part, 0);
      for (const [j, part] of parts.entries()) {
        of(v, j).forEach((x, d) =>
          result[at(row, d)] = must(result[at(row, d)], "sum") + x * part / total
        );
      }
    }
  }
  return result;
}

async function withRanks(
  size: number,
  body: (ranks: readonly Communicator[]) => void | Promise<void>,
): Promise<void> {
  const devices = Array.from(
    { length: size },
    () => Device.open({ device: "emulator", workers: 1 }),
  );
  try {
    const ranks = openCommunicators(devices);
    await body(ranks);
    ranks[0]?.[Symbol.dispose]();
  } finally {
    for (const device of devices) device[Symbol.dispose]();
  }
}

/** Sums of at most 32 products of numbers below 4, several of them in a row. */
function assertClose(
  actual: Tensor,
  expected: readonly number[],
  what: string,
  bound = 2 ** -14,
): void {
  for (const [i, value] of numbersOf(actual).entries()) {
    const wanted = must(expected[i], "element");
    assert(Math.abs(value - wanted) < bound, `${what}, ${i}: ${value}, not ${wanted}`);
  }
}

for (const size of sampled([2, 4], 1)) {
  test(`tensorParallel() on ${size} devices gives every rank what double precision gives`, () =>
    withRanks(size, (ranks) => {
      const { unit } = freshRandom();
      const x = numbers(ROWS * INPUTS, unit);
      const first = { rows: INPUTS, columns: HIDDEN, values: numbers(INPUTS * HIDDEN, unit) };
      const second = { rows: HIDDEN, columns: OUTPUTS, values: numbers(HIDDEN * OUTPUTS, unit) };
      const inputs = ranks.map(({ device }) => device.tensor(x, [ROWS, INPUTS]));
      const results = tensorParallel(ranks, splitWeights(ranks, first, second), inputs);
      const hidden = product(
        [ROWS, INPUTS, HIDDEN],
        rowsOf(x, INPUTS),
        rowsOf(first.values, HIDDEN),
      ).map((value) => Math.max(value, 0));
      const expected = product(
        [ROWS, HIDDEN, OUTPUTS],
        rowsOf(hidden, HIDDEN),
        rowsOf(second.values, OUTPUTS),
      );
      for (const [rank, result] of results.entries()) {
        assertClose(result, expected, `rank ${rank}`);
      }
      const odd = { ...first, columns: HIDDEN + 1 };
      assertThrows(() => splitWeights(ranks, odd, second), RangeError, "21 hidden");
    }));

  test(`tensorParallelAttention() on ${size} devices gives every rank what double precision gives`, () =>
    withRanks(size, (ranks) => {
      const [rows, heads] = [9, 4];
      const { unit } = freshRandom();
      const matrix = (rows: number, columns: number): HostMatrix => ({
        rows,
        columns,
        values: numbers(rows * columns, unit).map((weight) => weight / 8),
      });
      const x = numbers(rows * INPUTS, unit);
      const weights = {
        query: matrix(INPUTS, heads * HEAD_SIZE),
        key: matrix(INPUTS, heads * HEAD_SIZE),
        value: matrix(INPUTS, heads * HEAD_SIZE),
        output: matrix(heads * HEAD_SIZE, OUTPUTS),
      };
      const inputs = ranks.map(({ device }) => device.tensor(x, [rows, INPUTS]));
      const results = tensorParallelAttention(ranks, splitHeads(ranks, weights), inputs);
      const project = ({ columns, values }: HostMatrix): number[] =>
        product([rows, INPUTS, columns], rowsOf(x, INPUTS), rowsOf(values, columns));
      const attended = causalAttention(
        [rows, heads],
        project(weights.query),
        project(weights.key),
        project(weights.value),
      );
      const width = heads * HEAD_SIZE;
      const expected = product(
        [rows, width, OUTPUTS],
        rowsOf(attended, width),
        rowsOf(weights.output.values, OUTPUTS),
      );
      for (const [rank, result] of results.entries()) {
        // Scores below 11; sums of 256 products of numbers below 9 / 8 and 1 / 8.
        assertClose(result, expected, `rank ${rank}`, 2 ** -12);
      }
      const odd = { ...weights, query: matrix(INPUTS, HEAD_SIZE) };
      assertThrows(() => splitHeads(ranks, odd), RangeError, "1 heads do not divide");
    }));

  test(`trainStep() on ${size} devices makes the steps that double precision makes of all samples`, () =>
    withRanks(size, (ranks) => {
      const [rate, steps, count] = [0.1, 2, ROWS / size];
      const { x, wanted, first, second, trained } = drawTraining(rate, steps);
      // All but rank 0 begin with other weights, which it overwrites.
      let weights: readonly Weights[] = ranks.map(({ device, rank }) => ({
        first: device.tensor(Float32Array.from(first, (w) => w + rank), [INPUTS, HIDDEN]),
        second: device.tensor(Float32Array.from(second, (w) => w - rank), [HIDDEN, OUTPUTS]),
      }));
      shareWeights(ranks, weights);
      const samples = ranks.map(({ device, rank }): Samples => {
        const part = (values: Values, width: number): Values =>
          values.slice(rank * count * width, (rank + 1) * count * width);
        return {
          inputs: device.tensor(part(x, INPUTS), [count, INPUTS]),
          wanted: device.tensor(part(wanted, OUTPUTS), [count, OUTPUTS]),
        };
      });
      for (let i = 0; i < steps; i++) weights = trainStep(ranks, weights, samples, rate);
      for (const [rank, own] of weights.entries()) {
        assertClose(own.first, trained.first, `first, rank ${rank}`);
        assertClose(own.second, trained.second, `second, rank ${rank}`);
      }
    }));
}

/** Where an activation is this near to 0, rounding decides about its derivative. */
const UNDECIDED = 1e-5;

interface Training {
  readonly x: Values;
  readonly wanted: Values;
  readonly first: Values;
  readonly second: Values;
  /** The weights after all steps, in double precision. */
  readonly trained: { readonly first: readonly number[]; readonly second: readonly number[] };
}

/** Samples and weights for which no activation comes near to 0 in any step. */
function drawTraining(rate: number, steps: number): Training {
  const { unit } = freshRandom();
  for (;;) {
    const [x, wanted] = [numbers(ROWS * INPUTS, unit), numbers(ROWS * OUTPUTS, unit)];
    const [first, second] = [numbers(INPUTS * HIDDEN, unit), numbers(HIDDEN * OUTPUTS, unit)];
    let trained = { first: [...first], second: [...second], least: Infinity };
    for (let i = 0; i < steps; i++) {
      const next = referenceStep(x, wanted, trained, rate);
      trained = { ...next, least: Math.min(next.least, trained.least) };
    }
    if (trained.least > UNDECIDED) return { x, wanted, first, second, trained };
  }
}

function referenceStep(
  x: Values,
  wanted: Values,
  { first, second }: Training["trained"],
  rate: number,
): { first: number[]; second: number[]; least: number } {
  const hidden = product([ROWS, INPUTS, HIDDEN], rowsOf(x, INPUTS), rowsOf(first, HIDDEN));
  const active = hidden.map((value) => Math.max(value, 0));
  const errors = product([ROWS, HIDDEN, OUTPUTS], rowsOf(active, HIDDEN), rowsOf(second, OUTPUTS))
    .map((value, i) => 2 * (value - must(wanted[i], "target")) / (ROWS * OUTPUTS));
  const bySecond = product(
    [HIDDEN, ROWS, OUTPUTS],
    columnsOf(active, HIDDEN),
    rowsOf(errors, OUTPUTS),
  );
  const byHidden = product(
    [ROWS, OUTPUTS, HIDDEN],
    rowsOf(errors, OUTPUTS),
    columnsOf(second, OUTPUTS),
  ).map((value, i) => must(active[i], "activation") > 0 ? value : 0);
  const byFirst = product([INPUTS, ROWS, HIDDEN], columnsOf(x, INPUTS), rowsOf(byHidden, HIDDEN));
  const step = (weights: readonly number[], gradient: readonly number[]): number[] =>
    weights.map((weight, i) => weight - rate * must(gradient[i], "gradient"));
  const least = Math.min(...hidden.map(Math.abs));
  return { first: step(first, byFirst), second: step(second, bySecond), least };
}
