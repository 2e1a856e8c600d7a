/** Sections 1 to 4: preprocessor, literals, types and declarations. */
import { type Construct, R, section } from "./construct.ts";

export const TEXT_AND_TYPES: readonly Construct[] = [
  ...section(
    "2 Tokens and literals",
    {
      name: "integer literals, octal, hex, binary, characters",
      body: "I[0] = 017 + 0x1F + 0b11; I[1] = 'a'; I[2] = 1u << 31 > 0;",
      i: [49, 97, 1],
    },
    {
      name: "floating literals, suffixes, hexadecimal",
      body: "Y[0] = 1.5f + 0x1p-3 + (float)2.5h;",
      y: [4.125],
    },
    {
      name: "weak literals keep the type they meet",
      body: "half h = 3.0h; Y[0] = sizeof(h * 0.5) == 2 ? (float)(h * 0.5) : -1.0f;",
      y: [1.5],
    },
    {
      name: "constants INFINITY, NAN",
      body: "I[0] = 3.0f < INFINITY; I[1] = NAN != NAN;",
      i: [1, 1],
    },
    { name: "numbers stop before ..", body: "*(I + 0...4) = 4...8;", i: [4, 5, 6, 7, 0] },
  ),
  ...section(
    "1 Preprocessor",
    {
      name: "object-like and function-like macros, `#`, `##`",
      head: "#define CAT(a, b) a ## b\n#define TWICE(x) ((x) + (x))",
      body: "int CAT(v, 1) = TWICE(4); I[0] = v1;",
      i: [8],
    },
    {
      name: "conditionals, `defined`, `__type_is`",
      head:
        "#define TYPE half\n#if __type_is(TYPE, half) && !defined(NONE)\n#define R 3\n#else\n#define R 4\n#endif",
      body: "I[0] = R;",
      i: [3],
    },
  ),
  ...section(
    "3 Types",
    {
      name: "built-in names may be hidden",
      body:
        "int sum = 3; int dot = sum + 1; int exp[4] = dot; I[0] = exp[+]; int mask = 1, offset = 2, any = 3; I[1] = mask + offset + any; I[2] = (exp + 1)[any];",
      i: [16, 6, 1],
    },
    {
      name: "bool: any byte but 0 is true, stores write 0 or 1",
      body: `${R} bool b[16] = (*(B + r)) != 0; *(I + r) = b;`,
      i: [1, 1, 1, 1, 1, 1, 1, 1, 0, 1],
    },
    {
      name: "signedness of narrow integers",
      body: "char c = (char)200; unsigned char u = (unsigned char)200; I[0] = c; I[1] = u;",
      i: [-56, 200],
    },
    {
      name: "half, bfloat16, double arithmetic",
      body:
        `${R} *(Y + r) = (float)(*(H + r) * *(H + r)) + (float)((bfloat16[16])r + (bfloat16)1.0f) + (float)(*(D + r) / 3.0);`,
    },
    {
      name: "float8e4, float8e5 by conversion",
      body:
        `${R} *(Y + r) = (float[16])(float8e4[16])(*(X + r)) + (float[16])(float8e5[16])(*(X + r));`,
    },
    {
      name: "tiles of rank 1 to 3, extents of 1",
      body:
        "float a[1] = 2; float b[4, 1, 2] = 3; *(Y + (0 ... 4)[:, newaxis, newaxis] * 2 + (0 ... 2)[newaxis, newaxis, :]) = a + b;",
      y: [5, 5, 5, 5, 5, 5, 5, 5, 0],
    },
    {
      name: "tiles of pointers",
      body: `${R} const float *p[16] = X + r; p += 1; *(Y + r) = *p;`,
      y: [-1.75, -1.5],
    },
    {
      name: "typedef, also of tiles; enum",
      head: "typedef float acc_t[8];\nenum { FOUR = 4, FIVE };",
      body: "acc_t a = FIVE; *(Y + 0 ... 8) = a + FOUR;",
      y: [9, 9],
    },
  ),
  ...section(
    "4 Declarations",
    {
      name: "several declarators, initialisers that convert and stretch",
      body:
        "int a[8] = 0 ... 8, b[8, 8] = a[newaxis, :], c = 3; *(I + (a[:, newaxis] * 8 + a[newaxis, :])) = b + c;",
      i: [3, 4, 5],
    },
    {
      name: "`const` scalars are constants",
      body: "const int N = 8; *(I + 0 ... N) = 0 ... N;",
      i: [0, 1, 2],
    },
    {
      name: "static assertions",
      head: '_Static_assert(sizeof(float) == 4, "four");',
      body: "static_assert(2 * 2 == 4); I[0] = 1;",
      i: [1],
    },
    {
      name: "attributes on parameters and locals",
      body: "int s __multipleof(4) = n + 3; I[0] = s;",
      i: [8],
    },
    {
      name: "helper functions with tiles by value",
      head: "static float[8] twice(float a[8], float s) { a = a * s; return a; }",
      body: "float x[8] = 2; *(Y + 0 ... 8) = twice(x, 3.0f) + x;",
      y: [8, 8],
    },
    {
      name: "helpers with early returns",
      head: "static int sign(int a) { if (a < 0) return -1; if (a > 0) return 1; return 0; }",
      body: "I[0] = sign(n) + 10 * sign(-n) + 100 * sign(0);",
      i: [-9],
    },
    {
      name: "constant parameters of helpers",
      head:
        "static int total(const int C, const bool up, int *p) { int x[C] = 0 ... C; if (up) x = x + C; *(p + 0 ... C) = x; return x[+]; } static int both(int *p, const int C) { return total(C, 1, p) + total(2 * C, C > 4, p + C); }",
      body: "const int c = 2; I[12] = both(I, c); I[13] = total(2, 0, I + 6);",
      i: [2, 3, 0, 1, 2, 3, 0, 1, 0, 0, 0, 0, 11, 1],
    },
    { name: "parameters are variables", body: "n = n / 2; I[0] = n;", i: [2] },
  ),
];
