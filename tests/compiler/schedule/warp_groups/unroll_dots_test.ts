/** Unrolled loops of dots that add sums of short runs as floats, on the emulator with all of its checks. */
import { walkOps } from "../../../../compiler/ir/walk.ts";
import { assertEquals } from "../../../support/assert.ts";
import { assertFound, type Mistake, without } from "../../../support/forms/mistakes.ts";
import {
  type LoweredProduct,
  lowerProduct,
  runProduct,
  type TensorProduct,
} from "../../../support/forms/tensor_product.ts";
import { sampled } from "../../../support/sampled.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";

/** One block fills a multiprocessor; each group has three parts of its 256 columns. */
const WIDE: TensorProduct = {
  type: "float8e4",
  isApart: true,
  mb: 128,
  nb: 256,
  kb: 32,
  numWarps: 8,
  numStages: 4,
  transposed: { a: false, b: true },
  isAligned: true,
};

/** One part, and a block for each program. */
const NARROW: TensorProduct = { ...WIDE, mb: 64, nb: 64, numWarps: 4, numStages: 3 };

function unrolledLoops({ func }: LoweredProduct): number[] {
  const found: number[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "while" && op.attrs.unrolled !== undefined) found.push(op.attrs.unrolled);
  });
  return found;
}

const count = (text: string, word: string): number => text.split(word).length - 1;

Deno.test("unrollDots() is right for every number of iterations and programs of a block", () => {
  const wide = lowerProduct(WIDE);
  assertEquals(unrolledLoops(wide), [4]);
  assertEquals(count(wide.ptx, "m64n88k32"), 4 * 2);
  assertEquals(count(wide.ptx, "m64n80k32"), 4);
  const depths = [1, 32, 33, 64, 96, 97, 128, 160, 193, 256, 288];
  for (const k of sampled(depths, 2)) {
    runProduct({ ...WIDE, blocks: 1 }, { m: 65, n: 260, k }, wide);
  }
  const narrow = lowerProduct(NARROW);
  assertEquals(unrolledLoops(narrow), [4]);
  for (const k of [0, ...sampled(depths, 4)]) runProduct(NARROW, { m: 65, n: 68, k }, narrow);
});

Deno.test("unrollDots() leaves dots that add to their sums in place", () => {
  const { isApart: _isApart, ...inPlace } = NARROW;
  assertEquals(unrolledLoops(lowerProduct(inPlace)), []);
});

/** What begins the second copy of the body: its first part is started, and the last one of the dot before is awaited. */
const SECOND = "wgmma.commit_group.sync.aligned;";

const MISTAKES: readonly Mistake[] = [
  {
    title: "takes up a dot without waiting for its last part",
    change: without("wgmma.wait_group.sync.aligned 1;", SECOND, SECOND),
    kind: "register in flight",
  },
  {
    title: "leaves the loop while a part is under way",
    change: (text) => {
      const last = text.lastIndexOf("wgmma.wait_group.sync.aligned 0;");
      const left = text.lastIndexOf("wgmma.wait_group.sync.aligned 0;", last - 1);
      return text.slice(0, left) + text.slice(left).replace(/wgmma.wait_group.*/, "");
    },
    kind: "register in flight",
  },
];

Deno.test("the emulator finds what is missing between iterations that follow each other", () => {
  const lowered = lowerProduct(NARROW);
  assertFound(lowered.ptx, MISTAKES, (ptx) => {
    for (const k of [96, 128]) runProduct(NARROW, { m: 64, n: 64, k }, { ...lowered, ptx });
  });
});

ptxasTest(
  "unrolled loops assemble without spills, and without products that wait for each other",
  async () => {
    for (const kb of [32, 128]) {
      const { ptx } = lowerProduct({ ...WIDE, kb });
      assertEquals(await assemblyNotes(ptx, "sm_90a"), [], `${kb}`);
    }
  },
);
