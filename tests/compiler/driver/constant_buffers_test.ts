/** Constant buffers from the text to PTX: their sizes over all instances, their names, and how they are read. */
import type { CompiledKernel, TargetName } from "../../../compiler/mod.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { listDiagnostics } from "../../support/compiler/parse.ts";
import { compileFile } from "../../support/compile.ts";

const PLAIN = "#pragma tri specialize(off)\n";

function compile(text: string, targets: readonly TargetName[] = ["sm_80"]): {
  readonly kernels: readonly CompiledKernel[];
  readonly errors: string;
} {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets, verify: true });
  return {
    kernels,
    errors: listDiagnostics(diagnostics.filter(({ severity }) => severity === "error")),
  };
}

function compileClean(text: string, targets?: readonly TargetName[]): readonly CompiledKernel[] {
  const { kernels, errors } = compile(text, targets);
  assertEquals(errors, "");
  return kernels;
}

/** The PTX of the only kernel for the first target. */
const ptxOf = (text: string): string =>
  must(compileClean(`${PLAIN}${text}`)[0]?.modules[0], "module").ptx;

/** Instructions of the body, without operands. */
function instructions(ptx: string): string[] {
  return must(parsePtx(ptx).kernels[0], "kernel").body.flatMap((item) =>
    item.kind === "instruction" ? [[item.opcode, ...item.modifiers].join(".")] : []
  );
}

const loadsOf = (ptx: string): string[] =>
  instructions(ptx).filter((text) => text.startsWith("ld.") && !text.startsWith("ld.param"));

Deno.test("compileFile() declares a variable for each buffer that a kernel reads", () => {
  const [first, second] = compileClean(`
#define N 3
char __constant__ *AD = calloc(N * sizeof(int));
float __constant__ *BD = calloc(64);
char __constant__ *unused = calloc(8);
__global__ void f(int *Y) { *Y = *((int __constant__*) AD) + (int) BD[1]; }
__global__ void g(float *Y) { if (0) *Y = AD[0]; *Y = BD[2]; }
`);
  assertEquals(first?.constants, [{ name: "AD", bytes: 12 }, { name: "BD", bytes: 64 }]);
  assertEquals(second?.constants, [{ name: "BD", bytes: 64 }]);
  const { variables } = parsePtx(must(first?.modules[0], "module").ptx);
  const spelled = variables.map(({ space, name, align, type, count, visible }) =>
    `${visible} ${space} ${name} ${align} ${type} ${count}`
  );
  assertEquals(spelled.toSorted(), ["true const AD 16 b8 12", "true const BD 16 b8 64"]);
});

Deno.test("compileFile() makes a buffer as large as the largest instance wants it", () => {
  const [kernel] = compileClean(`
#pragma tri variants N in {16, 64, 32}
int __constant__ *T = calloc(4 * N);
__global__ void f(int *Y) { *(Y + 0 ... N) = *(T + 0 ... N); }
`);
  assertEquals(kernel?.constants, [{ name: "T", bytes: 256 }]);
  const { variables } = parsePtx(must(kernel?.modules[0], "module").ptx);
  assertEquals(variables.map(({ name, count }) => `${name} ${count}`), ["T 256"]);
});

Deno.test("compileFile() refuses instances whose buffers together are too much (E7005)", () => {
  const { errors } = compile(`
#pragma tri variants N in {1, 2}
int __constant__ *A = calloc(N == 1 ? 49152 : 16);
int __constant__ *B = calloc(N == 1 ? 16 : 49152);
__global__ void f(int *Y) { *Y = A[0] + B[1]; }
`);
  assertEquals(
    errors,
    `5:41: error E7005: the constant buffers of all instances take 98304 bytes; the limit is 65536
  | __global__ void f(int *Y) { *Y = A[0] + B[1]; }
  |                                         ^
  hint: pass larger tables by pointer
`,
  );
});

Deno.test("compileFile() refuses names that images have for something else (E7010)", () => {
  for (const name of ["f_a16", "tri_table", "_", "WARP_SZ", "vprintf"]) {
    const { errors } = compile(`
char __constant__ *${name} = calloc(16);
__global__ void f(char *Y) { *(Y + 0 ... 128) = *${name}; }
`);
    const at = `  | __global__ void f(char *Y) { *(Y + 0 ... 128) = *${name}; }`;
    assertEquals(
      errors,
      `3:50: error E7010: a constant buffer cannot be called \`${name}\`
${at}
  |${" ".repeat(50)}${"^".repeat(name.length)}
  hint: the name is reserved in the image; rename the buffer
`,
    );
  }
  for (const name of ["add", "f_b16", "triangle", "__x"]) {
    compileClean(
      `char __constant__ *${name} = calloc(16); __global__ void f(char *Y) { *Y = *${name}; }`,
    );
  }
});

const HEAD = "int __constant__ *T = calloc(4096);\n";
const kernelOf = (body: string): string =>
  ptxOf(
    `${HEAD}__global__ void f(int *X __noalias, int *Y __noalias, int n) { int r[256] = 0 ... 256; ${body} }`,
  );

Deno.test("compileFile() reads one location of constant memory through its cache, several by generic addresses", () => {
  const rows: Readonly<Record<string, readonly string[]>> = {
    "*Y = T[n];": ["ld.const.b32"],
    "*(Y + r) = T[n] + 0 * r;": ["ld.const.b32"],
    "*(Y + r) = *(T + (n + 0 * r));": ["ld.const.b32"],
    // The lanes of a warp lie side by side in a row.
    "*(Y + ((0 ... 2)[:, newaxis] * 256 + r[newaxis, :])) = (*(T + 0 ... 2))[:, newaxis];": [
      "ld.const.b32",
    ],
    "*(Y + r) = *(T + r);": ["ld.b32", "ld.b32"],
    "*(Y + r) = *((char __constant__*) T + r);": ["ld.b8", "ld.b8"],
    '*(Y + r) = load(T + r, r < n, 7, "cg");': ["ld.b32", "ld.b32"],
  };
  for (const [body, wanted] of Object.entries(rows)) {
    assertEquals(loadsOf(kernelOf(body)), wanted, body);
  }
});

Deno.test("compileFile() reads constant memory in vectors where its user stores vectors", () => {
  const [kernel] = compileClean(`${HEAD}__global__ void f(int *Y __aligned(16)) {
    int r[512] = 0 ... 512;
    *(Y + r) = *(T + r);
  }`);
  assertEquals(loadsOf(must(kernel?.modules[0], "module").ptx), ["ld.v4.b32"]);
});

Deno.test("compileFile() needs no barrier and no exchange for constant memory", () => {
  for (
    const body of [
      "*(Y + r) = 1; *(Y + r) = *(T + r) + T[n];",
      "int d[64] = *(T + 0 ... 64); int t[64, 64] = d[:, newaxis] + d[newaxis, :]; " +
      "*(Y + ((0 ... 64)[:, newaxis] * 64 + (0 ... 64)[newaxis, :])) = t;",
    ]
  ) {
    const found = instructions(kernelOf(body));
    assertEquals(found.filter((text) => /^bar|shared/.test(text)), [], body);
  }
});

Deno.test("compileFile() prefetches no constant memory, and copies none of it asynchronously", () => {
  assert(!kernelOf("prefetch(T + r); *(Y + r) = *(T + r);").includes("prefetch"));
  const ptx = ptxOf(`float __constant__ *W = calloc(65536);
__global__ void f(float *X, float *Y, int n) {
  int i[32] = 0 ... 32;
  float acc[32, 32] = 0;
  for (int k = 0; k < n; k++) {
    float w[32, 32] = *(W + (k * 1024 + i[:, newaxis] * 32 + i[newaxis, :]));
    acc += *(X + (k * 1024 + i[:, newaxis] * 32 + i[newaxis, :])) @ w;
  }
  *(Y + (i[:, newaxis] * 32 + i[newaxis, :])) = acc;
}`);
  for (const line of ptx.split("\n").filter((text) => text.includes("cp.async.c"))) {
    assert(!line.includes("W"), line);
  }
  const loads = loadsOf(ptx);
  assert(loads.some((text) => /^ld(\.v\d)?\.b32$/.test(text)), loads.join(" "));
});

Deno.test("inferring a contract, constant memory is the compiler's own affair", () => {
  const [kernel] = compileClean(`${HEAD}
__global__ void f(int *Y, int n) {
  int r[256] = get_program_id(0) * 256 + 0 ... 256;
  *?(r < n) (Y + r) = *(T + (r & 1023));
}`);
  const { params, tensors, ranges } = must(kernel?.instances[0], "instance").contract;
  assertEquals(params.map(({ name }) => name), ["Y", "n"]);
  assertEquals(tensors.map(({ param }) => param), ["Y"]);
  assertEquals(ranges.map(({ param }) => param), ["Y"]);
});
