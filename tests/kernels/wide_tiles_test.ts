/** Tiles that only sm_90a has and that only large products take: each is launched alone, on small products. */
import { matmul } from "../../generated/matmul.ts";
import { matmulNarrow } from "../../generated/matmul_narrow.ts";
import { must } from "../../compiler/support/bug.ts";
import { defineKernel, type KernelFacts } from "../../ffi/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";
import { assertProductOf, operandOf, type ProductType } from "../support/kernels/products.ts";
import { deviceFor } from "./devices.ts";
import { checkNarrow } from "../support/kernels/matmul_narrow.ts";

const test = testsInTurn(2);

/** The kernel with one instance, which every launch takes. */
function kernelOf<Kernel extends object>(
  { contract }: { readonly contract: Omit<KernelFacts, "images"> },
  symbol: string,
): Kernel {
  const { tuning: _, ...facts } = contract;
  const { when: _conditions, ...instance } = must(
    contract.instances.find((one) => one.symbol === symbol),
    symbol,
  );
  const file = `../../generated/${facts.name}/${facts.name}.sm_90a.ptx`;
  const url = (): URL => new URL(file, import.meta.url);
  return defineKernel<Kernel, string>({
    ...facts,
    variants: facts.variants.filter(({ name }) => name === instance.variant),
    instances: [instance],
    images: [{ target: "sm_90a", kind: "ptx", url }],
  });
}

const CASES: readonly (readonly [ProductType, string, "rows" | "columns"])[] = [
  ["float32", "s1_MB128_NB256_KB16_num_warps8", "rows"],
  ["float64", "s1_MB128_NB128_KB16_num_warps8", "rows"],
  ["int8", "s2_MB128_NB256_KB128_num_warps8_num_stages4", "columns"],
  // A block does several programs in turn: there are more than the emulator has threads.
  ["float16", "s1_MB128_NB256_KB64_num_warps8_num_stages4", "rows"],
  ["bfloat16", "s2_MB128_NB256_KB64_num_warps8_num_stages4", "columns"],
];

const hasForm = (dtype: ProductType): boolean => dtype !== "float32" && dtype !== "float64";

test("matmul() multiplies matrices of sizes that are no multiples of the wide tiles of sm_90a", () => {
  using device = deviceFor("sm_90a");
  for (const [dtype, end, storage] of sampled(CASES, 2)) {
    const symbol = `matmul_${dtype}_${end}`;
    const kernel = kernelOf<typeof matmul>(matmul, symbol);
    const depth = hasForm(dtype) ? 144 : 36;
    using a = operandOf(device, dtype, [131, depth]);
    using b = operandOf(device, dtype, [depth, 272], { storage });
    for (const form of hasForm(dtype) ? ["plain", "fast"] as const : ["plain"] as const) {
      const { result, profile } = kernel(a.tensor, b.tensor, { form, profile: true });
      using c = result;
      assertEquals(profile.kernel, form === "fast" ? `${symbol}_tensor` : symbol);
      assertEquals(profile.shared.bankConflicts, 0, symbol);
      assertProductOf(c, a, b);
    }
  }
});

test("matmulNarrow() multiplies matrices of sizes that are no multiples of the wide tiles of sm_90a", () => {
  using device = deviceFor("sm_90a");
  const tiles = { s1: "MB128_NB256", s2: "MB256_NB128" } as const;
  for (const [specialization, tile] of sampled(Object.entries(tiles), 1)) {
    const suffix = `_${specialization}_${tile}_KB32_num_warps8_num_stages4`;
    const kernel = kernelOf<typeof matmulNarrow>(matmulNarrow, `matmul_narrow_tf32${suffix}`);
    const run = { m: 131, n: 260, k: 68, gap: 0, columns: specialization === "s1" };
    checkNarrow(device, "tf32", run, { suffix }, kernel);
  }
});
