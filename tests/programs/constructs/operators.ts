/** Sections 5.2 to 5.9: operators, ranges, subscripts, products. */
import { type Construct, R, section, T } from "./construct.ts";

export const OPERATORS: readonly Construct[] = [
  ...section(
    "5.2–5.5 Operators",
    {
      name: "precedence of all levels",
      body:
        "I[0] = 2 + 3 * 4 - 10 / 3 % 2; I[1] = 1 << 2 + 1; I[2] = 7 & 3 == 3; I[3] = 1 | 2 ^ 3 & 1; I[4] = 0 || 1 && 0; I[5] = 1 ? 2 : 0 ? 3 : 4; I[6] = ~n & 15; *(I + 7 + 0 ... 4) = n * 2 + 0 ... 4 * 2;",
      i: [13, 8, 1, 3, 0, 2, 10, 10, 12, 14, 16],
    },
    {
      name: "`@` binds tighter than `*`, `^` tighter than `@`",
      body:
        "int t[2, 2] = (0 ... 2)[:, newaxis] * 2 + 0 ... 2; char c[2, 2] = (char[2, 2])t; *(I + t) = 2 * c @ c * 3 + 1; *(I + 4 + t) = ^c @ ^c;",
      i: [13, 19, 37, 67, 2, 6, 3, 11],
    },
    {
      name: "unsigned quotients, remainders, shifts, comparisons",
      body:
        "unsigned a = 7u - 9u; I[0] = a > 0; I[1] = (int)(a / 2u); I[2] = (int)(a % 10u); I[3] = (int)(a >> 31); I[4] = (int)a >> 31; int m = n - 12; I[5] = m / 2; I[6] = m % 2; I[7] = m / -2; I[8] = m >> 1; I[9] = m / 2u > 100u; I[10] = m < 1u; I[11] = (long)m < 1u;",
      i: [1, 2147483647, 4, 1, -1, -3, -1, 3, -4, 1, 0, 1],
    },
    {
      name: "narrow integers are promoted by their signedness",
      body:
        "unsigned char u = (unsigned char)(n + 250); char c = (char)(n + 250); unsigned short s = (unsigned short)(n - 6); I[0] = u; I[1] = c; I[2] = s; I[3] = u >> 1; I[4] = c >> 1; I[5] = u < c; I[6] = ~u; I[7] = -u; I[8] = u + c; unsigned char v[4] = 250 + n + (0 ... 4); I[9] = v[max]; char w[4] = (0 ... 4) + n - 7; I[10] = w[min];",
      i: [255, -1, 65535, 127, -1, 0, -256, -255, 254, 255, -2],
    },
    {
      name: "usual arithmetic conversions",
      body: "I[0] = -1 < 1u; Y[0] = (1 / 2) + 1 / 2.0f; I[1] = (int)sizeof((half)1 + 1);",
      i: [0, 2],
      y: [0.5],
    },
    {
      name: "broadcasting, newaxis",
      body:
        "int a[8] = 0 ... 8; *(I + (a[:, newaxis] * 8 + a[newaxis, :])) = a[:, newaxis] * 10 + a;",
      i: [0, 1, 2],
    },
    {
      name: "`+ - * / %` on integers",
      body: `${R} int c[16] = *(C + r); *(I + r) = c / 3 * 100 + c % 3 + (-c) * 2;`,
    },
    {
      name: "`+ - * /` on floats",
      body: `${R} float x[16] = *(X + r); *(Y + r) = x / 3.0f - x * x + 1.0f / x;`,
    },
    {
      name: "pointer arithmetic and difference",
      body: "const float *p = X + 9; I[0] = (int)((p - 1) - X); Y[0] = *(p - 2);",
      i: [8],
      y: [-0.25],
    },
    {
      name: "shifts by signedness, large counts",
      body:
        "int m = -16; unsigned u = 0xF0000000; I[0] = m >> 2; I[1] = (int)(u >> 28); I[2] = 1 << (n + 27); I[3] = m >> (n + 60);",
      i: [-4, 15, 0, -1],
    },
    { name: "bitwise operators", body: "I[0] = (n & 4) | (n ^ 7) | ~n;", i: [-2] },
    {
      name: "comparisons, NaN, pointers",
      body:
        `${R} float x[16] = *(X + r); *(I + r) = (x < 0.0f) + (x >= 1.0f) * 2 + (x != x) * 4 + (X + r == X + 3) * 8;`,
    },
    { name: "`!`, unary minus and plus", body: "I[0] = !n + !0; Y[0] = -f + +f;", i: [1], y: [0] },
    {
      name: "`++`, `--`, prefix and postfix",
      body: "int a = n++; I[0] = a * 100 + n; I[1] = --n;",
      i: [506, 5],
    },
    { name: "comma", body: "int a = (n = 7, n + 1); I[0] = a;", i: [8] },
  ),
  ...section(
    "5.6–5.7 Ranges and subscripts",
    { name: "ranges", body: "*(I + 0 ... 8) = 3 ... 11;", i: [3, 4, 5] },
    {
      name: "subscripts with `:` and newaxis",
      body: `${T} *(Y + t) = (z[:, newaxis, :])[:, +, :];`,
    },
    { name: "sums", body: `${T} *(Y + r) = z[:, +] + z[+, :]; Y[8] = z[+, +];` },
    {
      name: "max and min, NaN ignored",
      body: `${T} *(Y + r) = z[max, :] - z[:, min]; z = z > 0.0f ? NAN : z; Y[8] = z[max, max];`,
    },
    {
      name: "products, bits, any, all",
      body:
        `${T} *(I + r) = t[&, :] + t[:, |] + (t % 3)[xor, :] + (z > 1.0f)[:, any] + (z > 1.0f)[all, :]; Y[0] = (z + 3.0f)[*, :][max];`,
    },
    { name: "argmax, argmin", body: `${T} *(I + r) = (-z * z)[argmax, :] * 8 + z[:, argmin];` },
    {
      name: "several reductions in one subscript",
      body: `${T} Y[0] = z[max, +]; *(Y + 1 + r) = z[newaxis, +, :][+, :];`,
    },
    {
      name: "sums of half and bfloat16",
      body:
        "int r[16] = 0 ... 16; half h[16] = *(H + r); Y[0] = (float)h[+]; Y[1] = (float)((bfloat16[16])h)[+];",
    },
    { name: "`p[i]`", body: "I[0] = C[n] + C[9];", i: [-2] },
    {
      name: "permutations `x[^2, ^0, ^1]`",
      body:
        "int r[4] = 0 ... 4; int s[2] = 0 ... 2; int t[2, 4, 4] = s[:, newaxis, newaxis] * 16 + r[newaxis, :, newaxis] * 4 + r[newaxis, newaxis, :]; *(I + (r[:, newaxis, newaxis] * 8 + s[newaxis, :, newaxis] * 4 + r[newaxis, newaxis, :])) = t[^2, ^0, ^1];",
      i: [0, 4, 8, 12, 16],
    },
  ),
  ...section(
    "5.8–5.9 Products and transposition",
    ...["half", "bfloat16", "float", "double"].map((type) => ({
      name: `\`@\` on ${type}`,
      body: `${T} ${type} a[8, 8] = (${type}[8, 8])z; *(Y + t) = (float[8, 8])(a @ ^a);`,
    })),
    {
      name: "`@` on int8 and uint8",
      body:
        `${T} char a[8, 8] = (char[8, 8])t; unsigned char b[8, 8] = (unsigned char[8, 8])(t * 3); *(I + t) = a @ b;`,
    },
    {
      name: "`@` on float8",
      body: `${T} float8e4 a[8, 8] = (float8e4[8, 8])z; *(Y + t) = a @ ^a;`,
    },
    {
      name: "`@` with tile sizes for tensor cores",
      body:
        "int r[32] = 0 ... 32; int t[32, 32] = r[:, newaxis] * 32 + r[newaxis, :]; half a[32, 32] = (half[32, 32])(t % 7 - 3); float c[32, 32] = a @ ^a; *(Y + r) = c[+, :]; *(Y + 32 + r) = c[:, max];",
    },
    {
      name: "`@` with batch axes last",
      body:
        "int r[4] = 0 ... 4; int t[4, 4, 4] = r[:, newaxis, newaxis] * 16 + r[newaxis, :, newaxis] * 4 + r; float a[4, 4, 4] = *(X + t); *(Y + t) = a @ a;",
    },
    {
      name: "`acc += a @ b`, outer products",
      body:
        `${T} half a[8, 1] = (half[8, 1])r[:, newaxis]; float c[8, 8] = z; c += a @ ^a; *(Y + t) = c;`,
      y: [-2, -1.75],
    },
    { name: "`dot` with an accumulator and modes", body: `${T} *(Y + t) = dot(z, z, z, "ieee");` },
    { name: "transposition `^x`", body: `${T} *(Y + t) = ^z;`, y: [-2, 0, 2, 4] },
  ),
];
