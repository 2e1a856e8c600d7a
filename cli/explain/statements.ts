/** Explanations of E6xxx, W6xxx, E7xxx and W7xxx: statements and built-in functions. */
import { type Explanation, file, inside } from "./example.ts";

export const STATEMENTS = {
  E6002: inside(
    "A program takes one way; elements of a tile cannot go different ones. Choose values by `?:`, mask accesses by `*?`, or ask `any` or `all`.",
    "int r[16] = 0 ... 16;\nif (r < n) *I = 1;",
    "int r[16] = 0 ... 16;\nif ((r < n)[any]) *I = 1;",
  ),
  E6004: inside("There is no loop to leave.", "break;", "for (;;) break;"),
  E6005: inside("A kernel has no result; `return;` ends this program.", "return n;", "return;"),
  E6006: file(
    "The program demands something that does not hold for these parameters; the text is its author's.",
    '_Static_assert(sizeof(half) == 4, "half has four bytes");\n__global__ void f(int *X) { *X = 1; }',
    '_Static_assert(sizeof(half) == 2, "half has two bytes");\n__global__ void f(int *X) { *X = 1; }',
  ),
  E6020: inside(
    "A name is declared once in a block. An inner block may hide it.",
    "int a = 1;\nint a = 2;",
    "int a = 1;\na = 2;",
  ),
  W6001: inside(
    "The value is computed and forgotten. Perhaps `=` was meant.",
    "n == 1;",
    "n = 1;",
  ),
  W6003: inside(
    "The loop has no condition and nothing that leaves it, so a GPU would hang.",
    "for (;;) n = n + 1;",
    "for (;;) {\n  n = n + 1;\n  if (n > 9) break;\n}",
  ),
  W6021: inside(
    "The inner variable is another one than the outer of the same name. Off unless asked for.",
    "int a = 1;\nif (n) { int a = 2; *I = a; }\n*I = a;",
    "int a = 1;\nif (n) { int b = 2; *I = b; }\n*I = a;",
    { options: "--warn W6021" },
  ),
  E7001: inside(
    "The reference of built-in functions lists what each takes.",
    "*X = exp(*X, 2);",
    "*X = exp(*X);",
  ),
  E7002: inside(
    "The function is not there for values of this type. Cast, or take its sibling.",
    "*X = exp(X);",
    "*X = exp(*X);",
  ),
  E7003: inside(
    "The argument decides what code is made, so it is known while compiling.",
    "*I = get_program_id(n);",
    "*I = get_program_id(0);",
  ),
  E7004: inside(
    "Old programs write type and shape into the name of the function; what they pass has another one. `atomic_add(p, value)` needs neither.",
    "atomic_add(float, 16, 16)(X, 1, true);",
    "atomic_add(X, 1);",
  ),
  E7005: file(
    "Constant memory is laid out while compiling and holds 64 KiB in all. Pass larger tables by pointer.",
    "char __constant__ *T = calloc(100000);\n__global__ void f(int *X) { *X = *(T + 1); }",
    "__global__ void f(int *X, char *T __readonly) { *X = *(T + 1); }",
  ),
  E7006: file(
    "There is no memory to be had at run time. `calloc` only declares buffers of constant memory at file scope; pass other memory by pointer.",
    "__global__ void f(int *X) { char *T = calloc(16); *X = 1; }",
    "__global__ void f(int *X, char *T) { *X = *(T + 1); }",
  ),
  E7007: inside(
    "Modifiers of loads and stores say how caches are used; two that contradict each other, or an unknown one, mean nothing.",
    'float a = load(X, "quick");',
    'float a = load(X, "cg");',
  ),
  E7008: file(
    "A tile that changes its layout, as in a transposition, goes through shared memory, and all of it must fit into what a block has. The message names the targets if others have more. `--arch` chooses targets.",
    "__global__ void f(float *X, float *Y) {\n  int r[256] = 0 ... 256;\n  float t[256, 256] = *(X + r[:, newaxis] * 256 + r[newaxis, :]);\n  *(Y + r[:, newaxis] * 256 + r[newaxis, :]) = ^t;\n}",
    "__global__ void f(float *X, float *Y) {\n  int r[64] = 0 ... 64;\n  float t[64, 64] = *(X + r[:, newaxis] * 64 + r[newaxis, :]);\n  *(Y + r[:, newaxis] * 64 + r[newaxis, :]) = ^t;\n}",
  ),
  E7010: file(
    "The host finds a constant buffer in an image by its name. Kernels have names there too, those of specialised instances with an ending such as `_a16`, and some names belong to PTX and to tri.",
    "char __constant__ *tri_table = calloc(16);\n__global__ void f(int *X) { *X = *(tri_table + 1); }",
    "char __constant__ *table = calloc(16);\n__global__ void f(int *X) { *X = *(table + 1); }",
  ),
  E7011: inside(
    "The code of a tile is written out for each element that a thread holds, and assemblers take minutes for a kernel of more than 250,000 instructions. Make tiles smaller, let more warps share them, or write a loop in place of repeated code.",
    "float x[65536] = *(X + (0 ... 65536));\nx = sin(sin(sin(sin(sin(sin(sin(sin(x))))))));\n*(X + (0 ... 65536)) = x;",
    "float x[1024] = *(X + (0 ... 1024));\nx = sin(sin(sin(sin(sin(sin(sin(sin(x))))))));\n*(X + (0 ... 1024)) = x;",
  ),
  W7009: inside(
    "Not a mistake: `static_print` shows a constant or a type while compiling. Remove it when it has served.",
    "int r[16] = 0 ... 16;\nstatic_print(r);",
    "int r[16] = 0 ... 16;",
  ),
} satisfies Record<string, Explanation>;
