/** Block-sparse products against double precision: random patterns with empty rows and columns, on any device. */
import { dds, dsd, sdd } from "../../../generated/block_sparse.ts";
import { blockTables, type Device, type DType, Tensor } from "../../../ffi/mod.ts";
import { assertEquals } from "../assert.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { numbersOf, randomNumbers, vectorOf } from "../numbers.ts";
import { freshRandom } from "../random.ts";

/** Element types of the kernels. */
export const BLOCK_TYPES = ["float16", "bfloat16", "float32"] as const;
export const BLOCK_SIZES = [16, 32, 64] as const;
type Element = typeof BLOCK_TYPES[number];

/** What to multiply: extents of the sparse matrix in blocks, and the other extent. */
export interface BlockCase {
  readonly dtype: Element;
  readonly size: typeof BLOCK_SIZES[number];
  readonly batch: number;
  readonly blockRows: number;
  readonly blockColumns: number;
  /** The extent that dense matrices have beside it. */
  readonly free: number;
  /** Elements between rows of dense matrices. */
  readonly gap: number;
  /** How many of the blocks there are, from 0 to 1. */
  readonly density: number;
}

/** A batch of dense matrices in row-major order, as numbers. */
interface Dense {
  readonly rows: number;
  readonly columns: number;
  readonly values: readonly number[];
}

/** A pattern; below full density a block row and a block column are empty. */
function randomMask({ blockRows, blockColumns, density }: BlockCase): boolean[] {
  const random = freshRandom();
  const [row, column] = [blockRows, blockColumns].map((n) => random.below(Math.max(n, 1)));
  return Array.from({ length: blockRows * blockColumns }, (_, at) => {
    const isEmpty = Math.floor(at / blockColumns) === row || at % blockColumns === column;
    return density === 1 || (!isEmpty && random.unit() < density);
  });
}

/** Runs all three kernels and compares every element. */
export function checkBlockProducts(device: Device, test: BlockCase): void {
  const { dtype, size, batch, blockRows, blockColumns, free, gap } = test;
  const [rows, columns] = [blockRows * size, blockColumns * size];
  const mask = randomMask(test);
  const tables = blockTables(mask, blockRows, blockColumns);
  using made = new DisposableStack();
  const table = (values: Int32Array<ArrayBuffer>): Tensor<"int32", 1> =>
    made.use(device.tensor(values, [values.length]));
  const dense = (rows: number, columns: number): Dense => ({
    rows,
    columns,
    values: randomNumbers(dtype, batch * rows * columns, 1),
  });
  const upload = (matrix: Dense): Tensor<Element, 3> => {
    const tensor = denseTensor(device, dtype, matrix, batch, gap);
    made.use(tensor);
    return tensor;
  };
  const sparse = zeroOutside(dense(rows, columns), mask, size);
  const blocks = made.use(blocksOf(device, dtype, sparse, mask, size, batch));
  const [tall, wide] = [dense(rows, free), dense(free, columns)];
  const what = `${dtype}, blocks of ${size}, ${rows} x ${columns} x ${free}`;

  const b = dense(columns, free);
  const c = made.use(
    dsd(blocks, table(tables.rowOffsets), table(tables.columns), upload(b)),
  );
  compare(`dsd ${what}`, dtype, numbersOf(c), product(sparse, b, batch), columns);

  const a = dense(free, rows);
  const d = made.use(
    dds(
      upload(a),
      blocks,
      table(tables.columnOffsets),
      table(tables.columnRows),
      table(tables.columnNumbers),
    ),
  );
  compare(`dds ${what}`, dtype, numbersOf(d), product(a, sparse, batch), rows);

  const poison = vectorOf(device, dtype, Array(batch * tables.count * size * size).fill(77));
  const out = new Tensor<Element, 4>(poison.buffer, {
    dtype,
    shape: [batch, tables.count, size, size],
    strides: [tables.count * size * size, size * size, size, 1],
    offset: 0,
  });
  made.use(out);
  sdd(upload(tall), upload(wide), table(tables.rows), table(tables.columns), { out });
  const expected = product(tall, wide, batch);
  const pick = (values: readonly number[]): number[] =>
    gather({ rows, columns, values }, mask, size, batch);
  compare(
    `sdd ${what}`,
    dtype,
    numbersOf(out),
    { sums: pick(expected.sums), magnitudes: pick(expected.magnitudes) },
    free,
  );
}

interface Sums {
  readonly sums: readonly number[];
  /** Sums of the products' magnitudes, which bound the error. */
  readonly magnitudes: readonly number[];
}

function product(a: Dense, b: Dense, batch: number): Sums {
  const [m, k, n] = [a.rows, a.columns, b.columns];
  const sums = new Array<number>(batch * m * n).fill(0);
  const magnitudes = new Array<number>(batch * m * n).fill(0);
  for (let z = 0; z < batch; z++) {
    for (let i = 0; i < m; i++) {
      for (let q = 0; q < k; q++) {
        const left = a.values[(z * m + i) * k + q] ?? NaN;
        if (left === 0) continue;
        for (let j = 0; j < n; j++) {
          const one = left * (b.values[(z * k + q) * n + j] ?? NaN);
          const at = (z * m + i) * n + j;
          sums[at] = (sums[at] ?? NaN) + one;
          magnitudes[at] = (magnitudes[at] ?? NaN) + Math.abs(one);
        }
      }
    }
  }
  return { sums, magnitudes };
}

function compare(
  what: string,
  dtype: Element,
  actual: readonly number[],
  { sums, magnitudes }: Sums,
  terms: number,
): void {
  assertEquals(actual.length, sums.length, what);
  sums.forEach((sum, i) => {
    const error = roundingError("float32", magnitudes[i] ?? NaN, terms + 1);
    assertRounded(dtype, actual[i] ?? NaN, sum, error, () => `${what} [${i}]`);
  });
}

function denseTensor<D extends DType>(
  device: Device,
  dtype: D,
  { rows, columns, values }: Dense,
  batch: number,
  gap: number,
): Tensor<D, 3> {
  const stride = columns + gap;
  const length = Math.max(batch * rows * stride - gap, 0);
  const padded = Array.from(
    { length },
    (_, i) => i % stride < columns ? values[Math.floor(i / stride) * columns + i % stride] ?? 0 : 0,
  );
  return new Tensor<D, 3>(vectorOf(device, dtype, padded).buffer, {
    dtype,
    shape: [batch, rows, columns],
    strides: [rows * stride, stride, 1],
    offset: 0,
  });
}

function zeroOutside(matrix: Dense, mask: readonly boolean[], size: number): Dense {
  const { rows, columns, values } = matrix;
  return {
    ...matrix,
    values: values.map((value, at) => {
      const [i, j] = [Math.floor(at / columns) % rows, at % columns];
      return mask[Math.floor(i / size) * (columns / size) + Math.floor(j / size)] ? value : 0;
    }),
  };
}

/** The elements of the blocks of a mask, block after block. */
function gather(
  { rows, columns, values }: Dense,
  mask: readonly boolean[],
  size: number,
  batch: number,
): number[] {
  const found: number[] = [];
  for (let z = 0; z < batch; z++) {
    mask.forEach((isThere, at) => {
      if (!isThere) return;
      const [top, left] = [Math.floor(at * size / columns) * size, at % (columns / size) * size];
      for (let i = 0; i < size; i++) {
        const begin = (z * rows + top + i) * columns + left;
        found.push(...values.slice(begin, begin + size));
      }
    });
  }
  return found;
}

function blocksOf(
  device: Device,
  dtype: Element,
  matrix: Dense,
  mask: readonly boolean[],
  size: number,
  batch: number,
): Tensor<Element, 4> {
  const values = gather(matrix, mask, size, batch);
  const count = values.length / (batch * size * size);
  return new Tensor<Element, 4>(vectorOf(device, dtype, values).buffer, {
    dtype,
    shape: [batch, count, size, size],
    strides: [count * size * size, size * size, size, 1],
    offset: 0,
  });
}
