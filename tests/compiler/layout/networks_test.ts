/** Layouts of networks that sort. */
import { assertEquals } from "../../support/assert.ts";
import { lowerGeneral, printEntry } from "../../support/compiler/lowering.ts";

/** Shuffles of a kernel of one warp that loads, changes and stores 256 integers. */
function shuffles(change: string): number {
  const { kernel } = lowerGeneral(`#pragma tri grid(1)
#pragma tri config; num_warps=1
__global__ void k(int *X, int *Y) {
  int i[256] = 0 ... 256;
  *(Y + i) = ${change};
}`);
  return printEntry(kernel).split("shfl.").length - 1;
}

Deno.test("networksOf() lets sorts exchange near elements within threads", () => {
  // Each of 32 threads has 8 neighbours; strides of 8 to 128 occur 5, 4, 3, 2 and 1 times.
  assertEquals(shuffles("sort(*(X + i))"), 8 * (5 + 4 + 3 + 2 + 1));
});

Deno.test("networksOf() leaves a few exchanges in the layout of their data", () => {
  // Of lanes 0 to 31; those of registers are renamed.
  assertEquals(shuffles("flip(*(X + i), 0)"), 8);
});
