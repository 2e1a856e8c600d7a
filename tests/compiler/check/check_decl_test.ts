import { spellType } from "../../../compiler/check/tree/types.ts";
import { assertEquals } from "../../support/assert.ts";
import { checkClean, checkText, codesIn, stmtsOf } from "../../support/compiler/check.ts";
import { testCodes, testTypes } from "../../support/compiler/check_tables.ts";

/** The type of the variable that a declaration inside a kernel makes. */
function declared(text: string): string {
  const stmt = stmtsOf(text).at(-1);
  return stmt?.kind === "declare" ? spellType(stmt.variable.type) : "";
}

Deno.test("check() reads types in every order and form", () => {
  const rows = {
    "unsigned q;": "unsigned int",
    "long unsigned int q;": "unsigned long",
    "long long q;": "long",
    "signed char q;": "char",
    "int16_t q;": "short",
    "size_t q;": "unsigned long",
    "float16 q;": "half",
    "float8e4 q;": "float8e4",
    "float *q;": "float*",
    "float *q[16];": "float*[16]",
    "float **q;": "float**",
    "const float *q;": "const float*",
    "int __constant__ *q;": "int __constant__*",
    "int q, z2[4], *w2;": "int*",
    "float[16] q;": "float[16]",
    "acc_t q;": "float[16, 32]",
    "typedef half *ptr; ptr q[4];": "half*[4]",
    "enum { A1 = 4, A2 } q;": "int",
    "enum { A1 = 4, A2 }; int q[A1 * (A2 + 3)];": "int[32]",
    "const int W = 8; int q[W, W * 2];": "int[8, 16]",
    "int q[(long) 4];": "int[4]",
    "int q[1];": "int[1]",
  };
  const found = Object.fromEntries(Object.keys(rows).map((text) => [text, declared(text)]));
  assertEquals(found, rows);
});

testCodes("refuses what is no type", {
  "long double q;": "E3001",
  "unsigned float q;": "E3002",
  "short long q;": "E3002",
  "void q;": "E3002",
  "const q = 1;": "E3003",
  "acc_t *q;": "E3010",
  "float (*q)(int);": "E3010",
  "typedef int fn(int); ": "E3010",
});

testCodes("refuses tiles of unknown, odd or too many elements", {
  "int q[n];": "E3020",
  "int q[1.0];": "E3020",
  "int q[M * n];": "E3020",
  "int q[3];": "E3021",
  "int q[0];": "E3021",
  "int q[-4];": "E3021",
  "int q[2, 2, 2, 2, 2, 2];": "E3022",
  "int q[1024, 2048];": "E3023",
  "void q[4];": "E3024",
  "acc_t q[4];": "E3024",
  "int q[4][8];": "E3025",
  "int q[];": "E3025",
  "zeros(int[n]);": "E3020",
  "(float[3]) n;": "E3021",
});

Deno.test("check() takes another limit for the elements of a tile", () => {
  assertEquals(codesIn("int q[64, 64]; q = 0;", { maxTileElements: 512 }), ["E3023"]);
  assertEquals(codesIn("int q[512]; q = 0;", { maxTileElements: 512 }), []);
});

testCodes("initialises like an assignment", {
  "float q[16, 32] = 0;": "",
  "bool q[16, 32] = r[:, newaxis] < n;": "",
  "float q[16] = { 1 };": "",
  "float q[16] = { 1, 2 };": "E4003",
  "float q[16] = y;": "E5011",
  "float q = x;": "E5012",
  "float *q = I;": "E5302",
  "static int q = 1;": "E4006",
  "extern int q;": "E4006",
});

testCodes("checks attributes", {
  "int q __multipleof(8) = n;": "",
  "int q[16] __multipleof(8) = r * 8;": "",
  "float *q __aligned(16) = P;": "",
  "int q __multipleof(8);": "W4016",
  "int q __multipleof(0) = n;": "E4010",
  "int q __multipleof(n) = n;": "E4010",
  "float *q __aligned(12) = P;": "E4010",
  "float q __multipleof(8) = f;": "E4011",
  "int q __aligned(8) = n;": "E4011",
  "float *q[16] __aligned(16) = p;": "E4011",
  "float *q __noalias = P;": "E4011",
  "float *restrict q = P;": "E4011",
  "int q __retune = n;": "E4011",
  "int q __attribute__((multipleof(8), hot)) = n;": "W4012",
});

Deno.test("check() keeps attributes of locals at their declaration", () => {
  const [first, second] = stmtsOf("int q __multipleof(8) = n; float *w2 __aligned(16) = P;");
  assertEquals(first?.kind === "declare" && first.multipleof, 8);
  assertEquals(second?.kind === "declare" && second.aligned, 16);
});

Deno.test("check() makes a constant of a constant initialiser, with the type of the tile", () => {
  const [stmt] = stmtsOf("float q[16, 32] = 0;");
  const value = stmt?.kind === "declare" ? stmt.value : undefined;
  assertEquals([value?.kind, value && spellType(value.type)], ["constant", "float[16, 32]"]);
});

testTypes("lets declarations hide types and built-in names", { "(int) n": "int" });

const KERNEL = "__global__ void k(float *X) { *X = 1; }";

function codesOfFile(text: string): string {
  return checkText(text).diagnostics.map(({ code }) => code).join(" ");
}

Deno.test("check() takes at file scope only what is constant", () => {
  const rows = {
    "const int N = 16; enum { A }; typedef int T; static_assert(N == 16);": "",
    "const float F = 1.5 * 2;": "",
    "const int A = 16, B = A * 2; static_assert(B == 32);": "",
    "int N = 16;": "E4001",
    "const int *N = 0;": "E4001",
    "const float T[4] = 0;": "E4001",
    "float x;": "E4001",
    "char __constant__ *AD = calloc(256);": "",
    "char __constant__ *AD = calloc(65536), *BD;": "E7006",
    "char __constant__ *AD = calloc(65537);": "E7005",
    "char __constant__ *AD = calloc(65536 - 16), *BD;": "E7006",
    "char __constant__ *AD = calloc(65520); char __constant__ *BD = calloc(1);": "",
    "char __constant__ *AD = calloc(65519); char __constant__ *BD = calloc(17);": "E7005",
    "char __constant__ *AD = calloc(0);": "E7005",
    "char __constant__ *AD = calloc(40000); char __constant__ *BD = calloc(40000);": "E7005",
    "char __constant__ *AD;": "E7006",
    "char __constant__ *AD = 0;": "E7006",
    "const int N = 1; const int N = 2;": "E6020",
    "typedef int T; typedef int T;": "",
    "typedef int T; typedef long T;": "E6020",
    '_Static_assert(0, "no");': "E6006",
  };
  const found = Object.fromEntries(
    Object.keys(rows).map((text) => [text, codesOfFile(`${text}\n${KERNEL}`)]),
  );
  assertEquals(found, rows);
});

Deno.test("check() reads constant buffers and never writes them", () => {
  const text = (statement: string): string =>
    `char __constant__ *AD = calloc(256);\n__global__ void k(int *X) { ${statement} }`;
  checkClean(text("*X = *((int __constant__*) AD + 3);"));
  assertEquals(codesOfFile(text("*((int __constant__*) AD) = 3;")), "E5306");
  assertEquals(codesOfFile(text("X = (int*) calloc(4);")), "E7006");
  assertEquals(codesOfFile(text("X = (int*) AD;")), "E5161");
  assertEquals(codesOfFile(text("int __constant__ *p = (int __constant__*) X;")), "E5161");
  checkClean(text("int __constant__ *p = (int __constant__*) 0; if (p) *X = *p;"));
});
