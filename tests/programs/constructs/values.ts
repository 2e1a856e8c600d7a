/** Section 7.4: built-ins that compute values. */
import {
  MATH_ROWS,
  type MathFunction,
  type MathName,
} from "../../../compiler/support/math_functions.ts";
import { type Construct, R, section, T } from "./construct.ts";

/** Functions of one float that give a float. */
const isOfFloat = ({ params, rule }: MathFunction): boolean =>
  params === "x" &&
  (rule.kind === "keep-float" || (rule.kind === "float" && rule.result === "same"));

/** Those of section 7.1. */
const CORE: readonly MathName[] = ["exp", "log", "sqrt"];

export const VALUES: readonly Construct[] = [
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
];
