/**
 * The constructs of language.md, section by section, each with a small program. `constructs_test.ts` runs them
 * on all targets against the reference, and makes the table in docs/language-coverage.md from this list.
 *
 * Programs are statements of a kernel with the parameters below; buffers have 64 elements, those that are
 * written start with zeros.
 */
import {
  MATH_ROWS,
  type MathFunction,
  type MathName,
} from "../../compiler/support/math_functions.ts";

export interface Construct {
  readonly section: string;
  /** Begins a line of the table. */
  readonly name: string;
  /** Statements. */
  readonly body: string;
  /** Before the kernel: helpers, macros, pragmas. */
  readonly head?: string;
  /** First elements that Y (or, if it is integers, I) must hold: what the reference is judged by. */
  readonly y?: readonly number[];
  readonly i?: readonly number[];
  /** Programs of the launch; 1 if not given. */
  readonly grid?: readonly [number, number];
  /** What constant buffers hold, as `int`. */
  readonly constants?: Readonly<Record<string, readonly number[]>>;
}

/**
 * `X[k]` is `(k - 8) / 4` for floats and `k - 8` for integers; `U` and `B` are unsigned and bytes. `n` is 5, `f` is 1.5.
 */
export const PARAMETERS = "const float *X, float *Y, int *I, const int *C, const unsigned *U, " +
  "const char *B, const half *H, const double *D, long *L, int n, float f";

/** Functions of one float that give a float. */
const isOfFloat = ({ params, rule }: MathFunction): boolean =>
  params === "x" &&
  (rule.kind === "keep-float" || (rule.kind === "float" && rule.result === "same"));

/** Those of section 7.1. */
const CORE: readonly MathName[] = ["exp", "log", "sqrt"];

const section = (
  name: string,
  ...rows: readonly (Omit<Construct, "section">)[]
): readonly Construct[] => rows.map((one) => ({ section: name, ...one }));

const R = "int r[16] = 0 ... 16; ";
const T =
  "int r[8] = 0 ... 8; int t[8, 8] = r[:, newaxis] * 8 + r[newaxis, :]; float z[8, 8] = *(X + t); ";

export const CONSTRUCTS: readonly Construct[] = [
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
  ...section(
    "6 Statements",
    {
      name: "`if`, `else`",
      body:
        "if (n > 3) I[0] = 1; else I[0] = 2; if (n > 7) { I[1] = 1; } else if (n == 5) { I[1] = 3; }",
      i: [1, 3],
    },
    {
      name: "`for` with loop-carried scalars, tiles and pointers",
      body:
        `${R} float acc[16] = 0; const float *p[16] = X + r; for (int k = 0; k < n; k++) { acc += *p; p += 4; } *(Y + r) = acc;`,
    },
    {
      name: "`while` and `do`",
      body:
        "int k = 0; while (k * k < 30) k = k + 1; I[0] = k; do { k = k - 2; } while (k > 0); I[1] = k;",
      i: [6, 0],
    },
    { name: "`break`", body: "int k = 0; for (;;) { if (k >= n) break; k++; } I[0] = k;", i: [5] },
    {
      name: "`continue`",
      body:
        "int s = 0; for (int k = 0; k < 9; k++) { if (k % 2 == 0) continue; s += k; } I[0] = s;",
      i: [16],
    },
    { name: "`return` in a kernel", body: "I[0] = 1; if (n == 5) return; I[0] = 2;", i: [1] },
    {
      name: "`return` in a loop",
      body: "for (int k = 0; ; k++) { I[0] = k; if (k == 3) return; }",
      i: [3],
    },
    {
      name: "inner declarations hide outer ones",
      body: "int a = 1; for (int k = 0; k < 2; k++) { int a = 10; a += k; I[k] = a; } I[2] = a;",
      i: [10, 11, 1],
    },
    {
      name: "loop hints",
      body: "int s = 0;\n#pragma unroll 2\nfor (int k = 0; k < n; k++) s += k;\nI[0] = s;",
      i: [10],
    },
    {
      name: "conditions that loop over tiles by `[any]`",
      body: "int a[8] = 0 ... 8; int k = 0; while ((a < 20)[any]) { a = a + 5; k++; } I[0] = k;",
      i: [4],
    },
  ),
  ...section(
    "7.1 Core built-ins",
    {
      name: "`min`, `max`: -0 below +0, NaN loses, for every float type",
      body:
        "float z = 0.0f * f, m = -0.0f * f, q = NAN * f; Y[0] = 1.0f / min(z, m); Y[1] = 1.0f / max(m, z); Y[2] = min(q, f); Y[3] = max(f, q); double dz = z, dm = m; Y[4] = (float)(1.0 / min(dz, dm)); Y[5] = (float)(1.0 / max(dm, dz)); half hz = (half)z, hm = (half)m; Y[6] = 1.0f / min(hz, hm); Y[7] = 1.0f / max(hm, hz); bfloat16 bz = z, bm = m; Y[8] = 1.0f / min(bz, bm); I[0] = isnan(min(q, q)) + 2 * isnan(minimum(q, f)) + 4 * isnan(maximum(f, q));",
      i: [7],
      y: [-Infinity, Infinity, 1.5, 1.5, -Infinity, Infinity, -Infinity, Infinity, -Infinity],
    },
    {
      name: "`get_program_id`, `get_num_programs`",
      body:
        "I[get_program_id(0) + get_program_id(1) * get_num_programs(0)] = get_program_id(0) + 10 * get_program_id(1) + 100 * get_num_programs(0);",
      grid: [3, 2],
      i: [300, 301, 302, 310, 311, 312],
    },
    {
      name: "`min`, `max`",
      body: "Y[0] = max(NAN * f, 1.0f); I[0] = min(n, -1) + max(n, 9); I[1] = (int)max(3u, 4u);",
      y: [1],
      i: [8, 4],
    },
    {
      name: "`exp`, `log`, `sqrt`",
      body: `${R} float x[16] = *(X + 8 + r) + 0.25f; *(Y + r) = exp(x) + log(x) + sqrtf(x);`,
    },
    { name: "`select`", body: `${R} *(I + r) = select(r < n, r, -1);`, i: [0, 1, 2, 3, 4, -1] },
    {
      name: "`atomic_add` on scalars and tiles",
      body:
        `${R} atomic_add(I, n); atomic_add(I + (r & 3), r, r > 2); I[20] = atomic_add(I + 8, 4);`,
      i: [29, 27, 30, 36],
    },
    {
      name: "`atomic_cas`, `atomic_xchg`",
      body: "I[1] = atomic_cas(I, 0, 7); I[2] = atomic_cas(I, 0, 9); I[3] = atomic_xchg(I, 5);",
      i: [5, 0, 7, 7],
    },
    {
      name: "a spin lock",
      body: "while (atomic_cas(I, 0, 1) == 1) ; I[1] = I[1] + n; atomic_xchg(I, 0);",
      grid: [4, 1],
      i: [0, 20],
    },
    {
      name: "old spellings of `atomic_add`",
      body: "atomic_add_float_1x1(Y, f, true); f32_atomic_add(Y + 1, f);",
      y: [1.5, 1.5],
    },
    { name: "`__debug_barrier`", body: "__debug_barrier(); I[0] = 1;", i: [1] },
    {
      name: "`calloc`: constant buffers",
      head: "char __constant__ *AD = calloc(256);",
      body: "I[0] = *((int __constant__*)AD + n);",
      constants: { AD: [0, 10, 20, 30, 40, 50] },
      i: [50],
    },
    {
      name: "constant buffers through tiles of pointers, masks and helpers",
      head: "#define BYTES (4 * 16)\nint __constant__ *LOW = calloc(BYTES);\n" +
        "int __constant__ *HIGH = calloc(BYTES);\n" +
        "static int at(int __constant__ *table, int i) { return table[i]; }",
      body: `${R} int __constant__ *p[16] = r < 2 ? LOW + r : HIGH + (15 - r); ` +
        "*(I + r) = load(p, r != 3, -1); for (int k = 0; k < n; k++) I[1] += at(LOW + 2, k & 3);",
      constants: {
        LOW: [7, 8, 100, 200, 300, 400],
        HIGH: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
      },
      i: [7, 1108, 13, -1, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0],
    },
  ),
  ...section(
    "7.3 Memory extensions",
    {
      name: "`load`, `store` with fill and modifiers",
      body: `${R} float x[16] = load(X + r, r < 4, 9.0f, "cg"); store(Y + r, x, r < 8, "cs");`,
      y: [-2, -1.75, -1.5, -1.25, 9, 9, 9, 9, 0],
    },
    {
      name: "`prefetch`, `threadfence`",
      body: "prefetch(X + n); threadfence(); I[0] = 1;",
      i: [1],
    },
    {
      name: "`atomic_min`, `max`, `and`, `or`, `xor`, `sub`",
      body:
        `${R} atomic_max(I + r, r); atomic_min(I + r, 9); atomic_or(I + r, 16); atomic_and(I + r, 29); atomic_xor(I + r, 1); atomic_sub(I + r, 3);`,
    },
    {
      name: "orders and scopes of atomics",
      body: 'atomic_add(I, 2, true, "relaxed", "gpu"); atomic_xchg(I + 1, 3, "release");',
      i: [2, 3],
    },
  ),
  ...section(
    "7.4 Value extensions",
    ...MATH_ROWS.filter(([name, row]) => isOfFloat(row) && !CORE.includes(name))
      .map(([name]) => ({
        name: `\`${name}\``,
        body:
          `${R} *(Y + r) = ${name}(*(X + 8 + r) + 0.25f); *(Y + 16 + r) = (float)${name}(*(D + 8 + r) + 0.25);`,
      })),
    {
      name: "`pow`, `div_rn`, `fma`",
      body:
        `${R} float x[16] = *(X + 8 + r) + 0.25f; *(Y + r) = pow(x, f) + div_rn(x, 3.0f) + fma(x, x, f);`,
    },
    {
      name: "`fmod`, `copysign`",
      body: `${R} float x[16] = *(X + r); *(Y + r) = fmod(x, 0.75f) + copysign(f, x);`,
    },
    {
      name: "`isnan`, `isinf`, `isfinite`",
      body:
        `${R} float x[16] = 1.0f / *(X + r); *(I + r) = isinf(x) + 2 * isnan(x - x) + 4 * isfinite(x);`,
      i: [4, 4, 4, 4, 4, 4, 4, 4, 3, 4],
    },
    {
      name: "`abs`, `clamp`, `cdiv`",
      body: "I[0] = abs(-n); I[1] = clamp(n, 0, 3); I[2] = cdiv(n, 2); Y[0] = abs(-f);",
      i: [5, 3, 3],
      y: [1.5],
    },
    {
      name: "`mulhi`, `umulhi`, `popc`, `clz`, `ffs`, `brev`",
      body:
        "I[0] = mulhi(n << 28, 64); I[1] = (int)umulhi((unsigned)n << 28, 64u); I[2] = popc(n); I[3] = clz(n); I[4] = ffs(n << 3); I[5] = brev(n);",
      i: [20, 20, 2, 29, 4],
    },
    {
      name: "`minimum`, `maximum`: NaN wins",
      body: "I[0] = isnan(maximum(NAN * f, 1.0f)); Y[0] = minimum(f, 1.0f);",
      i: [1],
      y: [1],
    },
    {
      name: "`zeros`, `full`, `arange`",
      body: "*(Y + arange(0, 8)) = zeros(float[8]) + full(float[8], f);",
      y: [1.5, 1.5],
    },
    {
      name: "`reshape`, `permute`, `trans`, `broadcast_to`, `expand_dims`",
      body:
        `${T} float a[64] = reshape(z, 64); float b[8, 8] = permute(z, 1, 0) + trans(z); float c[8, 8] = broadcast_to(expand_dims(*(X + r), 1), 8, 8); *(Y + t) = reshape(a, 8, 8) + b + c;`,
    },
    { name: "`flip`", body: `${T} *(Y + t) = flip(z, 1);`, y: [-0.25, -0.5] },
    {
      name: "`cat`, `join`, `interleave`, `split0`, `split1`",
      body:
        `int r[8] = 0 ... 8; *(I + 0 ... 16) = cat(r, r + 100); *(I + 16 + 0 ... 16) = interleave(r, r + 100); *(I + 32 + r) = split1(join(r, r + 1)) * 10 + split0(join(r, r));`,
      i: [0, 1, 2],
    },
    {
      name: "reductions as calls",
      body:
        `${T} Y[0] = sum(z) + max(z) + reduce_max(z) + reduce_min(z, 0)[+]; I[0] = any(z > 1.0f) + all(z > -9.0f) + argmax(z) + argmin(z) + prod(t - 3) + xor_sum(t);`,
    },
    {
      name: "`cumsum`, `cumprod`, `cummax`, `cummin`",
      body:
        `${T} *(Y + t) = cumsum(z, 0) + cummax(-z, 1) + cummin(z, 0); *(I + t) = cumprod(t - 3, 1);`,
    },
    { name: "`sort`", body: `${R} *(I + r) = sort((r * 7) & 15);`, i: [0, 1, 2, 3] },
    {
      name: "`bitonic_merge`",
      body:
        `${R} *(I + r) = bitonic_merge(r < 12 ? r : 23 - r) + bitonic_merge(abs(r - 5), 0, 1) - bitonic_merge((r + 5) & 15);`,
      i: [10, 9, 8, 7],
    },
    { name: "`gather`", body: `${R} *(I + r) = gather(r * 3, 15 - r, 0);`, i: [45, 42, 39] },
    { name: "`histogram`", body: `${R} *(I + 0 ... 4) = histogram(r % 3, 4);`, i: [6, 5, 5, 0] },
    {
      name: "`philox`, `randint`, `rand`, `randn`",
      body:
        `${R} *(Y + r) = rand(n, r) + randn(7, r); *(I + r) = (int)randint(9, r) ^ (int)philox(9, r, 3);`,
    },
    {
      name: "random numbers are rounded before they are added to",
      body: `${R} *(Y + r) = rand(633, r) + 3.0f; *(Y + 16 + r) = 0.3f - rand(48, r);`,
    },
    {
      name: "`atomic_cas` of floats compares bits",
      body:
        "Y[1] = -0.0f * f; Y[2] = atomic_cas(Y, 0.0f * f, 7.0f); Y[3] = atomic_cas(Y + 1, 0.0f * f, 7.0f);",
      y: [7, -0, 0, -0],
    },
    {
      name: "hints and `assume`",
      body: "assume(n > 0); I[0] = multiple_of(n, 5) + max_contiguous(n, 1) + max_constancy(n, 1);",
      i: [15],
    },
    { name: "`printf`", body: 'printf("n is %d\\n", n); I[0] = 1;', i: [1] },
    {
      name: "`sort` down puts +0 in front of -0, NaN last",
      body:
        "int r[4] = 0 ... 4; float x[4] = r == 0 ? -0.0f * f : r == 1 ? NAN * f : r == 2 ? 0.0f : -f; float s[4] = sort(x, 0, 1); *(Y + r) = s > 0 || s <= 0 ? 1.0f / s : 2.0f;",
      y: [Infinity, -Infinity, -1 / 1.5, 2].map(Math.fround),
    },
    {
      name: "`cat` and `interleave` of narrow elements keep their type",
      body:
        "int r[4] = 0 ... 4; I[0] = sizeof(cat((half[4]) r, (half[4]) r)); char c[4] = (char[4]) (r * 100); *(I + 4 + 0 ... 8) = interleave(c, c); float8e4 e[4] = (float8e4[4]) r; *(Y + 0 ... 8) = (float) cat(e, e);",
      y: [0, 1, 2, 3, 0, 1, 2, 3],
      i: [16, 0, 0, 0, 0, 0, 100, 100, -56, -56, 44, 44],
    },
    {
      name: "`sort` puts -0 in front of +0, NaN last",
      body:
        "int r[4] = 0 ... 4; float x[4] = r == 0 ? 0.0f : r == 1 ? NAN * f : r == 2 ? -0.0f * f : -f; float s[4] = sort(x); *(Y + r) = s > 0 || s <= 0 ? 1.0f / s : 2.0f;",
      y: [-2 / 3, -Infinity, Infinity, 2].map(Math.fround),
    },
    {
      name: "`static_print`",
      body: 'const int S = 4; static_print("S is", 2 * S, n); I[0] = S;',
      i: [4],
    },
    { name: "`assert`", body: 'assert(n == 5, "five"); I[0] = 1;', i: [1] },
  ),
  ...section(
    "9 Numbers",
    {
      name: "shift counts of the width and more",
      body:
        "I[0] = 1 << (n + 27); I[1] = 1 << (n + 26); I[2] = -8 >> (n + 40); I[3] = (int)(0x80000000u >> (n + 27)); I[4] = (n - 10) >> (n - 6); I[5] = 5 << (n - 6);",
      i: [0, -2147483648, -1, 0, -1, 0],
    },
    {
      name: "constant shift counts whose low 32 bits are a small number",
      body:
        "long m = n - 21; I[0] = (int)((long)n << (1l << 40)); I[1] = (int)(m >> (1l << 40)); I[2] = (int)(m >> -(1l << 40)); I[3] = (int)((unsigned long)n >> ((1l << 40) + 1));",
      i: [0, -1, -1, 0],
    },
    {
      name: "float8 saturates, half overflows",
      body:
        "Y[0] = (float8e4)(f * 1000.0f); Y[1] = (float8e5)(f * 1.0e6f); Y[2] = (half)(f * 1.0e6f); Y[3] = (float8e4)(f * -1000.0f); I[0] = isnan((float)(float8e4)(NAN * f));",
      i: [1],
      y: [448, 57344, Infinity, -448],
    },
    {
      name: "integers wrap; `INT_MIN / -1`",
      body:
        "int m = (int)0x80000000 + (n - 5); I[0] = m / (4 - n); I[1] = m % (4 - n); I[2] = m - 1; I[3] = -m;",
      i: [-2147483648, 0, 2147483647, -2147483648],
    },
    {
      name: "rounding of conversions, ties to even",
      body:
        "int big = 16777217 + (n - 5); Y[0] = big; half h = (half)(2049.0f + (float)(n - 5)); Y[1] = h;",
      y: [16777216, 2048],
    },
    {
      name: "subnormal numbers are kept",
      body: "Y[0] = 1.0e-30f * (f * 1.0e-10f) > 0.0f;",
      y: [1],
    },
    {
      name: "negative zero and infinities",
      body: "Y[0] = 1.0f / (0.0f * -f); Y[1] = max(-0.0f * f, 0.0f * f);",
      y: [-Infinity, 0],
    },
  ),
  ...section(
    "10 Parameters",
    {
      name: "facts of `require` and `specialize` change no value",
      body: "I[0] = n % 5; I[1] = n * 2;",
      head: "#pragma tri require(n % 5 == 0)\n#pragma tri noalias(all)",
      i: [0, 10],
    },
    {
      name: "64-bit arithmetic and indices",
      body: "long big = (long)n << 33; L[0] = big / 3 - 1; L[(long)n] = big;",
    },
  ),
];
