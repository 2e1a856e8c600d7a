/** One product of the shipped kernel on the emulator, compared with sums in double precision. */
import { matmul } from "../../generated/matmul.ts";
import type { Device } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { assertProductOf, operandOf, type Storage } from "../support/products.ts";

type Variant = typeof matmul.variants[number];

interface Case {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements between rows, or columns. */
  readonly gap: number;
  readonly storage?: readonly [a: Storage, b: Storage];
}

/** Multiplies; `suffix` is that of the instance which the wrapper has to choose. */
export function checkMatmul(
  device: Device,
  dtype: Variant,
  { m, n, k, gap, storage: [left, right] = ["rows", "rows"] }: Case,
  suffix: string,
): void {
  using a = operandOf(device, dtype, [m, k], { storage: left, gap });
  using b = operandOf(device, dtype, [k, n], { storage: right, gap });
  const { result, profile } = matmul(a.tensor, b.tensor, { profile: true });
  using c = result;
  assertEquals(profile.kernel, `matmul_${dtype}${suffix}`);
  if (suffix !== "") assertEquals(profile.shared.bankConflicts, 0, profile.kernel);
  assertProductOf(c, a, b);
}
