/** One product of the shipped kernel on the emulator, compared with sums in double precision. */
import { matmul } from "../../../generated/matmul.ts";
import type { Device } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../assert.ts";
import { assertProductOf, operandOf, type Storage } from "./products.ts";

type Variant = typeof matmul.variants[number];

interface Case {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements between rows, or columns. */
  readonly gap: number;
  readonly storage?: readonly [a: Storage, b: Storage];
}

/** Instances whose accesses are 16 bytes wide. */
const ALIGNED: readonly string[] = ["_s1", "_s2", "_s3", "_s4"];

/** The first configuration of halves on sm_90a. */
const WIDE = "_MB128_NB256_KB64_num_warps8_num_stages4";

/** Multiplies; `suffix` is that of the instance which the wrapper has to choose. */
export function checkMatmul(
  device: Device,
  dtype: Variant,
  { m, n, k, gap, storage: [left, right] = ["rows", "rows"] }: Case,
  suffix: string,
): void {
  using a = operandOf(device, dtype, [m, k], { storage: left, gap });
  using b = operandOf(device, dtype, [k, n], { storage: right, gap });
  const first = `matmul_${dtype}${suffix}`;
  // Warp groups read bytes across k by matrices of lines 0, 1, 4 and 5 of eight, twice: in two passes.
  const isInPairs = dtype === "int8" && device.info.sm === 90 &&
    (left === "columns" || right === "rows");
  const check = (options: { readonly grid?: readonly [number] }): string => {
    const { result, profile } = matmul(a.tensor, b.tensor, { ...options, profile: true });
    using c = result;
    const { bankConflicts } = profile.shared;
    if (ALIGNED.includes(suffix) && !isInPairs) assertEquals(bankConflicts, 0, profile.kernel);
    assertProductOf(c, a, b);
    // Forms with tensor maps are of the instance too.
    return profile.kernel.replace(/_tensor$/, "");
  };
  const taken = check({});
  if (taken === first) return;
  // Where tuning prefers other tiles for small products, who gives the grid gets the target's first configuration.
  assert(taken.startsWith(`${first}_MB`), taken);
  const height = dtype === "float32" || dtype === "float64" ? 64 : 128;
  const isHalf = dtype === "float16" || dtype === "bfloat16";
  const isWide = device.info.sm === 90 && isHalf && suffix !== "_s5";
  const tiles = Math.ceil(m / height) * Math.ceil(n / (isWide ? 256 : height));
  assertEquals(check({ grid: [tiles] }), isWide ? `${first}${WIDE}` : first);
}
