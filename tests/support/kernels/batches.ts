/** Batched and split products of fresh random matrices, compared with sums in double precision. */
import { batchedMatmul } from "../../../generated/batched_matmul.ts";
import { splitKMatmul } from "../../../generated/split_k_matmul.ts";
import { type Device, Tensor } from "../../../ffi/mod.ts";
import { assertEquals } from "../assert.ts";
import { numbersOf, stridedOf } from "../numbers.ts";
import { assertProduct, assertProductOf, operandOf, productNumbers } from "../products.ts";

export type BatchType = typeof batchedMatmul.variants[number];

/** A batch of products. */
export interface Batch {
  readonly z: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements after each row, or column, and after each matrix. */
  readonly gap: number;
  /** How each matrix of b lies. */
  readonly storage?: "rows" | "columns";
  /** All products have the same b. */
  readonly isShared?: boolean;
}

/** Multiplies and compares; gives the name of the entry, where the device says it. */
export function checkBatch(
  device: Device,
  dtype: BatchType,
  { z, m, n, k, gap, storage = "rows", isShared = false }: Batch,
  profile: boolean,
): string | undefined {
  const xs = productNumbers(dtype, z * m * k);
  const ys = productNumbers(dtype, (isShared ? 1 : z) * k * n);
  const a = stridedOf(device, dtype, xs, [z, m, k], [m * (k + gap) + gap, k + gap, 1]);
  const inner = storage === "rows" ? [n + gap, 1] : [1, k + gap];
  const size = storage === "rows" ? k * (n + gap) : n * (k + gap);
  const own = stridedOf(device, dtype, ys, [isShared ? 1 : z, k, n], [size + gap, ...inner]);
  const b = isShared ? broadcast(own, z) : own;
  let kernel: string | undefined;
  let c: Tensor;
  if (profile) {
    const all = batchedMatmul(a, b, { profile: true });
    [c, kernel] = [all.result, all.profile.kernel];
  } else c = batchedMatmul(a, b);
  const found = numbersOf(c);
  for (let i = 0; i < z; i++) {
    const from = isShared ? 0 : i * k * n;
    const operands = [xs.slice(i * m * k, (i + 1) * m * k), ys.slice(from, from + k * n)] as const;
    assertProduct(found.slice(i * m * n, (i + 1) * m * n), operands, { dtype, m, n, k });
  }
  for (const { buffer } of [a, own, c]) buffer[Symbol.dispose]();
  return kernel;
}

/** The same matrix z times. */
function broadcast(one: Tensor<BatchType, 3>, z: number): Tensor<BatchType, 3> {
  const { buffer, dtype, shape: [, k, n], strides: [, row, column], offset } = one;
  return new Tensor(buffer, { dtype, shape: [z, k, n], strides: [0, row, column], offset });
}

/** A product split along k. */
export interface Split {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly gap: number;
  readonly splits: number;
}

/** Multiplies twice with the same locks and compares; with `ordered`, both results have the same bits. */
export function checkSplit(
  device: Device,
  dtype: BatchType,
  { m, n, k, gap, splits }: Split,
  ordered: boolean,
): void {
  using a = operandOf(device, dtype, [m, k], { gap });
  using b = operandOf(device, dtype, [k, n], { gap });
  const count = 2 * Math.ceil(m / 64) * Math.ceil(n / 64);
  using locks = device.zeros("int32", [count]);
  const results = [1, 2].map(() => {
    using c = splitKMatmul(a.tensor, b.tensor, locks, { splits, ordered });
    // Each program adds its part to what is there already, which rounds it.
    assertProductOf(c, a, b, splits);
    return numbersOf(c);
  });
  if (ordered) assertEquals(results[0], results[1]);
  assertEquals(numbersOf(locks), Array.from({ length: count }, () => 0));
}
