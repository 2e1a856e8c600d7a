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
export interface BlockCase<D extends Element = Element> {
  readonly dtype: D;
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

/** A case on a device: random matrices, and what the kernels get of them. Owns its tensors. */
export class BlockOperands<D extends Element> implements Disposable {
  readonly mask: readonly boolean[];
  readonly sparse: Dense;
  readonly blocks: Tensor<D, 4>;
  readonly #made = new DisposableStack();
  readonly #device: Device;
  readonly #test: BlockCase<D>;

  constructor(device: Device, test: BlockCase<D>) {
    const { dtype, size, batch, blockRows, blockColumns } = test;
    this.#device = device;
    this.#test = test;
    this.mask = randomMask(test);
    this.sparse = zeroOutside(
      this.dense(blockRows * size, blockColumns * size),
      this.mask,
      size,
    );
    const blocks = blocksOf(device, dtype, this.sparse, this.mask, size, batch);
    this.blocks = this.#made.use(blocks);
  }

  [Symbol.dispose](): void {
    this.#made.dispose();
  }

  /** A random batch of dense matrices. */
  dense(rows: number, columns: number): Dense {
    const { dtype, batch } = this.#test;
    return { rows, columns, values: randomNumbers(dtype, batch * rows * columns, 1) };
  }

  upload(matrix: Dense): Tensor<D, 3> {
    const { dtype, batch, gap } = this.#test;
    return this.#made.use(denseTensor(this.#device, dtype, matrix, batch, gap));
  }

  table(values: Int32Array<ArrayBuffer>): Tensor<"int32", 1> {
    return this.#made.use(this.#device.tensor(values, [values.length]));
  }

  /** Poisoned memory for the blocks of a result. */
  poisonedBlocks(count: number): Tensor<D, 4> {
    const { dtype, size, batch } = this.#test;
    const poison = this.#poison(batch * count * size * size);
    return this.#made.use(
      new Tensor<D, 4>(poison, {
        dtype,
        shape: [batch, count, size, size],
        strides: [count * size * size, size * size, size, 1],
        offset: 0,
      }),
    );
  }

  /** Poisoned memory for a dense result. */
  poisonedDense(rows: number, columns: number): Tensor<D, 3> {
    const { dtype, batch } = this.#test;
    const poison = this.#poison(batch * rows * columns);
    const strides = [rows * columns, columns, 1];
    const shape = [batch, rows, columns];
    return this.#made.use(new Tensor<D, 3>(poison, { dtype, shape, strides, offset: 0 }));
  }

  #poison(length: number): Tensor<D>["buffer"] {
    return vectorOf(this.#device, this.#test.dtype, Array(length).fill(77)).buffer;
  }

  /** Compares a result with the product in double precision; `isBlocks`: it is the blocks of the mask alone. */
  compare(what: string, made: Tensor<D>, left: Dense, right: Dense, isBlocks = false): void {
    const { dtype, size, batch } = this.#test;
    const { sums, magnitudes } = product(left, right, batch);
    const extents = { rows: left.rows, columns: right.columns };
    const pick = (values: readonly number[]): readonly number[] =>
      isBlocks ? gather({ ...extents, values }, this.mask, size, batch) : values;
    const expected = { sums: pick(sums), magnitudes: pick(magnitudes) };
    const title =
      `${what} ${dtype}, blocks of ${size}, ${left.rows} x ${left.columns} x ${right.columns}`;
    compare(title, dtype, numbersOf(made), expected, left.columns);
  }
}

/** Runs all three kernels and compares every element. */
export function checkBlockProducts(device: Device, test: BlockCase): void {
  const { size, blockRows, blockColumns, free } = test;
  const [rows, columns] = [blockRows * size, blockColumns * size];
  using at = new BlockOperands(device, test);
  const tables = blockTables(at.mask, blockRows, blockColumns);
  const b = at.dense(columns, free);
  using c = dsd(at.blocks, at.table(tables.rowOffsets), at.table(tables.columns), at.upload(b));
  at.compare("dsd", c, at.sparse, b);

  const a = at.dense(free, rows);
  using d = dds(
    at.upload(a),
    at.blocks,
    at.table(tables.columnOffsets),
    at.table(tables.columnRows),
    at.table(tables.columnNumbers),
  );
  at.compare("dds", d, a, at.sparse);

  const [tall, wide] = [at.dense(rows, free), at.dense(free, columns)];
  const out = at.poisonedBlocks(tables.count);
  sdd(at.upload(tall), at.upload(wide), at.table(tables.rows), at.table(tables.columns), { out });
  at.compare("sdd", out, tall, wide, true);
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

function blocksOf<D extends Element>(
  device: Device,
  dtype: D,
  matrix: Dense,
  mask: readonly boolean[],
  size: number,
  batch: number,
): Tensor<D, 4> {
  const values = gather(matrix, mask, size, batch);
  const count = values.length / (batch * size * size);
  return new Tensor<D, 4>(vectorOf(device, dtype, values).buffer, {
    dtype,
    shape: [batch, count, size, size],
    strides: [count * size * size, size * size, size, 1],
    offset: 0,
  });
}
