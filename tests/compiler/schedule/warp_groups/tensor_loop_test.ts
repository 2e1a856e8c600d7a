/** Dots of loops whose operands come by tensor copies, on the emulator with all of its checks. */
import fc, { powersOfTwo } from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../../compiler/ir/verify.ts";
import { tensorMapPlans } from "../../../../compiler/schedule/warp_groups/tensor_maps.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import { assertFound, type Mistake, without } from "../../../support/forms/mistakes.ts";
import {
  lowerProduct,
  runProduct,
  type TensorProduct,
} from "../../../support/forms/tensor_product.ts";

const test = testsInTurn(2);

const PLAIN: TensorProduct = {
  type: "float16",
  mb: 64,
  nb: 64,
  kb: 32,
  numWarps: 4,
  numStages: 3,
  transposed: { a: false, b: false },
};

const anyProduct: fc.Arbitrary<TensorProduct> = fc.record({
  type: fc.constantFrom("float16" as const, "bfloat16" as const),
  mb: powersOfTwo(6, 8),
  nb: powersOfTwo(6, 8),
  kb: powersOfTwo(4, 7),
  numWarps: fc.constantFrom(4, 8),
  numStages: fc.integer({ min: 2, max: 5 }),
  transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
});

Deno.test("pipelineTensorDot() preserves dots of any size, stored in either order", () => {
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 150 }),
    n: fc.integer({ min: 1, max: 150 }),
    k: fc.integer({ min: 0, max: 300 }),
  });
  fc.assert(
    fc.property(anyProduct, anySize, (product, size) => {
      const { mb, nb, kb, numWarps } = product;
      // A warp group has at least 64 columns. The exchange before the store and two slots must fit into shared memory.
      fc.pre(nb >= numWarps / 4 / (mb / 64) * 64);
      fc.pre(mb * nb <= 128 * 256 && (mb + nb) * kb <= 384 * 64);
      runProduct(product, size);
    }),
    { numRuns: 4 },
  );
});

/** What descriptors name along k only, with one of the operands across it. */
const anyAcross: fc.Arbitrary<TensorProduct> = fc.record({
  type: fc.constantFrom("float32" as const, "int8" as const, "float8e4" as const),
  mb: powersOfTwo(6, 8),
  nb: powersOfTwo(6, 8),
  kb: powersOfTwo(3, 7),
  numWarps: fc.constantFrom(4, 8),
  numStages: fc.integer({ min: 2, max: 4 }),
  transposed: fc.constantFrom({ a: false, b: false }, { a: true, b: true }),
});

Deno.test("pipelineTensorDot() reads operands across k into registers, of any size and tile", () => {
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 150 }),
    n: fc.integer({ min: 1, max: 150 }),
    k: fc.integer({ min: 0, max: 300 }),
  });
  fc.assert(
    fc.property(anyAcross, anySize, (product, size) => {
      const { type, mb, nb, kb, numWarps, transposed } = product;
      const bytes = type === "float32" ? 4 : 1;
      const [rows, columns] = transposed.a ? [mb, nb] : [nb, mb];
      fc.pre(kb * bytes >= 32 && columns >= numWarps / 4 / (rows / 64) * 64);
      fc.pre(mb * nb <= 128 * 256 && (mb + nb) * kb * bytes <= 384 * 128);
      const lowered = lowerProduct(product);
      assert(printFunc(lowered.func).includes("registers = true"));
      runProduct(product, size, lowered);
    }),
    { numRuns: 4 },
  );
});

test("pipelineTensorDot() is right for every number of iterations up to twice the slots of the ring", () => {
  for (const numStages of [2, 3]) {
    const product = { ...PLAIN, numStages };
    const lowered = lowerProduct(product);
    const counts = Array.from({ length: 2 * numStages + 2 }, (_, iterations) => iterations);
    for (const iterations of sampled(counts, 2, numStages)) {
      runProduct(product, { m: 65, n: 63, k: 32 * iterations }, lowered);
    }
  }
});

test("pipelineTensorDot() is right in loops that run several times, and in one after another", () => {
  for (const loops of ["nested", "two"] as const) {
    const product = { ...PLAIN, loops };
    const lowered = lowerProduct(product);
    for (const k of [0, 32, 129]) runProduct(product, { m: 64, n: 70, k }, lowered);
  }
});

test("pipelineTensorDot() has no bank conflicts in its loop, whichever way operands are stored", () => {
  const ways = [false, true].flatMap((a) => [false, true].map((b) => ({ a, b })));
  for (const transposed of sampled(ways, 1)) {
    const product = { ...PLAIN, kb: 64, transposed };
    const [few, many] = [64, 320].map((k) => runProduct(product, { m: 64, n: 64, k }));
    // Others are in the store of the result.
    assertEquals(many?.access.bankConflicts, few?.access.bankConflicts);
  }
  for (const [mb, nb] of [[64, 64], [64, 128], [128, 64]] as const) {
    const product: TensorProduct = { ...PLAIN, type: "float32", mb, nb };
    const [few, many] = [64, 320].map((k) => runProduct(product, { m: 64, n: 64, k }));
    assertEquals(many?.access.bankConflicts, few?.access.bankConflicts, `${mb} x ${nb}`);
  }
});

Deno.test("pipelineTensorDot() makes functions that print, are read back as they are, and are valid", () => {
  const printed = printFunc(lowerProduct(PLAIN).func);
  assert(printed.includes("tensor_copy"));
  const read = parseFunc(printed);
  verifyFunc(read);
  assertEquals(printFunc(read), printed);
});

Deno.test("tensorMapPlans() gives boxes as wide as lines of the swizzle, in the order of the maps", () => {
  const plansOf = (product: TensorProduct): string[] =>
    (tensorMapPlans(lowerProduct(product).func) ?? []).map(({ param, box, swizzle }) =>
      `${param} ${box.join("x")} ${swizzle}`
    );
  assertEquals(plansOf(PLAIN), ["A 32x64 64", "B 64x32 128"]);
  assertEquals(plansOf({ ...PLAIN, mb: 128, nb: 256, kb: 64, numWarps: 8 }), [
    "A 64x128 128",
    "B 64x64 128",
  ]);
  assertEquals(plansOf({ ...PLAIN, kb: 16, transposed: { a: true, b: true } }), [
    "A 64x16 128",
    "B 16x64 32",
  ]);
});

Deno.test("planTensorDot() leaves what warp groups cannot do, and tensorMapPlans() refuses it", () => {
  const scheduled = (product: TensorProduct, edit: (text: string) => string): boolean => {
    const text = edit(printFunc(lowerProduct(product).func));
    return tensorMapPlans(parseFunc(text)) !== undefined;
  };
  assert(scheduled(PLAIN, (text) => text));
  // A load that no loop has made copies of.
  const load = "%900: float16[64, 32] = tensor_load %0, %3, %4 {map = 0}\n  return";
  assert(!scheduled(PLAIN, (text) => text.replace("return", load)));
  assert(!scheduled(PLAIN, (text) => text.replace(" box [64, 32] swizzle 128", "")));
});

const MISTAKES: readonly Mistake[] = [
  {
    title: "does not wait for the copies of its slot",
    change: (text) => text.replace(/(try_wait.*\n\s*)@!%p\d+ bra L\d+;/, "$1"),
    kind: "pending copy",
  },
  {
    title: "refills a slot while its dot is under way",
    change: without("wgmma.wait_group.sync.aligned 1;"),
    kind: "pending copy",
  },
  {
    title: "has threads that do not wait for each other before they refill a slot",
    change: without("bar.sync 0;", "wgmma.wait_group.sync.aligned 1;"),
    kind: "pending copy",
  },
  {
    title: "does not wait for the last dot",
    change: without("wgmma.wait_group.sync.aligned 0;"),
    kind: "register in flight",
  },
  {
    title: "leaves its barriers to the next one",
    change: (text) => text.replaceAll(/mbarrier.inval.*/g, ""),
    kind: "barrier misuse",
  },
  {
    title: "has barriers that are not ready for other threads",
    change: without("bar.sync 0;", "fence.mbarrier_init"),
    kind: "barrier misuse",
  },
  {
    title: "has barriers that are not ready for copies",
    change: (text) => text.replaceAll(/fence.mbarrier_init.*/g, ""),
    kind: "missing fence",
  },
  {
    title: "expects fewer bytes than its copies have",
    change: (text) => text.replaceAll(/(expect_tx.*), \d+;/g, "$1, 4096;"),
    kind: "deadlock",
  },
];

test("the emulator finds what is missing in a loop", () => {
  const product = { ...PLAIN, mb: 128, numWarps: 8, loops: "nested" as const };
  const lowered = lowerProduct(product);
  assertFound(
    lowered.ptx,
    MISTAKES,
    (ptx) => runProduct(product, { m: 128, n: 64, k: 320 }, { ...lowered, ptx }),
  );
});

ptxasTest(
  "tensor loops assemble without spills, and without products that wait for each other",
  async () => {
    const shapes = [[64, 64, 64, 4, 4], [128, 256, 64, 8, 4], [128, 128, 64, 4, 3]] as const;
    for (const [mb, nb, kb, numWarps, numStages] of shapes) {
      const { ptx } = lowerProduct({ ...PLAIN, mb, nb, kb, numWarps, numStages });
      assertEquals(await assemblyNotes(ptx, "sm_90a"), [], `${mb}x${nb}x${kb}`);
    }
    // B comes from registers.
    for (const type of sampled(["float32", "float8e4", "int8"] as const, 1)) {
      const kb = type === "float32" ? 32 : 128;
      const tile = { mb: 256, nb: 128, kb, numWarps: 8, numStages: 4 };
      const { ptx } = lowerProduct({ ...PLAIN, ...tile, type });
      assertEquals(await assemblyNotes(ptx, "sm_90a"), [], type);
    }
  },
  test,
);
