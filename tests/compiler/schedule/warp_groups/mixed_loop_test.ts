/** Dots of loops with one operand by tensor copies and one that threads gather, on the emulator with all of its checks. */
import fc, { powersOfTwo } from "../../../support/property.ts";
import { assertEquals } from "../../../support/assert.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import {
  lowerProduct,
  runProduct,
  type TensorProduct,
} from "../../../support/forms/tensor_product.ts";

const PLAIN: TensorProduct = {
  type: "float16",
  mb: 64,
  nb: 64,
  kb: 32,
  numWarps: 4,
  numStages: 4,
  transposed: { a: false, b: false },
  gathered: "a",
};

Deno.test("pipelineMixedDot() preserves dots of any size, whichever operand threads gather", () => {
  const anyProduct: fc.Arbitrary<TensorProduct> = fc.record({
    type: fc.constantFrom("float16" as const, "bfloat16" as const),
    mb: powersOfTwo(6, 7),
    nb: powersOfTwo(6, 7),
    kb: powersOfTwo(4, 6),
    numWarps: fc.constantFrom(4, 8),
    numStages: fc.integer({ min: 3, max: 5 }),
    transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
    gathered: fc.constantFrom("a" as const, "b" as const),
    // The boxes of a first loop are started by a warp beside those of the program.
    loops: fc.constantFrom("two" as const, "nested" as const),
  });
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 150 }),
    n: fc.integer({ min: 1, max: 150 }),
    k: fc.integer({ min: 0, max: 300 }),
  });
  fc.assert(
    fc.property(anyProduct, anySize, (product, size) => {
      const { mb, nb, numWarps } = product;
      // A warp group has at least 64 columns.
      fc.pre(nb >= numWarps / 4 / (mb / 64) * 64);
      const lowered = lowerProduct(product);
      assertEquals(
        copiesOf(lowered.ptx),
        { tensor: true, gathered: true },
        JSON.stringify(product),
      );
      runProduct(product, size, lowered);
    }),
    { numRuns: 4 },
  );
});

ptxasTest("pipelineMixedDot() assembles without a note", async () => {
  for (const gathered of ["a", "b"] as const) {
    const { ptx } = lowerProduct({ ...PLAIN, mb: 128, nb: 256, kb: 64, numWarps: 8, gathered });
    assertEquals(await assemblyNotes(ptx, "sm_90a"), [], gathered);
  }
});

Deno.test("pipelineMixedBeside() is right for every number of iterations and of slots", () => {
  for (const numStages of [3, 4, 5]) {
    const lowered = lowerProduct({ ...PLAIN, numStages });
    assertEquals(lowered.ptx.includes("mbarrier.arrive.shared::cta"), true, "an empty barrier");
    for (const iterations of [0, 1, 2, numStages, numStages + 1, 2 * numStages + 1]) {
      runProduct(
        { ...PLAIN, numStages },
        { m: 40, n: 50, k: Math.max(0, 32 * iterations - 3) },
        lowered,
      );
    }
  }
});

/** Sums of float8 are added apart, so that each dot is finished in its iteration. */
const APART = {
  ...PLAIN,
  type: "float8e4",
  isApart: true,
  transposed: { a: false, b: true },
} as const;

Deno.test("Mixed loops finish dots whose sums are added apart, with and without a warp beside", () => {
  for (const gathered of ["a", "b"] as const) {
    const product = { ...APART, gathered, loops: "two" } as const;
    const lowered = lowerProduct(product);
    assertEquals(copiesOf(lowered.ptx), { tensor: true, gathered: true }, gathered);
    for (const k of [31, 32 * 6 + 5]) runProduct(product, { m: 70, n: 33, k }, lowered);
  }
});

ptxasTest("Mixed loops with sums that are added apart assemble without a note", async () => {
  for (const gathered of ["a", "b"] as const) {
    const { ptx } = lowerProduct({ ...APART, mb: 128, nb: 128, kb: 128, numWarps: 8, gathered });
    assertEquals(await assemblyNotes(ptx, "sm_90a"), [], gathered);
  }
});

/** Which kinds of copies a module has. */
const copiesOf = (ptx: string): Record<"tensor" | "gathered", boolean> => ({
  tensor: ptx.includes("cp.async.bulk.tensor"),
  gathered: /cp\.async\.c[ag]\.shared\.global/.test(ptx),
});
