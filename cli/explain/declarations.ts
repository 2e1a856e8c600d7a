/** Explanations of E4xxx and W4xxx: variables, attributes, functions. */
import { type Explanation, file, inside } from "./example.ts";

export const DECLARATIONS = {
  E4001: file(
    "Programs of a launch share only memory that is passed by pointer. Only constants and buffers of constant memory are declared outside functions.",
    "int counter = 0;\n__global__ void f(int *X) { *X = counter; }",
    "const int START = 0;\n__global__ void f(int *X) { *X = START; }",
  ),
  E4003: inside(
    "A tile is filled with one value or computed from ranges, not from a list.",
    "int t[2] = { 1, 2 };",
    "int t[2] = 1 ... 3;",
  ),
  E4005: inside(
    "The variable has no value yet while its initialiser is evaluated.",
    "int a = a + 1;",
    "int a = n + 1;",
  ),
  E4006: inside(
    "A local variable lives as long as its program runs. Only memory outlives a launch.",
    "static int a = 1;",
    "int a = 1;",
  ),
  E4010: file(
    "`__multipleof(N)` takes a constant of at least 1, `__aligned(N)` a power of two in bytes.",
    "__global__ void f(float *X, int n __multipleof(0)) { *X = n; }",
    "__global__ void f(float *X, int n __multipleof(8)) { *X = n; }",
  ),
  E4011: file(
    "Attributes apply to pointers (`__aligned`, `__noalias`, `__readonly`, `__writeonly`), to integers (`__multipleof`) or to parameters (`__retune`).",
    "__global__ void f(float *X, int n __noalias) { *X = n; }",
    "__global__ void f(float *X __noalias, int n) { *X = n; }",
  ),
  E4020: file(
    "A kernel runs once per program of the grid and has no caller that takes a result. Store it in memory.",
    "__global__ int f(int *X) { return *X; }",
    "__global__ void f(int *X, int *Y) { *Y = *X; }",
  ),
  E4021: file(
    "Functions are not overloaded. Rename one.",
    "__global__ void f(int *X) { *X = 1; }\n__global__ void f(float *X) { *X = 1; }",
    "__global__ void f(int *X) { *X = 1; }\n__global__ void g(float *X) { *X = 1; }",
  ),
  E4022: file(
    "Kernels are launched by the host. Put what two kernels share into a `static` function. A kernel with the name of a built-in function, such as `dot`, hides that function: rename the kernel.",
    "__global__ void f(int *X) { *X = 1; }\n__global__ void g(int *X) { f(X); }",
    "static void put(int *X) { *X = 1; }\n__global__ void f(int *X) { put(X); }\n__global__ void g(int *X) { put(X); }",
  ),
  E4023: file(
    "The number of parameters of a function is fixed at compile time.",
    "__global__ void f(int *X, ...) { *X = 1; }",
    "__global__ void f(int *X, int a, int b) { *X = a + b; }",
  ),
  E4024: file(
    "Wrappers pass arguments by name, so each parameter has one.",
    "__global__ void f(int *X, int) { *X = 1; }",
    "__global__ void f(int *X, int n) { *X = n; }",
  ),
  E4025: file(
    "Functions are inlined, so recursion is not possible. Write a loop.",
    "static int sum(int n) { return n + sum(n - 1); }\n__global__ void f(int *X) { *X = sum(3); }",
    "static int sum(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }\n__global__ void f(int *X) { *X = sum(3); }",
  ),
  E4026: file(
    "`static` functions are local to their file. A kernel is launched from outside.",
    "static __global__ void f(int *X) { *X = 1; }",
    "__global__ void f(int *X) { *X = 1; }",
  ),
  E4027: file(
    "At least one path through the function ends without `return`.",
    "static int sign(int n) { if (n > 0) return 1; }\n__global__ void f(int *X) { *X = sign(*X); }",
    "static int sign(int n) { if (n > 0) return 1; return 0; }\n__global__ void f(int *X) { *X = sign(*X); }",
  ),
  E4029: file(
    "There is no linker: a called function is defined in the same file or in an included one.",
    "int twice(int n);\n__global__ void f(int *X) { *X = twice(*X); }",
    "static int twice(int n) { return 2 * n; }\n__global__ void f(int *X) { *X = twice(*X); }",
  ),
  E4030: file(
    "A function is inlined at each call, so functions that call each other twice double the code at every level. `sort` also expands to hundreds of operations. A kernel with copied code has at most 100,000 operations. Call the function in a loop, or split the kernel.",
    `#define TWICE(g, f) static int g(int x) { return f(x) + f(x + 1); }
static int a(int x) { return x * 3; }
TWICE(b, a) TWICE(c, b) TWICE(d, c) TWICE(e, d) TWICE(f, e) TWICE(g, f) TWICE(h, g) TWICE(i, h) TWICE(j, i)
TWICE(k, j) TWICE(l, k) TWICE(m, l) TWICE(n, m) TWICE(o, n) TWICE(p, o) TWICE(q, p) TWICE(r, q) TWICE(s, r)
__global__ void kernel(int *X) { *X = s(*X); }`,
    `static int a(int x) { return x * 3; }
__global__ void kernel(int *X) {
  int sum = 0;
  for (int i = 0; i < 1 << 18; i++) sum += a(*X + i);
  *X = sum;
}`,
  ),
  E4031: inside(
    "Nested unrolled loops multiply their copies. A kernel with copied code has at most 100,000 operations. Unroll the innermost loop only, or reduce the number of copies: `unroll(4)`.",
    "#pragma tri loop unroll\nfor (int i = 0; i < 512; i++)\n#pragma tri loop unroll\n  for (int j = 0; j < 512; j++) *(I + i * j) = n;",
    "for (int i = 0; i < 512; i++)\n#pragma tri loop unroll(4)\n  for (int j = 0; j < 512; j++) *(I + i * j) = n;",
  ),
  E4032: file(
    "Branches and loops are nested at most 400 levels deep, counted after inlining. Let a function compute its result before the branch, or write a loop.",
    `#define IF4 if (n > 0) if (n > 1) if (n > 2) if (n > 3)
#define IF16 IF4 IF4 IF4 IF4
#define IF64 IF16 IF16 IF16 IF16
static void inner(int *X, int n) { IF64 IF64 IF64 IF16 *X = n; }
static void outer(int *X, int n) { IF64 IF64 IF64 IF16 inner(X, n); }
__global__ void f(int *X, int n) { outer(X, n); }`,
    `static void inner(int *X, int n) { if (n > 3) *X = n; }
static void outer(int *X, int n) { if (n > 2) inner(X, n); }
__global__ void f(int *X, int n) { outer(X, n); }`,
  ),
  E4033: file(
    "A `const` integer parameter of a function is a compile-time constant, which the function may use as an extent of tiles. Pass a literal, a `-D` parameter, a `const` with a constant value or an expression of these. If the function needs no constant, remove `const`.",
    "static float total(const int C, float *p) { float x[C] = *(p + 0 ... C); return x[+]; }\n__global__ void f(float *X, int n) { *X = total(n, X); }",
    "static float total(const int C, float *p) { float x[C] = *(p + 0 ... C); return x[+]; }\n__global__ void f(float *X, int n) { *X = n < 64 ? 0 : total(64, X); }",
  ),
  E4034: file(
    "A function with `const` integer parameters is compiled once for each set of values that it is called with, at most 256 sets. A parameter that needs not be constant is declared without `const`.",
    `#define FOUR(n) plus(n), plus(n + 1), plus(n + 2), plus(n + 3)
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
#define MANY(n) SIXTEEN(n), SIXTEEN(n + 16), SIXTEEN(n + 32), SIXTEEN(n + 48)
static int plus(const int n) { return n + 1; }
__global__ void f(int *X) { *X = (MANY(0), MANY(64), MANY(128), MANY(192), plus(256)); }`,
    `static int plus(int n) { return n + 1; }
__global__ void f(int *X) { int s = 0; for (int i = 0; i < 257; i++) s += plus(i); *X = s; }`,
  ),
  W4004: inside(
    "No assignment reaches this use, so the value is undefined.",
    "int a;\n*I = a;",
    "int a = n;\n*I = a;",
  ),
  W4012: inside(
    "Attributes of other compilers are ignored. This one may be misspelt.",
    "int a __attribute__((hot)) = n;\n*I = a;",
    "int a __multipleof(8) = n * 8;\n*I = a;",
  ),
  W4014: file(
    "`__readonly` says that the kernel does not write through this pointer, but it does. The attribute is ignored.",
    "__global__ void f(float *X __readonly) { *X = 1; }",
    "__global__ void f(float *X) { *X = 1; }",
  ),
  W4015: file(
    "`__writeonly` says that the kernel does not read through this pointer, but it does. The attribute is ignored.",
    "__global__ void f(float *X __writeonly, float *Y) { *Y = *X; }",
    "__global__ void f(float *X __readonly, float *Y __writeonly) { *Y = *X; }",
  ),
  W4016: inside(
    "The attribute of a local variable describes its initial value, and there is none.",
    "int a __multipleof(4);\na = 8;\n*I = a;",
    "int a __multipleof(4) = 8;\n*I = a;",
  ),
  W4017: file(
    "Integers and `bool` choose between configurations. The attribute is ignored.",
    "__global__ void f(float *X, int n, float factor __retune) { *X = n * factor; }",
    "__global__ void f(float *X, int n __retune, float factor) { *X = n * factor; }",
  ),
  W4028: file(
    "A file without any `__global__` is old Triton-C, where `void` functions are kernels. As soon as one function has `__global__`, every kernel needs it.",
    "void f(int *X) { *X = 1; }",
    "__global__ void f(int *X) { *X = 1; }",
  ),
} satisfies Record<string, Explanation>;
