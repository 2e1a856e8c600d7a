/** Products in loops: operands that come rounds ahead, on the emulator, which sees races and steps beyond an end. */
import fc, { powersOfTwo } from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled } from "../../../support/sampled.ts";
import { lowerGeneral, opsNamed } from "../../../support/compiler/lowering.ts";
import {
  checkProduct,
  PRODUCTS,
  type ProductTypes,
  spelled,
} from "../../../support/kernels/product_run.ts";
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { verifyFunc } from "../../../../compiler/ir/verify.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";

interface Loop {
  readonly mb: number;
  readonly nb: number;
  readonly kb: number;
  readonly numWarps: number;
  readonly numStages: number | undefined;
  readonly isMasked: boolean;
  /** The body's loads and steps; the seed's by default. */
  readonly body?: string;
}

function loopText(types: ProductTypes, loop: Loop): string {
  const [a, b, c] = [spelled(types.a), spelled(types.b), spelled(types.sum)];
  const { mb, nb, kb, numWarps, numStages, isMasked } = loop;
  const masks = isMasked
    ? [
      "*?(rm[:, newaxis] < M && rk[newaxis, :] < k) pa",
      "*?(rk[:, newaxis] < k && rn[newaxis, :] < N) pb",
    ]
    : ["*pa", "*pb"];
  return `#pragma tri kernel k
#pragma tri config ; num_warps=${numWarps}${
    numStages === undefined ? "" : `, num_stages=${numStages}`
  }
__global__ void k(${a} *A __noalias, ${b} *B __noalias, ${c} *C __noalias,
                  int M, int N, int K, int lda, int ldb, int ldc) {
  int pid = get_program_id(0);
  int tiles = (N + ${nb} - 1) / ${nb};
  int rm[${mb}] = pid / tiles * ${mb} + 0 ... ${mb};
  int rn[${nb}] = pid % tiles * ${nb} + 0 ... ${nb};
  int rk[${kb}] = 0 ... ${kb};
  ${a} *pa[${mb}, ${kb}] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  ${b} *pb[${kb}, ${nb}] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  ${c} acc[${mb}, ${nb}] = 0;
  for (int k = K; k > 0; k -= ${kb}) {
    ${loop.body ?? `acc += (${masks[0]}) @ (${masks[1]});`}
    pa += ${kb};
    pb += ${kb} * ldb;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * ldc + rn[newaxis, :]) = acc;
}
`;
}

const anyLoop = fc.record({
  mb: powersOfTwo(3, 6),
  nb: powersOfTwo(3, 6),
  kb: powersOfTwo(3, 6),
  numWarps: fc.constantFrom(1, 2, 4, 8),
  numStages: fc.constantFrom(undefined, 1, 2, 3, 4),
  isMasked: fc.boolean(),
});
const anySize = fc.record({
  m: fc.integer({ min: 1, max: 80 }),
  n: fc.integer({ min: 1, max: 80 }),
  k: fc.integer({ min: 0, max: 150 }),
  gap: fc.nat(3),
});

for (const target of Object.keys(TARGETS) as TargetName[]) {
  Deno.test(`pipelineLoop() preserves dots of any size, on ${target}`, () => {
    fc.assert(
      fc.property(
        anyLoop,
        anySize,
        fc.constantFrom(...PRODUCTS),
        fc.boolean(),
        (loop, size, types, isRound) => {
          // Without masks, whole tiles are read; with round sizes the aligned instance runs too.
          const up = (value: number, unit: number): number => unit * Math.ceil(value / unit);
          const whole = !loop.isMasked || isRound;
          const run = whole
            ? {
              m: up(size.m, Math.max(16, loop.mb)),
              n: up(size.n, Math.max(16, loop.nb)),
              k: up(Math.max(1, size.k), Math.max(16, loop.kb)),
              gap: isRound ? 0 : size.gap,
            }
            : { ...size, k: Math.max(1, size.k) };
          const text = loopText(types, loop);
          checkProduct({ text, target, types, tile: [loop.mb, loop.nb] }, run);
        },
      ),
      { numRuns: 3 },
    );
  });
}

const PLAIN: Loop = {
  mb: 64,
  nb: 64,
  kb: 32,
  numWarps: 4,
  numStages: undefined,
  isMasked: true,
};
const half = must(PRODUCTS[0], "half");

/** The loop with rows that are multiples of 16 bytes. */
function alignedText(loop: Loop): string {
  return loopText(half, loop).replaceAll(/int (ld[ab])/g, "int $1 __multipleof(8)")
    .replace(
      "int M, int N, int K",
      "int M __multipleof(8), int N __multipleof(8), int K __multipleof(8)",
    )
    .replaceAll("__noalias", "__noalias __aligned(16)");
}

Deno.test("pipelineLoop() copies asynchronously where the target can and rows are aligned", () => {
  for (const [target, loads] of [["sm_75", 0], ["sm_80", 6], ["sm_90a", 6]] as const) {
    const text = alignedText(PLAIN);
    // Two operands, two rounds before the loop, one in it.
    assertEquals(opsNamed(lowerGeneral(text, target).laidOut, "async_copy").length, loads, target);
  }
});

Deno.test("pipelineLoop() divides a dot along k, and loads each slice's operands during the slice before", () => {
  const { laidOut } = lowerGeneral(alignedText({ ...PLAIN, kb: 64 }), "sm_80");
  const loop = must(opsNamed(laidOut, "while")[0], "loop");
  const names = must(loop.regions[1], "body").ops.map(({ name }) => name)
    .filter((name) =>
      name === "dot" ||
      ["async_copy", "local_load_slice", "commit_group", "wait_group"].includes(name)
    );
  const reads = ["local_load_slice", "local_load_slice"];
  const step = [...reads, "async_copy", "async_copy", "dot"];
  assertEquals(names, [
    ...[...step, ...step, ...step],
    ...["commit_group", "wait_group", ...reads, "dot"],
  ]);
});

Deno.test("pipelineLoop() has no bank conflicts on aligned operands", () => {
  const cases = (["sm_75", "sm_80", "sm_90a"] as const).flatMap((target) =>
    PRODUCTS.slice(0, 4).map((types) => ({ target, types }))
  );
  for (const { target, types } of sampled(cases, 2)) {
    const kb = types.sum === "float64" ? 16 : 32;
    const loop = { ...PLAIN, kb };
    const { access } = checkProduct(
      { text: loopText(types, loop), target, types, tile: [64, 64] },
      { m: 64, n: 64, k: 96 },
    );
    assertEquals(access.bankConflicts, 0, `${target} ${types.a}`);
  }
});

Deno.test("pipelineLoop() prefetches nothing across a store in the loop that may change it", () => {
  const body = "acc += *pa @ *pb; *(C + rm[:, newaxis] * ldc + rn[newaxis, :]) = acc;";
  const { laidOut } = lowerGeneral(loopText(half, { ...PLAIN, body }), "sm_80");
  assertEquals(opsNamed(laidOut, "async_copy").length, 0);
  assert(opsNamed(laidOut, "local_store").length > 0);
});

Deno.test("pipelineLoop() prefetches indices from a table, and only those that the loop would load", () => {
  const text = `#pragma tri kernel k
__global__ void k(half *A __noalias, half *B __noalias, int *Table __noalias, float *C __noalias, int count) {
  int r[32] = 0 ... 32;
  half *pa[32, 32] = A + r[:, newaxis] * 32 + r[newaxis, :];
  half *pb[32, 32] = B + r[:, newaxis] * 32 + r[newaxis, :];
  float acc[32, 32] = 0;
  for (int i = 0; i < count; i++) acc += *(pa + i * 1024) @ *(pb + *(Table + i) * 1024);
  *(C + r[:, newaxis] * 32 + r[newaxis, :]) = acc;
}
`;
  const { laidOut } = lowerGeneral(text, "sm_80");
  assert(opsNamed(laidOut, "local_store").length > 0);
  const tables = opsNamed(laidOut, "load").filter(({ results }) =>
    results[0]?.type.element === "int32"
  );
  // One before the loop and one in it.
  assertEquals(tables.map(({ operands }) => operands.length), [2, 2]);
});

Deno.test("pipelineLoop() makes functions that print, are read back as they are, and are valid", () => {
  const cases = (["sm_70", "sm_75", "sm_80", "sm_90a"] as const).flatMap((target) =>
    [1, undefined].flatMap((numStages) => [16, 64].map((kb) => ({ target, numStages, kb })))
  );
  for (const { target, numStages, kb } of sampled(cases, 5)) {
    const text = alignedText({ ...PLAIN, kb, numStages });
    const printed = printFunc(lowerGeneral(text, target).laidOut);
    assert(printed.includes("shared_buffer"), target);
    const read = parseFunc(printed);
    verifyFunc(read);
    assertEquals(printFunc(read), printed);
  }
});
