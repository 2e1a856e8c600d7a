import { compileFile, inspect, inspectIr } from "../../../compiler/mod.ts";
import { PASS_NAMES } from "../../../compiler/driver/passes/passes.ts";
import { assertEquals } from "../../support/assert.ts";

/** The warps of each entry of a kernel. */
function warpsOf(text: string): readonly number[] {
  const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_90a"] });
  assertEquals(diagnostics, []);
  const found = kernels.flatMap(({ instances }) => instances.map(({ config }) => config.numWarps));
  return [...new Set(found)];
}

const rows = (columns: number): string =>
  `__global__ void norm(float *X, float *Y, int N) {
    int c[${columns}] = 0 ... ${columns};
    float x[${columns}] = *?(c < N) (X + get_program_id(0) * N + c);
    *?(c < N) (Y + get_program_id(0) * N + c) = x / x[+];
  }`;

const product = (columns: number): string =>
  `__global__ void product(half *A, half *B, float *C, int K) {
    int rm[128] = 0 ... 128;
    int rn[${columns}] = 0 ... ${columns};
    int rk[32] = 0 ... 32;
    float sum[128, ${columns}] = 0;
    for (int k = 0; k < K; k += 32) {
      half a[128, 32] = *(A + rm[:, newaxis] * K + k + rk[newaxis, :]);
      half b[32, ${columns}] = *(B + (k + rk[:, newaxis]) * ${columns} + rn[newaxis, :]);
      sum += a @ b;
    }
    *(C + rm[:, newaxis] * ${columns} + rn[newaxis, :]) = sum;
  }`;

Deno.test("defaultBlock() gives large tiles more warps than four", () => {
  const rowWarps = [1, 256, 2048, 4096, 8192, 16384, 32768, 65536].map((n) => warpsOf(rows(n)));
  assertEquals(rowWarps, [[4], [4], [4], [8], [8], [16], [32], [32]]);
  assertEquals([64, 128, 256].map((n) => warpsOf(product(n))), [[4], [4], [8]]);
});

/** What a text says of registers in PTX. */
function registersOf(text: string): string | undefined {
  const [kernel] = compileFile({ name: "k.tc", text }, { targets: ["sm_90a"] }).kernels;
  return kernel?.modules[0]?.ptx.match(/\.maxnreg \d+/g)?.[0];
}

Deno.test("defaultBlock() limits registers where a program reduces rows that are too few bytes for the memory", () => {
  const found = [4096, 8192, 16384, 32768].map((n) => registersOf(rows(n)));
  assertEquals(found, [undefined, ".maxnreg 80", ".maxnreg 64", ".maxnreg 64"]);
  // Of two rows of floats a block loads enough; of the same weights all programs load what is in the cache.
  const scaled = (by: string): string =>
    rows(16384).replace("x / x[+]", `*?(c < N) (${by} + c) * x / x[+]`);
  assertEquals(registersOf(scaled("X + N * get_program_id(0) + N")), undefined);
  assertEquals(registersOf(scaled("X")), ".maxnreg 64");
});

Deno.test("defaultBlock() limits no registers where a row is stored before it is reduced, or none is reduced", () => {
  const stored = rows(16384).replace("    *?", "    *?(c < N) (Y + c) = x;\n    *?");
  assertEquals(registersOf(stored), undefined);
  assertEquals(registersOf(rows(16384).replace("x[+]", "2")), undefined);
});

Deno.test("options that state warps or registers stand for themselves", () => {
  assertEquals(registersOf(`#pragma tri num_warps=16\n${rows(16384)}`), undefined);
  assertEquals(registersOf(`#pragma tri config; max_registers=96\n${rows(16384)}`), ".maxnreg 96");
});

Deno.test("defaultBlock() counts the elements of a block, where a program has several", () => {
  assertEquals(warpsOf(`#pragma tri num_ctas=4\n${rows(32768)}`), [8]);
});

Deno.test("compileFile() uses the num_warps that is stated, and 4 for a text with __TRI_NUM_WARPS__", () => {
  assertEquals(warpsOf(`#pragma tri num_warps=2\n${rows(8192)}`), [2]);
  const asks = rows(8192).replace("int c", "int w = __TRI_NUM_WARPS__; *Y = w; int c");
  assertEquals(warpsOf(asks), [4]);
});

Deno.test("inspectIr() chooses the same warps from the text after any pass", () => {
  const file = { name: "k.tc", text: rows(8192) };
  const options = { targets: ["sm_80"], verify: true } as const;
  const ptxAfter = (step: string): string => {
    const text = inspect(file, options, "ir", { kernel: "norm", after: step });
    const ptx = inspectIr({ name: "k.ir", text }, { result: "ptx", defaultTarget: "sm_80" });
    return typeof ptx === "string" ? ptx : ptx.mistake;
  };
  const wanted = ptxAfter("build");
  assertEquals(wanted.match(/\.reqntid \d+/g)?.[0], ".reqntid 256");
  for (const step of PASS_NAMES) assertEquals(ptxAfter(step), wanted, step);
});
