import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import config from "../../deno.json" with { type: "json" };
import {
  type CompileOptions,
  type CompileResult,
  type Diagnostic,
  inspect,
  type KernelContract,
  type Phase,
  printExpr,
  type SourceFile,
  TARGETS,
} from "../../compiler/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { VERSION } from "../../compiler/version.ts";
import { compileFile } from "../support/compile.ts";

const OPTIONS: CompileOptions = { targets: ["sm_80"], verify: true };

/** The transposition of the tutorials; `checks`: with its bounds checks. */
function transpose(pragmas: readonly string[], checks: boolean): SourceFile {
  const masks = `
  bool checkx[TM, TN] = (rm[:, newaxis] < M) && (rn[newaxis, :] < N);
  bool checky[TN, TM] = (rm[newaxis, :] < M) && (rn[:, newaxis] < N);
  *?(checky)py = ^(*?(checkx)px);`;
  const text = `${pragmas.map((line) => `#pragma tri ${line}\n`).join("")}
// Transposes a matrix.
__global__ void transpose(TYPE * X, TYPE * Y, int M, int N, int ldx, int ldy) {
  int pidm = get_program_id(0);
  int pidn = get_program_id(1);
  int rm[TM] = pidm * TM + 0 ... TM;
  int rn[TN] = pidn * TN + 0 ... TN;
  TYPE* px[TM, TN] = X + rm[:, newaxis] * ldx + rn[newaxis, :];
  TYPE* py[TN, TM] = Y + rm[newaxis, :] + rn[:, newaxis] * ldy;
  ${checks ? masks : "*py = ^(*px);"}
}
`;
  return { name: "transpose.tc", text };
}

const TILES = ["variant TYPE=float", "config TM=64, TN=32"];
const codes = (diagnostics: readonly Diagnostic[]): string[] => diagnostics.map(({ code }) => code);

function compile(file: SourceFile | string, options: Partial<CompileOptions> = {}): CompileResult {
  const source = typeof file === "string" ? { name: "k.tc", text: file } : file;
  return compileFile(source, { ...OPTIONS, ...options });
}

/** The result of text without errors or warnings. */
function compileClean(
  file: SourceFile | string,
  options: Partial<CompileOptions> = {},
): CompileResult {
  const result = compile(file, options);
  assertEquals(result.diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  return result;
}

function contractOf(result: CompileResult): KernelContract {
  return must(result.kernels[0]?.instances[0], "an instance").contract;
}

function tensorTexts({ tensors }: KernelContract): string[] {
  return tensors.map(({ param, extents, strides, origin }) =>
    `${origin} ${param}[${extents.map(printExpr).join(", ")}] strides [${
      strides.map(printExpr).join(", ")
    }]`
  );
}

Deno.test("compileFile() infers the whole contract of the bounds-checked transposition", () => {
  const contract = contractOf(compileClean(transpose(TILES, true)));
  assertEquals(contract.grid?.map(printExpr), ["cdiv(M, TM)", "cdiv(N, TN)"]);
  assertEquals(contract.gridOrigin, "inferred");
  assertEquals(tensorTexts(contract), [
    "inferred X[M, N] strides [ldx, 1]",
    "inferred Y[N, M] strides [ldy, 1]",
  ]);
  assertEquals(contract.params.slice(0, 3), [
    { kind: "pointer", name: "X", type: "float32", access: "in", align: 4, noalias: false },
    { kind: "pointer", name: "Y", type: "float32", access: "out", align: 4, noalias: false },
    { kind: "scalar", name: "M", type: "int32" },
  ]);
});

Deno.test("compileFile() takes the plain transposition's grid and tensors from pragmas", () => {
  const contract = contractOf(compileClean(transpose([
    ...TILES,
    "grid((M + TM - 1) / TM, cdiv(N, TN))",
    "tensor X : in TYPE[M, N] strides [ldx, 1] align(16)",
    "tensor Y : out float[N, M] strides [ldy, 1] noalias",
    'require(M % TM == 0, "whole tiles")',
  ], false)));
  assertEquals(contract.gridOrigin, "pragma");
  assertEquals(contract.grid?.map(printExpr), ["(M + TM - 1) / TM", "cdiv(N, TN)"]);
  assertEquals(tensorTexts(contract), [
    "pragma X[M, N] strides [ldx, 1]",
    "pragma Y[N, M] strides [ldy, 1]",
  ]);
  assertEquals(contract.params.slice(0, 3), [
    { kind: "pointer", name: "X", type: "float32", access: "in", align: 16, noalias: false },
    { kind: "pointer", name: "Y", type: "float32", access: "out", align: 4, noalias: true },
    { kind: "scalar", name: "M", type: "int32", multipleof: 64 },
  ]);
  assertEquals(contract.requires[0]?.text, "whole tiles");
  assertEquals(contract.ranges.map(({ param, last }) => `${param} ${printExpr(last)}`), [
    "X max(0, (64 * grid[0] - 1) * ldx) + (32 * grid[1] - 1)",
    "Y 64 * grid[0] - 1 + max(0, (32 * grid[1] - 1) * ldy)",
  ]);
});

Deno.test("compileFile() accepts pragmas that say what the code shows, in other words", () => {
  compileClean(transpose([
    ...TILES,
    "grid((M + TM - 1) / TM, (N - 1) / 32 + 1)",
    "tensor X : in TYPE[N, M] strides [1, ldx]",
  ], true));
});

Deno.test("compileFile() leaves the plain transposition's grid to the caller when -D is all there is", () => {
  const defines = [{ name: "TYPE", value: "half" }, { name: "TM", value: "32" }, {
    name: "TN",
    value: "32",
  }];
  const result = compileClean(transpose([], false), { defines });
  const contract = contractOf(result);
  assertEquals([contract.grid, contract.gridOrigin, contract.tensors], [null, "caller", []]);
  assertEquals(result.kernels[0]?.instances.map(({ symbol }) => symbol), [
    "transpose",
    "transpose_a16",
  ]);
  assertEquals(result.kernels[0]?.doc, "Transposes a matrix.");
});

Deno.test("compileFile() specialises on multiples of 16 bytes of the smallest element", () => {
  const kernel = (head: string): string =>
    `#pragma tri config T=64
${head} {
  int r[T] = get_program_id(0) * T + 0 ... T;
  *?(r < N) (Y + r) = *?(r < N) (X + r * inc);
}`;
  const conditions = (text: string): string[] =>
    compileClean(text).kernels[0]?.instances.flatMap(({ specialization }) =>
      specialization.map((one) => one.text)
    ) ?? [];
  const aligned = ["X % 16 == 0", "Y % 16 == 0", "N % 4 == 0"];
  assertEquals(conditions(kernel("__global__ void k(double *X, float *Y, int N, int inc)")), [
    ...["inc == 1", ...aligned],
    ...[...aligned, "inc % 4 == 0"],
    "inc == 1",
  ]);
  const promised =
    "double *X __aligned(16), double *Y __aligned(32), int N __multipleof(8), int inc __multipleof(6)";
  assertEquals(conditions(kernel(`__global__ void k(${promised})`)), []);
  assertEquals(
    conditions(
      `#pragma tri specialize(off)\n${
        kernel("__global__ void k(char *X, float *Y, int N, int inc)")
      }`,
    ),
    [],
  );
  assertEquals(
    conditions(
      `#pragma tri specialize(inc == 1, N % T == 0 && X % 16 == 0)\n${
        kernel("__global__ void k(char *X, float *Y, int N, int inc)")
      }`,
    ),
    ["inc == 1", "N % T == 0 && X % 16 == 0"],
  );
});

Deno.test("compileFile() uses the values that a specialisation requires", () => {
  const { kernels } = compileClean(`
#define ALIGNED (X % 16 == 0 && Y % 16 == 0 && N % (16 / sizeof(float)) == 0)
#pragma tri specialize(ALIGNED, ALIGNED && inc == 1)
__global__ void k(float *X, float *Y, int N, int inc) {
  int r[1024] = get_program_id(0) * 1024 + 0 ... 1024;
  *?(r < N) (Y + r) = *?(r < N) (X + r * inc);
}`);
  const entries = kernels[0]?.modules[0]?.ptx.split(".visible .entry").slice(1) ?? [];
  assertEquals(
    entries.map((text) => text.match(/ld\.global[\w.]*|st\.global[\w.]*/g)?.slice(0, 1)),
    [["ld.global.b32"], ["ld.global.b32"], ["ld.global.v4.b32"]],
  );
});

Deno.test("compileFile() takes the pragma's word that a result is only reread", () => {
  const kernel = (attribute: string): string => `
#pragma tri tensor Y : out float[1] ${attribute}
__global__ void k(float *Y) { *Y = 1; *Y = *Y + 1; }`;
  const { kernels } = compileClean(kernel("reread"));
  const [param] = kernels[0]?.instances[0]?.contract.params ?? [];
  assertEquals(param?.kind === "pointer" ? param.access : undefined, "out");
  const { diagnostics } = compileFile({ name: "t.tc", text: kernel("") }, { targets: ["sm_80"] });
  assertEquals(diagnostics.map(({ code }) => code), ["E9002"]);
});

Deno.test("compileFile() specialises nothing in a kernel that touches no memory", () => {
  const { kernels } = compileClean("__global__ void k(float *X, int ldx __multipleof(8)) {}");
  assertEquals(kernels[0]?.instances.map(({ symbol, contract }) => [symbol, contract.grid]), [[
    "k",
    null,
  ]]);
});

Deno.test("compileFile() names entries after kernel, variant and specialisation in every module", () => {
  const { kernels } = compileClean(
    transpose(["variants TYPE in {float, char}", "config TM=32, TN=32"], true),
    {
      targets: ["sm_70", "sm_90a"],
    },
  );
  const symbols = [
    "transpose_float32",
    "transpose_float32_a16",
    "transpose_int8",
    "transpose_int8_a16",
  ];
  const kernel = must(kernels[0], "a kernel");
  assertEquals(kernel.instances.map(({ symbol }) => symbol), symbols);
  assertEquals(
    kernel.modules.map(({ target, entries }) => [target, entries.map(({ symbol }) => symbol)]),
    [
      ["sm_70", symbols],
      ["sm_90a", symbols],
    ],
  );
  for (const { ptx, target } of kernel.modules) {
    assertStringIncludes(ptx, `.target ${target}`);
    for (const symbol of symbols) assertStringIncludes(ptx, `.entry ${symbol}(`);
  }
});

Deno.test("compileFile() gives the same bytes each time, for every target", () => {
  const file = transpose(TILES, true);
  const targets = Object.values(TARGETS).map(({ name }) => name);
  assertEquals(compileClean(file, { targets }), compileClean(file, { targets }));
});

Deno.test("compileFile() compiles again for each target only if the text depends on the target", () => {
  const { kernels } = compileClean(
    `__global__ void k(int *X) {
#if __TRI_ARCH__ >= 800
  *X = 80;
#else
  *X = __TRI_NUM_WARPS__ + __TRI__;
#endif
}`,
    { targets: ["sm_75", "sm_86"] },
  );
  const [old, recent] = kernels[0]?.modules ?? [];
  assertStringIncludes(must(recent, "a module").ptx, "80");
  assertStringIncludes(
    must(old, "a module").ptx,
    `${4 + 10000 * VERSION.major + 100 * VERSION.minor + VERSION.patch}`,
  );
});

Deno.test("compileFile() compiles kernels of one file each with its own parameters", () => {
  const { kernels } = compileClean(`
#pragma tri config T=32
__global__ void first(float *X, int N) { int r[T] = 0 ... T; *?(r < N) (X + r) = 0; }
#pragma tri variants TYPE in {int, long}
#pragma tri config U=64; num_warps=2
__global__ void second(TYPE *X, int N) { int r[U] = 0 ... U; *?(r < N) (X + r) = 1; }
`);
  assertEquals(
    kernels.map(({ name, instances }) => [name, instances.length, instances[0]?.config.numWarps]),
    [
      ["first", 2, 4],
      ["second", 4, 2],
    ],
  );
  const only = compileClean("__global__ void a() {} __global__ void b() {}", { kernels: ["b"] });
  assertEquals(only.kernels.map(({ name }) => name), ["b"]);
});

Deno.test("compileFile() still rejects a call of another kernel", () => {
  const { diagnostics } = compile("__global__ void a(int n) {} __global__ void b() { a(1); }");
  assertEquals(codes(diagnostics), ["E4022"]);
});

Deno.test("compileFile() reports each mistake once, and names the instance where only one has it", () => {
  const { diagnostics, kernels } = compile(transpose(["variants TYPE in {float, half}"], true));
  assertEquals(kernels, []);
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message.split(" ")[0]}`), [
    "E2001 `TM`",
    "E2001 `TN`",
  ]);

  const partial = compile(`#pragma tri variants TM in {32, 48}
__global__ void k(float *X) { *(X + 0 ... TM) = 0; }`);
  assertEquals(codes(partial.diagnostics).includes("E3021"), true);
  assertEquals(partial.diagnostics[0]?.notes.at(-1)?.message, "in the instance TM=48");
});

Deno.test("compileFile() warns of unsigned numbers below 0 unless some variants have signed ones", () => {
  const clamp = (types: string): readonly string[] =>
    codes(
      compile(`#pragma tri variants TYPE in {${types}}
__global__ void clamp(TYPE *X) { *X = *X < 0 ? 0 : *X; }`).diagnostics,
    );
  assertEquals(clamp("unsigned, int"), []);
  assertEquals(clamp("unsigned, uint8"), ["W5029"]);
});

Deno.test("compileFile() lets a later override replace an earlier one and pragmas, contracts excepted", () => {
  const overrides = [
    { text: "num_warps=2", origin: "<deno.json>" },
    { text: "num_warps=8", origin: "<--num-warps>" },
    { kernel: "transpose", text: "grid(M, N)", origin: "<--grid>" },
  ];
  const { diagnostics } = compile(transpose([...TILES, "num_warps=1"], true), { overrides });
  assertEquals(diagnostics.map(({ code, span }) => `${code} ${span.file.name}`), [
    "W9001 transpose.tc",
    "E9002 <--grid>",
    "E9002 <--grid>",
    "W9001 <deno.json>",
  ]);
});

Deno.test("compileFile() warns of a -D and a parameter that nothing depends on", () => {
  const file = transpose([...TILES, "configs PHASES in {1, 2}"], true);
  const { diagnostics } = compile(file, { defines: [{ name: "TMM", value: "1" }] });
  assertEquals(diagnostics.map(({ code, hint }) => [code, hint]), [
    ["W9011", "remove it; it only multiplies the instances"],
    ["W1023", "did you mean `TM`?"],
  ]);
});

Deno.test("compileFile() grades warnings as its options say", () => {
  const defines = [{ name: "UNUSED", value: "1" }];
  const text = "__global__ void k() {}";
  assertEquals(codes(compile(text, { defines }).diagnostics), ["W1023"]);
  assertEquals(compile(text, { defines, suppress: ["W1023"] }).diagnostics, []);
  const strict = compile(text, { defines, warningsAsErrors: true });
  assertEquals([strict.diagnostics[0]?.severity, strict.kernels.length], ["error", 0]);
});

Deno.test("compileFile() reports broken text without throwing, also where there is no kernel", () => {
  assertEquals(compile("").kernels, []);
  assertEquals(codes(compile("int f( {").diagnostics).includes("E5003"), true);
  assertEquals(codes(compile("int f() { return y; }").diagnostics), ["E2001"]);
  assertEquals(codes(compile("#pragma tri grid(1)\n").diagnostics), []);
});

Deno.test("inspect() prints every phase of the first instance, or of the one chosen", () => {
  const file = transpose(["variants TYPE in {float, half}", "config TM=32, TN=32"], true);
  const text = (phase: Phase): string => inspect(file, OPTIONS, phase);
  assertStringIncludes(text("tokens"), "float* px[32, 32] = X");
  assertStringIncludes(text("ast"), "transpose");
  assertStringIncludes(text("types"), "int[32] rm =");
  assertStringIncludes(text("ir"), "func @transpose(");
  assertStringIncludes(text("ir"), "// where X % 16 == 0");
  assertStringIncludes(text("layout"), "#l0");
  assertStringIncludes(text("ptx"), ".entry transpose_float32_a16(");
  assertStringIncludes(inspect(file, OPTIONS, "types", { variant: "float16" }), "half* X");
  assertEquals(inspect(file, OPTIONS, "types", { kernel: "none" }), "");
});

Deno.test("inspect() shows the early phases of a faulty file", () => {
  const file = { name: "k.tc", text: "__global__ void k(float *X) { *X = y; }" };
  assertStringIncludes(inspect(file, OPTIONS, "tokens"), "*X = y;");
  for (const phase of ["types", "ir", "layout", "ptx"] as const) {
    assertEquals(inspect(file, OPTIONS, phase), "");
  }
});

Deno.test("VERSION is that of deno.json", () => {
  assertEquals(`${VERSION.major}.${VERSION.minor}.${VERSION.patch}`, config.version);
});

Deno.test("compileFile() names entries so that PTX takes them", () => {
  for (const [name, entry] of [["_", "__"], ["WARP_SZ", "WARP_SZ_"], ["ret", "ret"]] as const) {
    const file = { name: "k.tc", text: `__global__ void ${name}(int N) { int a = N; }` };
    const { kernels, diagnostics } = compileFile(file, OPTIONS);
    assertEquals(diagnostics.map(({ message }) => message), []);
    assertEquals(kernels[0]?.instances.map(({ symbol }) => symbol), [entry]);
    assertStringIncludes(kernels[0]?.modules[0]?.ptx ?? "", `.entry ${entry}(`);
  }
});

Deno.test("compileFile() refuses a kernel that some instances do not have", () => {
  const text = `#pragma tri variants W in {1, 2}
#if W == 1
__global__ void k1(int *X) { *X = 1; }
#else
__global__ void k2(int *X) { *X = 1; }
#endif
`;
  const { diagnostics } = compileFile({ name: "k.tc", text }, OPTIONS);
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), [
    "E9006 not every instance of k.tc has the kernel `k1`",
  ]);
});

Deno.test("compileFile() refuses tiles that no thread can hold, before it tries to compile them", () => {
  const pragmas = (warps: number): readonly string[] => [
    "variant TYPE=float",
    `config TM=256, TN=256; num_warps=${warps}`,
  ];
  const refused = (warps: number): readonly string[] =>
    compileFile(transpose(pragmas(warps), true), OPTIONS).diagnostics
      .filter(({ code }) => code === "E3023")
      .map(({ message, hint }) => `${message}; ${hint ?? ""}`);
  assertEquals(refused(1), [
    "the tile [256, 256] gives each of the 32 threads 2048 elements; the limit is 1024; " +
    "make the tile smaller, or use more warps than 1: `#pragma tri num_warps=32`; a thread has 255 registers",
  ]);
  assertEquals(refused(2), []);
});

Deno.test("compileFile() checks a kernel under its own dot and literals", () => {
  const text = (pragma: string): SourceFile => ({
    name: "k.tc",
    text: `#pragma tri ${pragma}
__global__ void k(float *X) {
  int r[16] = 0 ... 16;
  float *p[16, 16] = X + r[:, newaxis] * 16 + r[newaxis, :];
  *p = *p @ *p;
}`,
  });
  const types = (pragma: string): string => inspect(text(pragma), OPTIONS, "types");
  assertStringIncludes(types("dot(tf32)"), "@ tf32 ");
  assert(!types("dot(ieee)").includes("tf32"));
});

Deno.test("compileFile() hands max_registers to the assembler", () => {
  const limited = compileClean(transpose([...TILES, "max_registers=64"], true));
  for (const { modules } of limited.kernels) {
    for (const { ptx } of modules) {
      assertStringIncludes(ptx, ".maxnreg 64");
      assert(!ptx.includes(".minnctapersm"), "one of the two");
    }
  }
});

Deno.test("compileFile() with checkOnly gives the same diagnostics and contracts, and no code", () => {
  const file = transpose(TILES, true);
  const { kernels: [all] } = compileClean(file);
  const { kernels: [checked], diagnostics } = compile(file, { checkOnly: true });
  assertEquals(diagnostics, []);
  assertEquals(checked?.modules, []);
  assertEquals(checked?.instances, all?.instances);
  const broken = file.text.replace("rn[newaxis, :] < N", "rn[newaxis, :] < L");
  assertEquals(
    compile(broken, { checkOnly: true }).diagnostics,
    compile(broken).diagnostics,
  );
});

Deno.test("compileFile with checkOnly reads the text of every target", () => {
  const text = "#pragma tri config N=64\n#if __TRI_ARCH__ >= 800\n#define SIZE N\n#else\n" +
    "#define SIZE 8\n#endif\n__global__ void f(float *X) { *(X + 0 ... SIZE) = 0; }\n";
  const options: Partial<CompileOptions> = { targets: ["sm_70", "sm_80"], checkOnly: true };
  assertEquals(compile(text, options).diagnostics, []);
});

Deno.test("compileFile() reports what is wrong in the text of any target, and names it", () => {
  const body = "#if __TRI_ARCH__ >= 800\n*X = nothere;\n#else\n*X = 1;\n#endif\n";
  const text = `__global__ void f(float *X) {\n${body}}\n`;
  for (const checkOnly of [false, true]) {
    const { diagnostics, kernels } = compile(text, {
      targets: ["sm_70", "sm_80", "sm_90"],
      checkOnly,
    });
    assertEquals(kernels, []);
    assertEquals(codes(diagnostics), ["E2001"]);
    assertEquals(diagnostics[0]?.notes, [{ message: "in the code compiled for sm_80" }]);
  }
  const missing = "__global__ void g(float *X) { *X = 1; }\n#if __TRI_ARCH__ < 800\n" +
    "__global__ void f(float *X) { *X = 1; }\n#endif\n";
  const { diagnostics } = compile(missing, { targets: ["sm_70", "sm_80"] });
  assertEquals(codes(diagnostics), ["E9006"]);
});
