/** Functions on the emulator against references in double precision, within the errors that their table states. */
import { MATH } from "../../../compiler/lower/math.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { type TargetName, TARGETS } from "../../../compiler/targets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { erf } from "../../support/erf.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode, firstDifference } from "../../support/typed_arrays.ts";
import { CompiledText, zeros } from "../../support/value_run.ts";

const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];
const COUNT = 256;

/** References; those of JavaScript are within one unit in the last place of a double. */
const REFERENCES: Readonly<Record<string, (x: number, y: number) => number>> = {
  exp: Math.exp,
  exp2: (x) => Math.pow(2, x),
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log1p: Math.log1p,
  sqrt: Math.sqrt,
  rsqrt: (x) => 1 / Math.sqrt(x),
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  tanh: Math.tanh,
  sigmoid: (x) => x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)),
  erf,
  pow: Math.pow,
};

/** Magnitudes of arguments: tiny, ordinary, huge. */
const RANGES = [1e-6, 0.5, 1, 3, 20, 90, 700, 1e5, 1e12, 1e37];
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

const round = (type: ScalarName, values: readonly number[]): number[] =>
  decode(type, encode(type, values)).map(Number);

function argumentsOf(name: string, type: ScalarName): { xs: number[]; ys: number[] } {
  const random = freshRandom();
  const xs = Array.from({ length: COUNT }, (_, i) => {
    if (i < SPECIAL.length ** 2 && name === "pow") return must(SPECIAL[i % SPECIAL.length], "x");
    if (i < SPECIAL.length) return must(SPECIAL[i], "special");
    const value = (2 * random.unit() - 1) * must(RANGES[i % RANGES.length], "range");
    return /^(log|log2|sqrt|rsqrt|pow)$/.test(name) ? Math.abs(value) : value;
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

function checkFunction(name: string, type: "float32" | "float64", target: TargetName): void {
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
  const bound = must(MATH[name], name).ulp[double ? 1 : 0] + (double ? 1 : 0);
  xs.forEach((x, i) => {
    const y = must(ys[i], "y");
    // JavaScript says NaN where IEEE 754 says 1.
    const expected = isPower && (x === 1 || (x === -1 && Math.abs(y) === Infinity))
      ? 1
      : must(REFERENCES[name], name)(x, y);
    const ulps = error(Number(result[i]), expected, double);
    assert(
      ulps <= bound,
      `${name}(${x}${isPower ? `, ${y}` : ""}): ${result[i]} instead of ${expected}, ${ulps} ulp`,
    );
  });
}

for (const type of ["float32", "float64"] as const) {
  Deno.test(`lowerMath() keeps the errors of its table in ${type}`, () => {
    Object.keys(REFERENCES).forEach((name, i) => {
      // Two targets each: the code is the same for all.
      checkFunction(name, type, must(TARGET_NAMES[i % TARGET_NAMES.length], "target"));
      checkFunction(name, type, must(TARGET_NAMES[(i + 4) % TARGET_NAMES.length], "target"));
    });
  });
}

/** Functions with one right answer. */
const EXACT: Readonly<Record<string, (x: number, y: number) => number>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: (x) => {
    const whole = Math.trunc(x);
    return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
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

Deno.test("lowerMath() rounds, compares and takes remainders exactly in every floating type", () => {
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
