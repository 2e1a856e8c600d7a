/** Batched and split products of fresh random matrices, compared with sums in double precision. */
import { batchedMatmul } from "../../../generated/batched_matmul.ts";
import { addParts } from "../../../generated/add_parts.ts";
import { splitKMatmul } from "../../../generated/split_k_matmul.ts";
import { type Device, Tensor } from "../../../ffi/mod.ts";
import { numbersOf, stridedOf } from "../numbers.ts";
import { assertProduct, assertProductOf, operandOf, productNumbers } from "./products.ts";

export type BatchType = typeof batchedMatmul.variants[number];
export type SplitType = typeof splitKMatmul.variants[number];

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

/** Multiplies in parts, adds these, and compares; gives the name of the entry that multiplied, where the device says it. */
export function checkSplit(
  device: Device,
  dtype: SplitType,
  { m, n, k, gap, splits }: Split,
  profile: boolean,
): string | undefined {
  using a = operandOf(device, dtype, [m, k], { gap });
  using b = operandOf(device, dtype, [k, n], { gap });
  let kernel: string | undefined;
  let parts: Tensor<"float32" | "float64", 3>;
  if (profile) {
    const all = splitKMatmul(a.tensor, b.tensor, { splits, profile: true });
    [parts, kernel] = [all.result, all.profile.kernel];
  } else parts = splitKMatmul(a.tensor, b.tensor, { splits });
  const shared = device.empty(dtype, [m, n + gap]);
  const c = addParts(parts, { out: shared.narrow(1, 0, n) });
  assertProductOf(c, a, b);
  for (const { buffer } of [parts, shared]) buffer[Symbol.dispose]();
  return kernel;
}
