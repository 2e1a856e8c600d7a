/** Sections 5.10 to 5.15: memory, choice, casts, constants, order. */
import { type Construct, R, section, T } from "./construct.ts";

export const MEMORY_AND_CASTS: readonly Construct[] = [
  ...section(
    "5.10–5.12 Memory and choice",
    {
      name: "the mask of a `?:` reaches loads through newaxis, stretching, `^` and functions",
      body:
        "int r[8] = 0 ... 8; int t[8, 8] = r[:, newaxis] * 8 + r[newaxis, :]; *(I + t) = r[newaxis, :] < 4 && r[:, newaxis] == 0 ? (*(C + 60 + r))[newaxis, :] : 0; *(Y + t) = r[:, newaxis] < 2 & r[newaxis, :] < 3 ? exp(^(*(X + 48 + ^t))) * 0.0f + 1.0f : 0.0f;",
      i: [52, 53, 54, 55, 0, 0, 0, 0, 0],
      y: [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0],
    },
    {
      name: "a nested mask and one around it",
      body: "int r[8] = 0 ... 8; *(I + r) = r < 6 ? *?(r > 2)(C + 58 + r) + 1 : -1;",
      i: [1, 1, 1, 54, 55, 56, -1, -1],
    },
    {
      name: "loads and stores of a loop happen in its order",
      body:
        "int r[16] = 0 ... 16; *(I + r) = r; for (int k = 0; k < 4; k++) { *(I + r) = *(I + (15 - r)) + *(I + r); }",
      i: [120, 120],
    },
    {
      name: "masked loads give 0, masked stores leave memory alone",
      body: `${R} *?(r < 5) (Y + r) = (*?(r > 2) (X + r)) + 1.0f;`,
      y: [1, 1, 1, -0.25, 0, 0],
    },
    { name: "gather and scatter", body: `${R} *(I + ((r * 7) & 15)) = *(C + ((r * 5) & 15));` },
    {
      name: "a scalar pointer under a tile mask",
      body: `${R} *?(r == 3) (I + 2) = r;`,
      i: [0, 0, 3],
    },
    {
      name: "loads inside a tile `?:` run under its condition",
      body: `${R} *(Y + r) = r < 8 ? *(X + r) : *(X + r - 8) * 2.0f;`,
    },
    {
      name: "scalar `?:` and `?:` without a middle",
      body: "Y[0] = n > 3 ? X[0] : X[1]; I[0] = 0 ?: n;",
      y: [-2],
      i: [5],
    },
    {
      name: "`&&`, `||` of scalars are lazy",
      body: "I[0] = n > 100 && C[1000] > 0; I[1] = n > 0 || C[1000] > 0;",
      i: [0, 1],
    },
    {
      name: "`&&`, `||` of tiles mask loads",
      body: `${R} bool b[16] = r < 8 && *(C + r) > -5; *(I + r) = b;`,
    },
    {
      name: "compound assignment evaluates its address once",
      body: "int k = 0; I[0] = 5; I[k++] += 3; I[1] = k; *?(n > 3) (I + 2) += 4;",
      i: [8, 1, 4],
    },
    {
      name: "a load after a store of other lanes",
      body: `int r[64] = 0 ... 64; *(I + r) = r; *(I + r) = *(I + (63 - r)) * 2;`,
      i: [126, 124],
    },
    {
      name: "a load is a snapshot",
      body:
        `int r[8] = 0 ... 8; int t[8, 8] = r[:, newaxis] * 8 + r; *(I + t) = t; *(I + t) = ^(*(I + t));`,
      i: [0, 8, 16],
    },
  ),
  ...section(
    "5.13–5.14 Casts and constants",
    {
      name: "floats to integers truncate and saturate",
      body:
        "I[0] = (int)(unsigned char)(f * -2.0f); I[1] = (int)(char)(f * 100.0f); I[2] = (unsigned char)(f * 1000.0f); I[3] = (char)(f * -1000.0f); I[4] = (int)(unsigned)(f * 4.0e9f); I[5] = (bool)(NAN * f); I[6] = (short)(f * 1e9f); Y[0] = (float)(unsigned)(n - 6); Y[1] = n - 6;",
      i: [0, 127, 255, -128, -1, 1, 32767],
      y: [4294967296, -1],
    },
    {
      name: "integers that go through floats to narrower integers saturate",
      body:
        "int r[16] = 0 ... 16; *(I + r) = (unsigned char[16])(double[16])(*(C + r)); I[16] = (char)(double)(n * 100); I[17] = (unsigned char)(float)(short)(n - 8); I[18] = (bool)(double)n; short s = n * 60; I[19] = (char)(float)s;",
      i: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 127, 0, 1, 127],
    },
    {
      name: "types of literals and of mixed operands",
      body:
        "half h = (half)f; bfloat16 b = f; I[0] = sizeof(floor(h)); I[1] = sizeof(exp(h)); I[2] = sizeof(h * 2); I[3] = sizeof(h * 2.0); I[4] = sizeof(h * 2.0f); I[5] = sizeof(h + b); I[6] = sizeof(f * 1.0l); I[7] = sizeof((char)1 + (char)1); I[8] = sizeof(4294967295); I[9] = sizeof(0xFFFFFFFF); I[10] = 0xE+1;",
      i: [2, 4, 2, 2, 4, 4, 8, 4, 8, 4, 15],
    },
    {
      name: "pointers to integers and back, null",
      body:
        "const float *p = (const float *)((long)X + 8); I[0] = (int)((long)(X + 3) - (long)X); I[1] = p == X + 2; I[2] = (bool)p; float *q = 0; I[3] = q == NULL; I[4] = !q; void *v = (void *)Y; float *w = v; *w = *p;",
      i: [12, 1, 1, 1, 1],
      y: [-1.5],
    },
    {
      name: "a pointer to bool: initialised, assigned, passed, returned, stored",
      head:
        "static int one(bool b) { return b ? 1 : 2; }\nstatic bool there(const float *p) { return p; }",
      body:
        "int r4[4] = 0 ... 4; const float *q = 0; const float *p[4] = r4 < 2 ? X + r4 : q; bool have[4] = p; bool b = q; " +
        "*(I + r4) = have; I[4] = b; b = X; I[5] = b; I[6] = one(X) * 10 + one(q); I[7] = there(X) * 10 + there(q); " +
        "have = X; *(I + 8 + r4) = have;",
      i: [1, 1, 0, 0, 0, 1, 12, 10, 1, 1, 1, 1],
    },
    {
      name: "casts between all kinds of numbers",
      body:
        "float big = 3.0e9f * n; I[0] = (int)big; I[1] = (int)-2.9f; I[2] = (int)(NAN * f); I[3] = (bool)0.5f; L[0] = (long)big;",
      i: [2147483647, -2, 0, 1],
    },
    {
      name: "tile casts stretch and flatten",
      body: `${T} float flat[64] = (float[64])z; *(Y + 0 ... 64) = flat + (float[64])f;`,
      y: [-0.5],
    },
    {
      name: "`bitcast`",
      body:
        "I[0] = bitcast<int>(f); Y[0] = bitcast<float>(0x40490FDB + (n - 5)); char c[8] = 0 ... 8; *(I + 8 + 0 ... 8) = bitcast<unsigned char[8]>((char[8])(c - 4));",
      i: [0x3fc00000],
    },
    {
      name: "constant expressions",
      body: "enum { A = cdiv(10, 4), B2 = next_pow2(5) }; I[0] = A * 10 + B2; I[1] = ilog2(16);",
      i: [38, 4],
    },
  ),
  ...section(
    "5.15 Order",
    {
      name: "operands and arguments from left to right",
      body:
        "int a = 1; I[0] = (a = 2) + a * 10; I[1] = a + (a = 5); I[2] = cdiv(a, (a = 2)); I[3] = clamp(a, (a = 1), (a = 3)); I[4] = select(a > 1, a, (a = 7));",
      i: [22, 7, 3, 2, 3],
    },
    {
      name: "`dot` takes its accumulator last, `store` its value second",
      body:
        "char c[2, 2] = 2, e[2, 2] = 1; int s[2, 2] = dot(c, (c = 3, e), (int[2, 2])c); I[0] = s[max, max]; int k = 8; store(I + (k = k + 1), (k = k * 2)); I[1] = I[9];",
      i: [7, 18],
    },
    {
      name: "assignments: right side, lvalue, store",
      body:
        "int a = 1; I[a] = (a = 3); int k = 0; I[k++] += k + 4; int *p = I + 4; *p += (p = p + 1, 2); I[6] = k;",
      i: [4, 0, 0, 3, 0, 2, 1],
    },
  ),
];
