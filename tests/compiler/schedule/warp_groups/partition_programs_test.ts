/** Blocks whose warp groups do programs of their own beside each other, on the emulator with all of its checks. */
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { partitionsOf } from "../../../../compiler/ir/program_loop.ts";
import { Evaluator } from "../../../../compiler/names/evaluation.ts";
import { verifyFunc } from "../../../../compiler/ir/verify.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import { assertFound, type Mistake, without } from "../../../support/forms/mistakes.ts";
import {
  lowerProduct,
  runProduct,
  type TensorProduct,
} from "../../../support/forms/tensor_product.ts";

const test = testsInTurn(2);

/** The sums of a program take half of the registers that a group of warps has. */
const PARTITIONS: TensorProduct = {
  type: "float16",
  mb: 128,
  nb: 128,
  kb: 32,
  numWarps: 4,
  numStages: 5,
  transposed: { a: false, b: false },
  isAligned: true,
};

test("pipelinePartitions() is right for every number of blocks, programs and iterations", () => {
  const lowered = lowerProduct(PARTITIONS);
  const cases = [1, 2, 4].flatMap((blocks) =>
    // Less than a round of the ring, a round, two, and more; programs for one partition alone, and for both.
    [0, 32, 70, 160, 190, 320, 390].flatMap((k) => [75, 130, 260].map((n) => ({ blocks, n, k })))
  );
  for (const { blocks, n, k } of sampled(cases, 4)) {
    runProduct({ ...PARTITIONS, blocks }, { m: 65, n: 4 * Math.ceil(n / 4), k }, lowered);
  }
});

test("pipelinePartitions() does dots of every shape that fills a group's registers", () => {
  const cases: readonly Partial<TensorProduct>[] = [
    { type: "bfloat16", mb: 64, nb: 256, kb: 16, transposed: { a: true, b: true } },
    { mb: 256, nb: 64, kb: 16, numStages: 8, transposed: { a: false, b: true } },
  ];
  for (const changed of sampled(cases, 1)) {
    const product = { ...PARTITIONS, ...changed };
    const lowered = lowerProduct(product);
    assertEquals(partitionsOf(lowered.func), 2, JSON.stringify(changed));
    runProduct({ ...product, blocks: 1 }, { m: 130, n: 300, k: 200 }, lowered);
  }
});

Deno.test("loopPrograms() makes partitions only of groups that the sums of two programs fill", () => {
  const countOf = (product: TensorProduct): number => partitionsOf(lowerProduct(product).func);
  assertEquals(countOf(PARTITIONS), 2);
  assertEquals(countOf({ ...PARTITIONS, nb: 64 }), 1);
  assertEquals(countOf({ ...PARTITIONS, numWarps: 8, nb: 256 }), 1);
  assertEquals(countOf({ ...PARTITIONS, loops: "two" }), 1);
  // Narrow types come from registers in one of their orders; with few slots copies would come too late.
  assertEquals(countOf({ ...PARTITIONS, type: "float8e4", transposed: { a: false, b: true } }), 1);
  assertEquals(countOf({ ...PARTITIONS, numStages: 4 }), 1);
});

Deno.test("pipelinePartitions() makes functions that print, are read back as they are, and are valid", () => {
  const printed = printFunc(lowerProduct(PARTITIONS).func);
  const read = parseFunc(printed);
  verifyFunc(read);
  assertEquals(printFunc(read), printed);
});

Deno.test("a debugger finds the elements of a program in the registers of the focused warp's partition", () => {
  const { func } = lowerProduct(PARTITIONS);
  const evaluator = new Evaluator(func, { homes: [], partitions: { count: 2, warps: 4 } });
  assertEquals([0, 3, 4, 7, 8, 11].map((warp) => evaluator.firstWarp(warp)), [0, 0, 4, 4, 4, 4]);
});

const MISTAKES: readonly Mistake[] = [
  {
    title: "does not wait for the copies of its slot",
    change: (text) =>
      text.replace(
        /(shared::cta\.b64 (%p\d+), .*\n\s*)@!\2 bra L\d+;\n(?=(?:.*\n){1,12}\s*wgmma\.fence)/,
        "$1",
      ),
  },
  {
    title: "frees a slot while its dot is under way",
    change: without("wgmma.wait_group.sync.aligned 1;"),
    kind: "pending copy",
  },
  {
    title: "does not wait for the last dot of a program",
    change: without("wgmma.wait_group.sync.aligned 0;"),
    kind: "register in flight",
  },
  {
    title: "does not let the other partition's turn begin",
    change: without(/@%p\d+ mbarrier\.arrive\.shared::cta\.b64 .*/, "wgmma.commit_group"),
  },
  {
    title: "has slots that are filled before they are free",
    change: (text) =>
      text.replace(/(try_wait.*\n\s*)@!%p\d+ bra L\d+;(?=\n\s*mbarrier\.arrive\.expect_tx)/, "$1"),
  },
  {
    title: "lets partitions exchange through the same memory",
    change: (text) => text.replace(/mul\.lo\.u32 (%r\d+), (%r\d+), \d+;/, "mov.u32 $1, 0;"),
  },
];

test("the emulator finds what is missing where partitions do programs beside each other", () => {
  const product = { ...PARTITIONS, blocks: 1 };
  const lowered = lowerProduct(product);
  assert(lowered.ptx.includes("setmaxnreg"), "a group leaves its registers to the partitions");
  assertFound(
    lowered.ptx,
    MISTAKES,
    (ptx) => runProduct(product, { m: 128, n: 512, k: 200 }, { ...lowered, ptx }),
  );
});

ptxasTest(
  "partitions assemble without spills, and without products that wait for each other",
  async () => {
    for (const [mb, nb, kb, numStages] of [[128, 128, 64, 6], [64, 256, 64, 5]] as const) {
      const { ptx } = lowerProduct({ ...PARTITIONS, mb, nb, kb, numStages });
      assertEquals(await assemblyNotes(ptx, "sm_90a"), [], `${mb}x${nb}x${kb}`);
    }
  },
  test,
);
