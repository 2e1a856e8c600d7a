/** Explanations of E6xxx, W6xxx, E7xxx and W7xxx: statements and built-in functions. */
import { type Explanation, file, inside } from "./example.ts";

export const STATEMENTS = {
  E6002: inside(
    "A program has one flow of control, so a tile cannot be a condition. Select values with `?:`, mask accesses with `*?`, or reduce with `any` or `all`.",
    "int r[16] = 0 ... 16;\nif (r < n) *I = 1;",
    "int r[16] = 0 ... 16;\nif ((r < n)[any]) *I = 1;",
  ),
  E6004: inside(
    "`break` and `continue` are allowed only inside a loop.",
    "break;",
    "for (;;) break;",
  ),
  E6005: inside("A kernel returns void. `return;` ends this program.", "return n;", "return;"),
  E6006: file(
    "The condition is false for these compile-time parameters. The author wrote the message.",
    '_Static_assert(sizeof(half) == 4, "half has four bytes");\n__global__ void f(int *X) { *X = 1; }',
    '_Static_assert(sizeof(half) == 2, "half has two bytes");\n__global__ void f(int *X) { *X = 1; }',
  ),
  E6020: inside(
    "A name is declared once in a block. An inner block may hide it.",
    "int a = 1;\nint a = 2;",
    "int a = 1;\na = 2;",
  ),
  W6001: inside(
    "The value is computed and not used. Perhaps `=` was intended.",
    "n == 1;",
    "n = 1;",
  ),
  W6003: inside(
    "The loop has no condition, `break` or `return`, so a GPU would hang.",
    "for (;;) n = n + 1;",
    "for (;;) {\n  n = n + 1;\n  if (n > 9) break;\n}",
  ),
  W6007: inside(
    "`=` assigns, and the condition is what was assigned. Write `==` to compare. A second pair of parentheses says that the assignment is meant.",
    "int a = 1;\nif (a = n) *I = a;",
    "int a = 1;\nif (a == n) *I = a;",
  ),
  W6021: inside(
    "The inner variable shadows the outer one. This warning is off by default.",
    "int a = 1;\nif (n) { int a = 2; *I = a; }\n*I = a;",
    "int a = 1;\nif (n) { int b = 2; *I = b; }\n*I = a;",
    { options: "--warn W6021" },
  ),
  E7001: inside(
    "The reference of built-in functions lists the arguments of each.",
    "*X = exp(*X, 2);",
    "*X = exp(*X);",
  ),
  E7002: inside(
    "The function does not take values of this type. Cast, or use a function that takes them.",
    "*X = exp(X);",
    "*X = exp(*X);",
  ),
  E7003: inside(
    "The generated code depends on the argument, so it must be a compile-time constant.",
    "*I = get_program_id(n);",
    "*I = get_program_id(0);",
  ),
  E7004: inside(
    "The old spelling has type and shape in the function's name, and the arguments have others. `atomic_add(p, value)` needs neither.",
    "atomic_add(float, 16, 16)(X, 1, true);",
    "atomic_add(X, 1);",
  ),
  E7005: file(
    "Constant memory is allocated at compile time and has 64 KiB in total. Pass larger tables by pointer.",
    "char __constant__ *T = calloc(100000);\n__global__ void f(int *X) { *X = *(T + 1); }",
    "__global__ void f(int *X, char *T __readonly) { *X = *(T + 1); }",
  ),
  E7006: file(
    "Kernels cannot allocate memory at run time. `calloc` only declares buffers of constant memory at file scope; pass other memory by pointer.",
    "__global__ void f(int *X) { char *T = calloc(16); *X = 1; }",
    "__global__ void f(int *X, char *T) { *X = *(T + 1); }",
  ),
  E7007: inside(
    "Modifiers of loads and stores select cache behaviour. Unknown or contradictory ones are errors.",
    'float a = load(X, "quick");',
    'float a = load(X, "cg");',
  ),
  E7008: file(
    "A layout conversion, as in a transposition, uses shared memory, and the whole tile must fit in the shared memory of a block. The message names the targets concerned. `--arch` selects targets.",
    "__global__ void f(float *X, float *Y) {\n  int r[256] = 0 ... 256;\n  float t[256, 256] = *(X + r[:, newaxis] * 256 + r[newaxis, :]);\n  *(Y + r[:, newaxis] * 256 + r[newaxis, :]) = ^t;\n}",
    "__global__ void f(float *X, float *Y) {\n  int r[64] = 0 ... 64;\n  float t[64, 64] = *(X + r[:, newaxis] * 64 + r[newaxis, :]);\n  *(Y + r[:, newaxis] * 64 + r[newaxis, :]) = ^t;\n}",
  ),
  E7010: file(
    "The host finds a constant buffer in an image by its name. The image also contains kernel names, for specialised instances with a suffix such as `_a16`, and names reserved by PTX and by tri.",
    "char __constant__ *tri_table = calloc(16);\n__global__ void f(int *X) { *X = *(tri_table + 1); }",
    "char __constant__ *table = calloc(16);\n__global__ void f(int *X) { *X = *(table + 1); }",
  ),
  E7011: inside(
    "The code of a tile is emitted for each element that a thread holds. Assemblers take minutes for a kernel of more than 250,000 instructions. Make tiles smaller, use more warps, or write a loop instead of repeated code.",
    "float x[524288] = *(X + (0 ... 524288));\nx = sin(sin(sin(sin(sin(sin(sin(sin(x))))))));\n*(X + (0 ... 524288)) = x;",
    "float x[1024] = *(X + (0 ... 1024));\nx = sin(sin(sin(sin(sin(sin(sin(sin(x))))))));\n*(X + (0 ... 1024)) = x;",
  ),
  E7012: file(
    "A program with `num_ctas` above 1 runs on a cluster of blocks, which sm_90 and later have. Give the targets before it a configuration without `num_ctas`: a filter reads `__TRI_ARCH__`.",
    "#pragma tri num_ctas=2\n__global__ void f(int *X) { *(X + (0 ... 1024)) = 1; }",
    "#pragma tri configs T in {1024}; num_ctas in {2} if __TRI_ARCH__ >= 900\n#pragma tri config T=1024\n__global__ void f(int *X) { *(X + (0 ... T)) = 1; }",
  ),
  E7013: file(
    "The layouts of products are those of one block. Reductions, and all that is done element by element, may have several.",
    "#pragma tri num_ctas=2\n__global__ void f(float *X, float *Y) {\n  int p[16, 16] = (0 ... 16)[:, newaxis] * 16 + (0 ... 16)[newaxis, :];\n  float x[16, 16] = *(X + p);\n  *(Y + p) = x @ x;\n}",
    "__global__ void f(float *X, float *Y) {\n  int p[16, 16] = (0 ... 16)[:, newaxis] * 16 + (0 ... 16)[newaxis, :];\n  float x[16, 16] = *(X + p);\n  *(Y + p) = x @ x;\n}",
  ),
  W7009: inside(
    "Not an error: `static_print` prints a constant or a type at compile time. Remove it when it is no longer needed.",
    "int r[16] = 0 ... 16;\nstatic_print(r);",
    "int r[16] = 0 ... 16;",
  ),
} satisfies Record<string, Explanation>;
