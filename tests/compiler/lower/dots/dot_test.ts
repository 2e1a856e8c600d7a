/** Products of single tiles on the emulator: every target, every pair of types, any shape. */
import fc from "../../../support/property.ts";
import { assertEquals } from "../../../support/assert.ts";
import {
  checkProduct,
  PRODUCTS,
  type ProductTypes,
  spelled,
} from "../../../support/kernels/product_run.ts";
import { lowerText, printEntry } from "../../../support/compiler/lowering.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";

const test = testsInTurn(2);

interface Tile {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly numWarps: number;
  readonly transposed: { readonly a: boolean; readonly b: boolean };
}

/** `C = 1 + A @ B` on one tile. */
function tileText(types: ProductTypes, { m, n, k, numWarps, transposed }: Tile, mode = ""): string {
  const [a, b, c] = [spelled(types.a), spelled(types.b), spelled(types.sum)];
  const [left, right] = [transposed.a ? "^(*pa)" : "*pa", transposed.b ? "^(*pb)" : "*pb"];
  return `#pragma tri kernel k
#pragma tri config ; num_warps=${numWarps}
${mode === "" ? "" : `#pragma tri dot(${mode})`}
__global__ void k(${a} *A, ${b} *B, ${c} *C, int M, int N, int K, int lda, int ldb, int ldc) {
  int rm[${m}] = 0 ... ${m};
  int rn[${n}] = 0 ... ${n};
  int rk[${k}] = 0 ... ${k};
  ${a} *pa[${transposed.a ? `${k}, ${m}` : `${m}, ${k}`}] = A + ${
    transposed.a ? "rk[:, newaxis] * lda + rm[newaxis, :]" : "rm[:, newaxis] * lda + rk[newaxis, :]"
  };
  ${b} *pb[${transposed.b ? `${n}, ${k}` : `${k}, ${n}`}] = B + ${
    transposed.b ? "rn[:, newaxis] * ldb + rk[newaxis, :]" : "rk[:, newaxis] * ldb + rn[newaxis, :]"
  };
  ${c} sum[${m}, ${n}] = 1;
  sum += ${left} @ ${right};
  *(C + rm[:, newaxis] * ldc + rn[newaxis, :]) = sum;
}
`;
}

const extent = (max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max }).map((bits) => 2 ** bits);
const anyTile: fc.Arbitrary<Tile> = fc.record({
  m: extent(7),
  n: extent(6),
  k: extent(6),
  numWarps: fc.constantFrom(1, 2, 4, 8),
  transposed: fc.record({ a: fc.boolean(), b: fc.boolean() }),
});

for (const target of Object.keys(TARGETS) as TargetName[]) {
  Deno.test(`lowerDot() multiplies tiles of any shape and type, on ${target}`, () => {
    fc.assert(
      fc.property(anyTile, fc.constantFrom(...PRODUCTS), fc.nat(3), (tile, types, gap) => {
        const text = tileText(types, tile);
        checkProduct(
          { text, target, types, tile: [tile.m, tile.n] },
          { m: tile.m, n: tile.n, k: tile.k, transposed: tile.transposed, start: 1, gap },
        );
      }),
      { numRuns: 12 },
    );
  });
}

/** Instruction by target for tiles that fit all of them. */
const INSTRUCTIONS: readonly (readonly [TargetName, number, string | undefined, string?])[] = [
  ["sm_70", 0, "m8n8k4.row.col.f32.f16.f16.f32"],
  ["sm_70", 1, undefined],
  ["sm_75", 0, "m16n8k8.row.col.f32.f16.f16.f32"],
  ["sm_75", 4, "m8n8k16.row.col.s32.s8.s8.s32"],
  ["sm_80", 0, "m16n8k16.row.col.f32.f16.f16.f32"],
  ["sm_80", 1, "m16n8k16.row.col.f32.bf16.bf16.f32"],
  ["sm_80", 2, undefined],
  ["sm_80", 2, "m16n8k8.row.col.f32.tf32.tf32.f32", "tf32"],
  ["sm_75", 2, undefined, "tf32"],
  ["sm_80", 3, "m8n8k4.row.col.f64.f64.f64.f64"],
  ["sm_90", 3, "m16n8k8.row.col.f64.f64.f64.f64"],
  ["sm_80", 5, "m16n8k32.row.col.s32.u8.s8.s32"],
];

Deno.test("lowerDot() takes the matrix instruction of target and types, or none", () => {
  for (const [target, index, expected, mode] of INSTRUCTIONS) {
    const types = must(PRODUCTS[index], "types");
    const tile = { m: 64, n: 32, k: 32, numWarps: 4, transposed: { a: false, b: false } };
    const [instance] = lowerText(tileText(types, tile, mode), target);
    const ptx = printEntry(must(instance, "instance").kernel, target);
    const found = new Set([...ptx.matchAll(/mma\.sync\.aligned\.(\S+)/g)].map(([, name]) => name));
    assertEquals([...found], expected === undefined ? [] : [expected], `${target} ${types.a}`);
  }
});

test("lowerDot() rounds to tf32 only where the program says so", () => {
  const types = { ...must(PRODUCTS[2], "float"), error: 2 ** -10 };
  const tile = { m: 32, n: 32, k: 16, numWarps: 2, transposed: { a: true, b: false } };
  for (const target of ["sm_75", "sm_80", "sm_120"] as const) {
    checkProduct(
      { text: tileText(types, tile, "tf32"), target, types, tile: [32, 32] },
      { ...tile, start: 1 },
    );
  }
});

test("lowerDot() loads aligned operands for tensor cores without bank conflicts", () => {
  const cases = (["sm_75", "sm_80", "sm_90a"] as const).flatMap((target) =>
    [false, true].flatMap((a) =>
      [false, true].flatMap((b) => [1, 4, 8].map((numWarps) => ({ target, a, b, numWarps })))
    )
  );
  for (const { target, a, b, numWarps } of sampled(cases, 3)) {
    const tile = { m: 128, n: 64, k: 64, numWarps, transposed: { a, b } };
    const types = must(PRODUCTS[0], "half");
    const { access } = checkProduct(
      { text: tileText(types, tile), target, types, tile: [128, 64] },
      { ...tile, start: 1 },
    );
    assertEquals(access.bankConflicts, 0, `${target} ${JSON.stringify(tile)}`);
  }
});
