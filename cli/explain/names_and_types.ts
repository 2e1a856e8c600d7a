/** Explanations of E2xxx, W2xxx and E3xxx: names, literals, types. */
import { type Explanation, file, inside } from "./example.ts";

export const NAMES_AND_TYPES = {
  E2001: inside(
    "The name is not declared before its use. Names are case-sensitive. Compile-time parameters such as `TM` come from `#pragma tri` or `-D`.",
    "*I = m;",
    "int m = n;\n*I = m;",
  ),
  E2002: inside(
    "Triton-C has no structures, no `switch`, no `goto`, no labels and no `default`: kernels are loops over tiles. Write `if` and separate parameters.",
    "switch (n) { case 0: *I = 1; }",
    "if (n == 0) *I = 1;",
  ),
  E2010: inside(
    "No type holds the value. Integers have at most 64 bits.",
    "*I = 99999999999999999999;",
    "*I = 2147483647;",
  ),
  E2011: inside(
    "A literal has digits that its base does not have, an unknown suffix, or an exponent without digits. Suffixes of floats (`f`, `h`) need a `.` or an exponent.",
    "*X = 1f;",
    "*X = 1.0f;",
  ),
  E2012: inside(
    "A literal that begins with 0 is octal, as in C, where 8 and 9 are not digits.",
    "*I = 08;",
    "*I = 8;",
  ),
  E2013: inside(
    "The value is larger than the largest finite one of its type.",
    "*X = 1e400;",
    "*X = 1e30;",
  ),
  E2014: inside("A character literal is one character or one escape.", "*I = 'ab';", "*I = 'a';"),
  E2016: inside(
    "There are no strings at run time. String literals are allowed in `printf`, `assert`, `_Static_assert`, `#include`, and as modifiers of built-ins.",
    '*I = "one";',
    'printf("one %d\\n", n);\n*I = 1;',
  ),
  E3001: inside(
    "GPUs do not have this arithmetic. `double` is the widest floating type.",
    "long double a = 1;",
    "double a = 1;",
  ),
  E3002: inside(
    "These words do not form one type: a float is neither unsigned nor long.",
    "unsigned float a = 1;",
    "unsigned a = 1;",
  ),
  E3003: inside(
    "A declaration names its type; there is no implicit `int`.",
    "const a = 1;",
    "const int a = 1;",
  ),
  E3010: inside(
    "Pointers point to numbers or to pointers. A tile of pointers is written `float *p[16]`; a pointer to a tile, to a function or to `void` values does not exist.",
    "float (*p)(int) = 0;",
    "float *p = X;",
  ),
  E3011: inside(
    "`void*` has no element type. Cast it first.",
    "void *p = X;\n*I = *p;",
    "void *p = X;\n*I = *(int*) p;",
  ),
  E3020: inside(
    "Shapes are part of types and must be compile-time constants: they determine the register layout. Use a compile-time parameter, or a fixed size and a mask.",
    "int r[n];",
    "int r[16] = 0 ... 16;",
  ),
  E3021: inside(
    "Every extent is a power of two, because layouts are linear maps of index bits. Use the next power of two and a mask.",
    "int r[48] = 0 ... 48;",
    "int r[64] = 0 ... 64;\nbool inside[64] = r < 48;",
  ),
  E3022: inside(
    "A tile has one to five axes.",
    "float t[2, 2, 2, 2, 2, 2] = 0;",
    "float t[2, 2, 2, 2, 4] = 0;",
  ),
  E3023: inside(
    "The registers of a block hold a few tens of thousands of elements. Loop over smaller tiles. `--max-tile-elements` changes the limit.",
    "float t[2048, 1024] = 0;",
    "float t[64, 64] = 0;",
  ),
  E3024: file(
    "The elements of a tile are numbers or pointers, not tiles and not `void`.",
    "typedef float row[16];\n__global__ void f(float *X) { row t[4]; *X = 0; }",
    "__global__ void f(float *X) { float t[4, 16] = 0; *X = 0; }",
  ),
  E3025: inside(
    "Tiles are not arrays of arrays: all extents are in one pair of brackets.",
    "float t[16][32] = 0;",
    "float t[16, 32] = 0;",
  ),
  E3026: file(
    "Kernel parameters are numbers and pointers. A kernel loads tiles through a pointer.",
    "__global__ void f(float t[16], float *X) { *X = 0; }",
    "__global__ void f(float *T, float *X) { float t[16] = *(T + 0 ... 16); *(X + 0 ... 16) = t; }",
  ),
  E3027: inside(
    "Types are compared level by level, so a pointer has at most 64 of them. Kernels seldom need more than two: a table of pointers is `float **`.",
    "float *****************************************************************p = 0;",
    "float **p = 0;",
  ),
  W2015: file(
    "With `literals(double)` unsuffixed literals are `double`, as in C, and promote the whole tile to `double`. A suffix keeps the type.",
    "#pragma tri literals(double)\n__global__ void f(float *X) {\n  float t[16] = *(X + 0 ... 16);\n  *(X + 0 ... 16) = t * 2.0;\n}",
    "#pragma tri literals(double)\n__global__ void f(float *X) {\n  float t[16] = *(X + 0 ... 16);\n  *(X + 0 ... 16) = t * 2.0f;\n}",
  ),
} satisfies Record<string, Explanation>;
