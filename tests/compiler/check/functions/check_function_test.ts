import { dumpTyped } from "../../../../compiler/check/tree/dump_typed.ts";
import { assertEquals } from "../../../support/assert.ts";
import { checkClean, checkText, codesIn } from "../../../support/compiler/check.ts";
import { testCodes, testTypes } from "../../../support/compiler/check_tables.ts";
import { testsInTurn } from "../../../support/sampled.ts";

const test = testsInTurn(3);

function testFiles(title: string, rows: Readonly<Record<string, string>>): void {
  Deno.test(`check() ${title}`, () => {
    const found = Object.fromEntries(
      Object.keys(rows).map((text) => [
        text,
        checkText(text).diagnostics.map(({ code }) => code).join(" "),
      ]),
    );
    assertEquals(found, { ...rows });
  });
}

testFiles("distinguishes kernels from helpers", {
  "__global__ void k(float *X) {}": "",
  "void k(float *X) {}": "W4028",
  "static void k(float *X) {}": "",
  "void k(float x[16]) {}": "",
  "int k(int n) { return n; }": "",
  "__global__ void k() {} void h(float *X) {}": "",
  "__global__ int k() {}": "E4020",
  "__global__ void k() {} __global__ void k() {}": "E4021",
  "__global__ void k() {} __global__ void f() { k(); }": "E4022",
  "__global__ void k(int n, ...) {}": "E4023",
  "__global__ void k(int) {}": "E4024",
  "static __global__ void k() {}": "E4026",
  "__global__ void k(float x[16]) {}": "E3026",
  "__global__ void k(float __constant__ *x) {}": "E3026",
  "static int at(int __constant__ *x) { return *x; } __global__ void k(int *y) { *y = 1; }": "",
  "__global__ void k(void) {}": "",
  "__global__ void k(int n) { n = n / 2; }": "",
  "__global__ void k(int n, float n) {}": "E6020",
  "__global__ void k(int n) { int n = 1; }": "E6020",
  "__global__ void k(float *X __noalias __readonly, int n __retune __multipleof(16)) {}": "",
  "__global__ void k(float *restrict X, int n __noalias) {}": "E4011",
  "__global__ void k(float *X, float f __retune, double g __retune) {}": "W4017 W4017",
  "__global__ void k(float *X __retune, bool b __retune, char c __retune) {}": "W4017",
});

testFiles("checks helpers and their calls", {
  "int h(int n) { return n; } int g(int n) { return h(n); }": "",
  "int h(int n) { if (n) return 1; }": "E4027",
  "int h(int n) { if (n) return 1; else return 2; }": "",
  "int h(int n) { for (;;) { if (n) return 1; } }": "",
  "int h(int n) { for (;;) { if (n) break; } }": "E4027",
  "int h(int n) { while (n) return 1; }": "E4027",
  "int h(int n) { return; }": "E4027",
  "static void h(int n) { return n; }": "E6005",
  "int h(int n) { return h(n); }": "E4025",
  "int g(int n); int h(int n) { return g(n); } int g(int n) { return h(n); }": "E4025 E4025",
  "int g(int n); int h(int n) { return g(n); }": "E4029",
  "int g(int n); int h(int n) { return g(n); } int g(int n) { return n; }": "",
  "int g(int n); int g(long n) { return 1; }": "E6020",
  "int g(int n) { return n; } int g(int n) { return n; }": "E6020",
  "int h(int n) { return g(n); } int g(int n) { return n; }": "E2001",
  "int h(int n) { return h2; }": "E2001",
  "extern int get_program_id(int); int h(int n) { return get_program_id(0); }": "",
  "extern void atomic_add_float_1x1(float*, float, bool); __global__ void k() {}": "",
  "int h(int n) { return (n)(1); }": "E4029",
});

testFiles("checks helpers once for each set of constants", {
  "int h(const int C) { int x[C] = 0; return x[+]; } __global__ void k(int *X) { *X = h(2) + h(4) + h(2); }":
    "",
  "int h(const int C) { int x[C] = 0; return x[+]; } __global__ void k(int *X) { *X = h(2) + h(3) + h(5); }":
    "E3021",
  "int h(const int C) { int x[C] = 0; return y; }": "",
  "int h(const int C) { return y; } int g() { return h(1) + h(2); }": "E2001",
  "int h(const int C) { return y; } const int y = 1; int g() { return h(1); }": "E2001",
  "int h(const int C) { if (C > 1) return 1; } int g() { return h(1) + h(2); }": "E4027",
  "int h(const int C) { int a; return a + C; } __global__ void k(int *X) { *X = h(1) + h(2); }":
    "W4004",
  "int h(const int C) { C = 2; return C; } int g() { return h(1); }": "E5305",
  "int h(const int C) { return C; } int g(int n) { return h(n); }": "E4033",
  "int h(const int C) { return C; } int g() { return h(1.5f); }": "E4033",
  "int h(const int C) { return C; } int g() { return h(); }": "E7001",
  "int h(const int C); int g(int n) { return h(n); } int h(const int C) { return C; }": "E4033",
  "int h(const int C); int g() { return h(8); } int h(const int C) { int x[C] = 1; return x[+]; }":
    "",
  "int h(const int C); int g() { return h(8); }": "E4029",
  "int h(const int C); int h(int C) { return C; }": "E6020",
  "int h(const int C) { return C; } int h(const int C) { return C; }": "E6020",
  "int h(const float c) { return (int)c; } int g(float n) { return h(n); }": "",
  "__global__ void k(int *X, const int n) { *X = n; }": "",
  "int h(const int C) { return h(C); } int g() { return h(1); }": "E4025",
  "int h(const int C) { return h(C + 1); } int g() { return h(1); }": "E4025",
  "int g(const int C); int h(const int C) { return g(C + 1); } int g(const int C) { return h(C); } int f() { return h(1); }":
    "E4025",
});

Deno.test("check() refuses a helper that doubles its sets of constants at every level", () => {
  const level = (at: number): string =>
    `static int h${at + 1}(const int n) { return h${at}(2 * n) + h${at}(2 * n + 1); }`;
  const text = [
    "static int h0(const int n) { return n; }",
    ...Array.from({ length: 24 }, (_, at) => level(at)),
    "__global__ void k(int *X) { *X = h24(0); }",
  ].join("\n");
  assertEquals(new Set(checkText(text).diagnostics.map(({ code }) => code)), new Set(["E4034"]));
});

testTypes("calls helpers with converted and stretched arguments", {
  "half_of(n)": "float",
  "first(n, x[:, newaxis])": "float[16]",
});

testCodes("refuses calls that do not fit", {
  "half_of();": "E7001",
  "half_of(x);": "E5012",
  "first(x, y);": "E5011",
  "write(I);": "E5302",
  "nothing(1);": "E2001",
  "other(1);": "E4022",
  "f = half_of;": "E3010",
  "f = exp;": "E3010",
});

Deno.test("check() hands helpers on with their bodies, whatever the order", () => {
  const unit = checkClean(`
    static float twice(float x);
    __global__ void k(float *X) { *X = twice(*X); }
    static float twice(float x) { return x + x; }`);
  assertEquals(
    dumpTyped(unit),
    "helper float twice(float x) {\n  return (x + x)\n}\n\n" +
      "kernel k(float* X) {\n  *X = twice(*X)\n}\n",
  );
});

Deno.test("check() keeps the attributes and the documentation of a kernel", () => {
  const unit = checkClean(
    "// Does nothing.\n" +
      "__global__ void k(float *X __noalias __aligned(16), int K __retune __multipleof(12)) {}",
  );
  const [kernel] = unit.kernels;
  assertEquals(kernel?.doc, "Does nothing.");
  assertEquals(
    dumpTyped(unit),
    "kernel k(float* X aligned(16) noalias, int K multipleof(12) retune) {}\n",
  );
});

Deno.test("check() drops attributes that the kernel breaks, through any copy of a pointer", () => {
  const access = (body: string): string => {
    const { unit, diagnostics } = checkText(`
      static void set(float *p) { *p = 1; }
      static float *pass(float *p) { return p + 1; }
      __global__ void k(float *X __readonly, float *Y __writeonly, int n) { ${body} }`);
    const kept = unit.kernels[0]?.params.flatMap(({ attributes }) => [
      ...(attributes.readonly ? ["readonly"] : []),
      ...(attributes.writeonly ? ["writeonly"] : []),
    ]);
    return [...diagnostics.map(({ code }) => code), ...kept ?? []].join(" ");
  };
  assertEquals(access("*Y = *X;"), "readonly writeonly");
  assertEquals(access("*X = 1;"), "W4014 writeonly");
  assertEquals(access("float *p[16] = X + 0 ... 16; p += n; *p = 1;"), "W4014 writeonly");
  assertEquals(access("set(pass(X));"), "W4014 writeonly");
  assertEquals(access("atomic_add(X, 1);"), "W4014 writeonly");
  assertEquals(access("float y = *Y; *Y = y;"), "W4015 readonly");
  assertEquals(
    access("float *p = n ? X : Y; for (;;) { *p = *p; p = p + 1; break; }"),
    "W4015 W4014",
  );
});

test("check() checks a long chain of operators", () => {
  assertEquals(codesIn(`n = ${"n + ".repeat(700)}1;`), []);
  assertEquals(codesIn(`x = ${"m ? *p : ".repeat(200)}0;`), []);
});
