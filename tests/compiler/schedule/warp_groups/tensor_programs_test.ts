/** Loops over the programs of a block, through whose ends copies run on, on the emulator with all of its checks. */
import fc, { powersOfTwo } from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { loopOverPrograms } from "../../../../compiler/ir/program_loop.ts";
import { verifyFunc } from "../../../../compiler/ir/verify.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import { assertFound, type Mistake, without } from "../../../support/forms/mistakes.ts";
import {
  lowerProduct,
  runProduct,
  type TensorProduct,
} from "../../../support/forms/tensor_product.ts";

const test = testsInTurn(2);

/** One block takes most of a multiprocessor's registers. */
const ALONE: TensorProduct = {
  type: "float16",
  mb: 64,
  nb: 256,
  kb: 32,
  numWarps: 16,
  numStages: 4,
  transposed: { a: false, b: false },
  isAligned: true,
};

test("pipelineAcrossPrograms() is right for every number of blocks, programs and iterations", () => {
  const lowered = lowerProduct(ALONE);
  const cases = [1, 2, 3, 7].flatMap((blocks) => [0, 32, 33, 75, 160].map((k) => ({ blocks, k })));
  for (const { blocks, k } of sampled(cases, 4)) {
    runProduct({ ...ALONE, blocks }, { m: 65, n: 520, k }, lowered);
  }
});

Deno.test("the first dot of a program makes sums that are zero before it, and adds to others", () => {
  const addsAtFirst = (ptx: string): boolean => {
    const [first = "", ...others] = ptx.match(/wgmma\.mma_async.*/g) ?? [];
    assert(others.every((dot) => / 1, 1, 1, 0, [01];$/.test(dot)), "later dots add");
    return / 1, 1, 1, 0, [01];$/.test(first);
  };
  for (const first of [undefined, 1] as const) {
    const product: TensorProduct = { ...ALONE, ...first && { first }, blocks: 1 };
    const lowered = lowerProduct(product);
    assertEquals(addsAtFirst(lowered.ptx), first !== undefined);
    for (const k of [0, 32, 40, 70]) runProduct(product, { m: 65, n: 260, k }, lowered);
  }
});

Deno.test("warps that exchange results among themselves wait between programs without iterations", () => {
  const product: TensorProduct = { ...ALONE, mb: 128, numWarps: 8, blocks: 1 };
  runProduct(product, { m: 130, n: 520, k: 0 }, lowerProduct(product));
});

Deno.test("pipelineAcrossPrograms() preserves dots of any size, stored in either order", () => {
  const anyProduct: fc.Arbitrary<TensorProduct> = fc.record({
    type: fc.constantFrom("float16" as const, "bfloat16" as const),
    mb: powersOfTwo(6, 8),
    nb: powersOfTwo(6, 8),
    kb: powersOfTwo(5, 7),
    numWarps: fc.constantFrom(8, 16),
    numStages: fc.integer({ min: 3, max: 8 }),
    transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
    isAligned: fc.constant(true as const),
  });
  const anySize = fc.record({
    m: fc.integer({ min: 1, max: 150 }),
    n: fc.integer({ min: 1, max: 75 }).map((vectors) => 4 * vectors),
    k: fc.integer({ min: 0, max: 200 }),
    blocks: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(anyProduct, anySize, (product, { blocks, ...size }) => {
      const { mb, nb, numWarps } = product;
      fc.pre(nb >= numWarps / 4 / (mb / 64) * 64 && mb * nb <= 128 * 256);
      const lowered = lowerProduct(product);
      fc.pre(loopOverPrograms(lowered.func) !== undefined);
      runProduct({ ...product, blocks }, size, lowered);
    }),
    { numRuns: 4 },
  );
});

Deno.test("loopPrograms() leaves programs whose blocks share a multiprocessor, and loops that run several times", () => {
  const isPersistent = (product: TensorProduct): boolean =>
    loopOverPrograms(lowerProduct(product).func) !== undefined;
  assert(isPersistent(ALONE));
  assert(!isPersistent({ ...ALONE, numWarps: 8, nb: 128 }));
  assert(!isPersistent({ ...ALONE, loops: "nested" }));
  assert(!isPersistent({ ...ALONE, loops: "two" }));
});

Deno.test("pipelineAcrossPrograms() makes functions that print, are read back as they are, and are valid", () => {
  const printed = printFunc(lowerProduct(ALONE).func);
  const read = parseFunc(printed);
  verifyFunc(read);
  assertEquals(printFunc(read), printed);
});

const MISTAKES: readonly Mistake[] = [
  {
    title: "does not wait for the copies of its slot",
    change: (text) => text.replace(/(try_wait.*\n\s*)@!%p\d+ bra L\d+;/, "$1"),
    kind: "pending copy",
  },
  {
    title: "refills a slot while its dot is under way",
    change: without(/wgmma\.wait_group\.sync\.aligned 1;/g),
    kind: "pending copy",
  },
  {
    title: "has threads that do not wait for each other before they refill a slot",
    change: without("bar.sync 0;", "aligned 1;", "try_wait", "aligned 1;"),
    kind: "pending copy",
  },
  {
    title: "does not wait for the last dot of a program",
    change: without(/wgmma\.wait_group\.sync\.aligned 0;/g),
    kind: "register in flight",
  },
];

test("the emulator finds what is missing in a loop whose copies run on into the next program", () => {
  const product = { ...ALONE, blocks: 1 };
  const lowered = lowerProduct(product);
  assertFound(
    lowered.ptx,
    MISTAKES,
    (ptx) => runProduct(product, { m: 128, n: 256, k: 160 }, { ...lowered, ptx }),
  );
});

ptxasTest(
  "loops over programs assemble without spills, and without products that wait for each other",
  async () => {
    const shapes = [[64, 256, 32, 16, 4], [128, 128, 64, 16, 4]] as const;
    for (const [mb, nb, kb, numWarps, numStages] of shapes) {
      const { ptx } = lowerProduct({ ...ALONE, mb, nb, kb, numWarps, numStages });
      assertEquals(await assemblyNotes(ptx, "sm_90a"), [], `${mb}x${nb}x${kb}`);
    }
  },
  test,
);
