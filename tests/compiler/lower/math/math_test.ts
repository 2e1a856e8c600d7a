/** Functions on the emulator against references in double precision, within the errors that their table states. */
import { FLOAT_MATH, isFloatFunction } from "../../../../compiler/lower/math/float.ts";
import { must } from "../../../../compiler/support/bug.ts";
import {
  type FloatFunction,
  MATH_ROWS,
  type MathName,
} from "../../../../compiler/support/math_functions.ts";
import type { ScalarName } from "../../../../compiler/support/scalar.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { freshRandom } from "../../../support/random.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { mathReference } from "../../../support/reference/math.ts";
import { decode, encode, firstDifference } from "../../../support/typed_arrays.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";

const test = testsInTurn(2);

const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];
const COUNT = 256;

/** Functions of one float, and `pow`; `lowerMath() rounds …` has those with one right answer. */
const NAMES = MATH_ROWS.flatMap(([name, { params, rule }]) =>
  isFloatFunction(name) && rule.kind === "float" && rule.result === "same" &&
    (params === "x" || name === "pow")
    ? [name]
    : []
);

/** Magnitudes of arguments: tiny, ordinary, huge. */
const RANGES = [
  1e-300,
  1e-40,
  1e-6,
  0.5,
  1,
  3,
  20,
  90,
  700,
  1e5,
  1e12,
  1e37,
  3.4e38,
  1e300,
  1.7e308,
];
const SPECIAL = [
  0,
  -0,
  1,
  -1,
  Infinity,
  -Infinity,
  NaN,
  2 ** -149,
  -(2 ** -149),
  0.5,
  -0.5,
  2,
  -2,
  3,
  -3,
];

/** Where functions are not NaN, if not everywhere. */
const DOMAINS: Readonly<Partial<Record<MathName, (x: number) => number>>> = {
  log: Math.abs,
  log2: Math.abs,
  log10: Math.abs,
  sqrt: Math.abs,
  rsqrt: Math.abs,
  pow: Math.abs,
  acosh: (x) => 1 + Math.abs(x),
  atanh: (x) => Math.abs(x) > 1 ? 1 / x : x,
};

const round = (type: ScalarName, values: readonly number[]): number[] =>
  decode(type, encode(type, values)).map(Number);

function argumentsOf(name: MathName, type: ScalarName): { xs: number[]; ys: number[] } {
  const random = freshRandom();
  const xs = Array.from({ length: COUNT }, (_, i) => {
    if (i < SPECIAL.length ** 2 && name === "pow") return must(SPECIAL[i % SPECIAL.length], "x");
    if (i < SPECIAL.length) return must(SPECIAL[i], "special");
    const value = (2 * random.unit() - 1) * must(RANGES[i % RANGES.length], "range");
    return DOMAINS[name]?.(value) ?? value;
  });
  const ys = xs.map((_, i) =>
    i < SPECIAL.length ** 2
      ? must(SPECIAL[Math.floor(i / SPECIAL.length)], "y")
      : (2 * random.unit() - 1) * 12
  );
  return { xs: round(type, xs), ys: round(type, ys) };
}

/** Units in the last place between a result and its reference. */
function error(actual: number, expected: number, double: boolean): number {
  if (Object.is(actual, expected) || actual === expected) return 0;
  const [precision, least, most] = double ? [53, -1022, 2 ** 1023] : [24, -126, 2 ** 127];
  if (!Number.isFinite(expected) || !Number.isFinite(actual)) {
    // Overflow may come a rounding early or late.
    const larger = Math.min(Math.abs(expected), Math.abs(actual));
    return larger >= most * 1.9999 && Math.sign(actual) === Math.sign(expected) ? 0 : Infinity;
  }
  const exponent = Math.max(least, Math.floor(Math.log2(Math.abs(expected))));
  return Math.abs(actual - expected) / 2 ** (exponent - precision + 1);
}

function checkFunction(name: FloatFunction, type: "float32" | "float64", target: TargetName): void {
  const spelling = type === "float32" ? "float" : "double";
  const isPower = name === "pow";
  const compiled = new CompiledText(
    `#pragma tri grid(1)
__global__ void k(${spelling} *X, ${spelling} *Y, ${spelling} *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  *(Z + r) = ${name}(*(X + r)${isPower ? ", *(Y + r)" : ""});
}`,
    target,
  );
  const { xs, ys } = argumentsOf(name, type);
  const [, , result = []] = compiled.run([
    { type, values: xs },
    { type, values: ys },
    zeros(type, COUNT),
  ]);
  const double = type === "float64";
  // A reference of JavaScript may itself be off by one in a double.
  const bound = FLOAT_MATH[name].ulp[double ? 1 : 0] + (double ? 1 : 0);
  xs.forEach((x, i) => {
    const y = must(ys[i], "y");
    const expected = mathReference(name)(x, y);
    const ulps = error(Number(result[i]), expected, double);
    assert(
      ulps <= bound,
      `${name}(${x}${isPower ? `, ${y}` : ""}): ${result[i]} instead of ${expected}, ${ulps} ulp`,
    );
  });
}

for (const type of ["float32", "float64"] as const) {
  test(`lowerMath() keeps the errors of its table in ${type}`, () => {
    NAMES.forEach((name, i) => {
      // The code is the same for all targets.
      for (const target of sampled(TARGET_NAMES, 1, i)) checkFunction(name, type, target);
    });
  });
}

/** Hyperbolic functions where formulas overflow, cancel or lose signs: argument and value. */
const CORNERS: Readonly<
  Record<string, readonly (readonly [x: number, single: number, double: number])[]>
> = {
  sinh: [
    [-0, -0, -0],
    [2 ** -149, 2 ** -149, 2 ** -149],
    [-(2 ** -126), -(2 ** -126), -(2 ** -126)],
    [-89, -2.2448064095871726e38, -2.2448064095871726e38],
    [89.5, Infinity, 3.7010600760903556e38],
    [710, Infinity, 1.1169973830808555e308],
    [-711, -Infinity, -Infinity],
    [-Infinity, -Infinity, -Infinity],
    [NaN, NaN, NaN],
  ],
  cosh: [
    [-0, 1, 1],
    [2 ** -149, 1, 1],
    [-89, 2.2448064095871726e38, 2.2448064095871726e38],
    [-710, Infinity, 1.1169973830808555e308],
    [-Infinity, Infinity, Infinity],
    [NaN, NaN, NaN],
  ],
  asinh: [
    [-0, -0, -0],
    [-(2 ** -149), -(2 ** -149), -(2 ** -149)],
    [-(2 ** 127), -Math.log(2) * 128, -Math.log(2) * 128],
    [1.9 * 2 ** 127, Math.log(1.9) + Math.log(2) * 128, Math.log(1.9) + Math.log(2) * 128],
    [1.9 * 2 ** 1023, Infinity, Math.log(1.9) + Math.log(2) * 1024],
    [1.5 * 2 ** 1000, Infinity, Math.log(1.5) + Math.log(2) * 1001],
    [-Infinity, -Infinity, -Infinity],
    [NaN, NaN, NaN],
  ],
  acosh: [
    [1, 0, 0],
    [1 + 2 ** -23, 2 ** -11, 4.882812451493617e-4],
    [2 ** 127, Math.log(2) * 128, Math.log(2) * 128],
    [1.9 * 2 ** 127, Math.log(1.9) + Math.log(2) * 128, Math.log(1.9) + Math.log(2) * 128],
    [1.9 * 2 ** 1023, Infinity, Math.log(1.9) + Math.log(2) * 1024],
    [1 - 2 ** -24, NaN, NaN],
    [0, NaN, NaN],
    [-3, NaN, NaN],
    [-(2 ** 100), NaN, NaN],
    [Infinity, Infinity, Infinity],
    [-Infinity, NaN, NaN],
    [NaN, NaN, NaN],
  ],
  log1p: [
    [1.9 * 2 ** 127, Math.log(1.9) + Math.log(2) * 127, Math.log(1.9) + Math.log(2) * 127],
    [1.9 * 2 ** 1023, Infinity, Math.log(1.9) + Math.log(2) * 1023],
    [-1, -Infinity, -Infinity],
    [Infinity, Infinity, Infinity],
    [NaN, NaN, NaN],
  ],
  atanh: [
    [-0, -0, -0],
    [-(2 ** -149), -(2 ** -149), -(2 ** -149)],
    [-1, -Infinity, -Infinity],
    [1, Infinity, Infinity],
    [1 - 2 ** -24, 8.664339742098155, 8.664339742098155],
    [1 + 2 ** -23, NaN, NaN],
    [-(2 ** 100), NaN, NaN],
    [Infinity, NaN, NaN],
    [NaN, NaN, NaN],
  ],
};

test("lowerMath() keeps signs of zeros and does not overflow early in hyperbolic functions", () => {
  for (const [name, corners] of Object.entries(CORNERS)) {
    for (const [type, spelling] of [["float32", "float"], ["float64", "double"]] as const) {
      const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(${spelling} *X, ${spelling} *Z) {
  int r[16] = 0 ... 16;
  *(Z + r) = ${name}(*(X + r));
}`);
      const xs = Array.from({ length: 16 }, (_, i) => corners[i]?.[0] ?? 0);
      const [, result = []] = compiled.run([{ type, values: round(type, xs) }, zeros(type, 16)]);
      corners.forEach(([x, single, double], i) => {
        const [actual, expected] = [Number(result[i]), type === "float32" ? single : double];
        const isNear = error(actual, expected, type === "float64") <= 4;
        assert(
          isNear && Object.is(Math.sign(actual), Math.sign(expected)),
          `${name}(${x}) of ${type}: ${actual} instead of ${expected}`,
        );
      });
    }
  }
});

test("lowerMath() takes narrow floats to hyperbolic functions in float", () => {
  for (const [type, spelling] of [["float16", "half"], ["bfloat16", "bfloat16"]] as const) {
    for (const name of ["sinh", "cosh", "asinh", "acosh", "atanh"] as const) {
      const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(${spelling} *X, float *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  *(Z + r) = ${name}(*(X + r));
}`);
      const { xs } = argumentsOf(name, type);
      const [, result = []] = compiled.run([{ type, values: xs }, zeros("float32", COUNT)]);
      xs.forEach((x, i) => {
        const ulps = error(Number(result[i]), mathReference(name)(x), false);
        assert(ulps <= FLOAT_MATH[name].ulp[0], `${name}(${x}) of ${type}: ${ulps} ulp`);
      });
    }
  }
});

/** Functions with one right answer. */
const EXACT: Readonly<Record<string, (x: number, y: number) => number>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: (x) => {
    const whole = Math.trunc(x);
    return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
  },
  rint: (x) => {
    const below = Math.floor(x);
    const isUp = x - below > 0.5 || (x - below === 0.5 && below % 2 !== 0);
    const whole = isUp ? below + 1 : below;
    return whole === 0 ? 0 * x : whole;
  },
  abs: Math.abs,
  fmod: (x, y) => x % y,
  copysign: (x, y) => Math.abs(x) * (y < 0 || Object.is(y, -0) ? -1 : 1),
  minimum: Math.min,
  maximum: Math.max,
  min: (x, y) => Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y),
  max: (x, y) => Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.max(x, y),
};
const BINARY = ["fmod", "copysign", "minimum", "maximum", "min", "max"];

test("lowerMath() rounds, compares and takes remainders exactly in every floating type", () => {
  for (const type of ["float16", "bfloat16", "float32", "float64"] as const) {
    const spelling = { float16: "half", bfloat16: "bfloat16", float32: "float", float64: "double" };
    for (const [k, name] of Object.keys(EXACT).entries()) {
      const compiled = new CompiledText(
        `#pragma tri grid(1)
__global__ void k(${spelling[type]} *X, ${spelling[type]} *Y, ${spelling[type]} *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  *(Z + r) = ${name}(*(X + r)${BINARY.includes(name) ? ", *(Y + r)" : ""});
}`,
        must(TARGET_NAMES[k % TARGET_NAMES.length], "target"),
      );
      const { xs, ys } = argumentsOf("pow", type);
      // The sign of a NaN is nothing to rely on.
      if (name === "copysign") ys.forEach((y, i) => ys[i] = Number.isNaN(y) ? -1 : y);
      const signed = xs.map((x, i) => i % 2 === 0 ? x : -x);
      const [, , result = []] = compiled.run([
        { type, values: signed },
        { type, values: ys },
        zeros(type, COUNT),
      ]);
      const expected = round(
        type,
        signed.map((x, i) => must(EXACT[name], name)(x, must(ys[i], "y"))),
      );
      const sources = signed.map((x, i) => `${name}(${x}, ${ys[i]})`);
      assertEquals(firstDifference(result, expected, sources), undefined, `${name} of ${type}`);
    }
  }
});

Deno.test("lowerMath() counts and reverses bits and multiplies to the high half", () => {
  const values = Array.from(
    { length: COUNT },
    (_, i) => BigInt.asIntN(64, BigInt(i) * 0x9e3779b97f4a7c15n >> BigInt(i % 64)),
  );
  for (const [type, bits] of [["int", 32], ["long", 64]] as const) {
    const name: ScalarName = bits === 32 ? "int32" : "int64";
    const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(${type} *X, int *Y, ${type} *Z) {
  int r[${COUNT}] = 0 ... ${COUNT};
  ${type} x[${COUNT}] = *(X + r);
  *(Y + r) = popc(x) + 1000 * clz(x) + 1000000 * ffs(x);
  *(Z + r) = brev(x) ^ mulhi(x, ~x) ^ (${type}[${COUNT}])umulhi(x, ~x) ^ abs(x);
}`);
    const xs = values.map((value) => BigInt.asIntN(bits, value));
    const [, y, z] = compiled.run([
      { type: name, values: xs },
      zeros("int32", COUNT),
      zeros(name, COUNT),
    ]);
    const binary = (x: bigint): string => BigInt.asUintN(bits, x).toString(2).padStart(bits, "0");
    assertEquals(
      y,
      xs.map((x) => {
        const digits = binary(x);
        const ones = digits.replaceAll("0", "").length;
        const leading = digits.indexOf("1") < 0 ? bits : digits.indexOf("1");
        const lowest = digits.lastIndexOf("1");
        return BigInt(ones + 1000 * leading + 1000000 * (lowest < 0 ? 0 : bits - lowest));
      }),
    );
    assertEquals(
      z,
      xs.map((x) => {
        const reversed = BigInt(`0b${[...binary(x)].reverse().join("")}`);
        const high = (x * ~x) >> BigInt(bits);
        const unsigned = (BigInt.asUintN(bits, x) * BigInt.asUintN(bits, ~x)) >> BigInt(bits);
        return BigInt.asIntN(bits, reversed ^ high ^ unsigned ^ (x < 0n ? -x : x));
      }),
    );
  }
});
