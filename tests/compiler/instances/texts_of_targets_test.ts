/** An instance has one contract and one list of conditions for all targets, whatever texts they take. */
import type { InstanceInfo } from "../../../compiler/contract/types.ts";
import { printExpr } from "../../../compiler/contract/expr.ts";
import type { CompileResult } from "../../../compiler/options.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { shipped } from "../../support/shipped.ts";

const BOTH: readonly TargetName[] = ["sm_70", "sm_90"];

const compiled = (text: string, targets = BOTH): CompileResult =>
  compileFile({ name: "k.tc", text }, { targets });

const instancesOf = ({ kernels }: CompileResult): readonly InstanceInfo[] =>
  kernels.flatMap(({ instances }) => instances);

const messages = ({ diagnostics }: CompileResult): readonly string[] =>
  diagnostics.map(({ code, message }) => `${code} ${message}`);

Deno.test("conditions of automatic instances are those that the texts of all targets ask for", () => {
  // Tiles of so different sizes that the small one counts for nothing, and not the same one for both targets.
  const text = (tall: string, wide: string): string => `
#if __TRI_ARCH__ >= 800
#define TM ${tall}
#else
#define TM ${wide}
#endif
__global__ void f(half *X, half *Y, half *Z, int ldx, int ldy, int ldz) {
  int rm[TM] = 0 ... TM;
  int rn[16] = 0 ... 16;
  int r[64] = 0 ... 64;
  half *px[TM, 16] = X + rm[:, newaxis] * ldx + rn[newaxis, :];
  half *py[16, 64] = Y + rn[:, newaxis] * ldy + r[newaxis, :];
  half *pz[TM, 64] = Z + rm[:, newaxis] * ldz + r[newaxis, :];
  float z[TM, 64] = *px @ *py;
  *pz = z;
}`;
  const conditions = (source: string, targets?: readonly TargetName[]): readonly string[] =>
    instancesOf(compiled(source, targets))
      .flatMap(({ specialization }) => specialization.map(({ text }) => text));
  const all = ["ldx", "ldy", "ldz"].map((name) => `${name} % 8 == 0`);
  const pointers = ["X", "Y", "Z"].map((name) => `${name} % 16 == 0`);
  assertEquals(conditions(text("256", "64"), ["sm_90"]), [
    ...pointers,
    "ldx % 8 == 0",
    "ldz % 8 == 0",
  ]);
  assertEquals(conditions(text("64", "256"), ["sm_90"]), [...pointers, ...all]);
  for (const source of [text("256", "64"), text("64", "256")]) {
    assertEquals(conditions(source), [...pointers, ...all]);
  }
});

Deno.test("the product of a dense and a block-sparse matrix copies asynchronously, whatever other targets take", () => {
  const ofTargets = (
    ...targets: TargetName[]
  ): readonly [readonly string[], number | undefined] => {
    const { kernels } = compileFile(shipped("block_sparse.tc"), {
      targets,
      include: shipped,
      kernels: ["dds"],
      defines: [{ name: "TYPE", value: "bfloat16" }, { name: "BLOCK", value: "16" }],
    });
    const conditions = kernels.flatMap(({ instances }) => instances)
      .flatMap(({ specialization }) => specialization.map(({ text }) => text));
    const ptx = kernels.flatMap(({ modules }) => modules).at(-1)?.ptx;
    return [conditions, ptx?.match(/cp\.async\.c/g)?.length];
  };
  assertEquals(ofTargets("sm_70", "sm_80"), ofTargets("sm_80"));
});

const COPY = (tile: string, more = ""): string => `
#if __TRI_ARCH__ >= 900
#define TILE ${tile}
#else
#define TILE 64
#endif
${more}
__global__ void f(float *X, float *Y, int N) {
  int r[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(r < N) (Y + r) = *?(r < N) (X + r);
}`;

Deno.test("targets whose code shows different grids are refused, with both places", () => {
  const text = `
#if __TRI_ARCH__ >= 900
#define TM 32
#else
#define TM 64
#endif
__global__ void f(float *X, float *Y, int N) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < N) (Y + r) = *?(r < N) (X + r);
}`;
  const result = compiled(text);
  assertEquals(messages(result), [
    "E9002 the code shows that axis 0 of the grid is `cdiv(N, 32)` for sm_90, but `cdiv(N, 64)` for sm_70",
  ]);
  assertEquals(result.diagnostics[0]?.notes.length, 1);
  for (const target of BOTH) assertEquals(messages(compiled(text, [target])), []);
});

Deno.test("targets for which pragmas mean different grids and tensors are refused", () => {
  assertEquals(messages(compiled(COPY("32", "#pragma tri grid(cdiv(N, TILE))"))), [
    "E9002 axis 0 of the grid is `cdiv(N, 32)` for sm_90, but `cdiv(N, 64)` for sm_70",
  ]);
  assertEquals(messages(compiled(COPY("256", "#pragma tri tensor X : in float[N + TILE - 64]"))), [
    "E9002 `X` is `[N + 192] strides [1]` for sm_90, but `[N] strides [1]` for sm_70",
  ]);
  assertEquals(messages(compiled(COPY("64", "#pragma tri grid(cdiv(N, TILE))"))), []);
});

Deno.test("targets with different parameters are refused", () => {
  const text = `
__global__ void f(float *X
#if __TRI_ARCH__ >= 900
, int N
#endif
) { *X = 1; }`;
  assertEquals(messages(compiled(text)), [
    "E9002 the parameters of `f` are (float32 *X, int32 N) for sm_90, but (float32 *X) for sm_70",
  ]);
});

Deno.test("demands of all texts add up, and a launch may touch what it touches in any of them", () => {
  const result = compiled(
    COPY(
      "8",
      `
#pragma tri require(N % TILE == 0)
#pragma tri specialize(N <= TILE)
`,
    ).replace("Y + r)", "Y + r + N % TILE)").replace(
      "X + r)",
      `X
#if __TRI_ARCH__ >= 900
 + 2 * r
#else
 + r
#endif
)`,
    ),
  );
  assertEquals(messages(result), []);
  const [general, small] = instancesOf(result);
  assertEquals(
    general?.contract.ranges.filter(({ param }) => param === "X").map(({ last }) =>
      printExpr(last)
    ),
    ["max(N - 1, (N - 1) * 2)"],
  );
  const requires = general?.contract.requires.map(({ text }) => text) ?? [];
  assertEquals(requires.filter((text) => text.includes("TILE")).length, 2, requires.join("; "));
  assertEquals(small?.specialization.map(({ text }) => text), ["N <= 64 && N <= 8"]);
});
