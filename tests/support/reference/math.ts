/** The mathematical functions: their values in double, and the accuracy that language.md, 9.3 promises. */
import { must } from "../../../compiler/support/bug.ts";
import type { FloatFunction } from "../../../compiler/support/math_functions.ts";
import { erf } from "./erf.ts";
import { exact, type FloatCell, isExact, UNKNOWN_FLOAT } from "./cell.ts";
import { type FloatName, largestOf, roundTo, spacing } from "./formats.ts";

interface MathFunction {
  readonly compute: (...args: number[]) => number;
  /** Largest deviation for float, from the result and the arguments. */
  readonly bound: (result: number, args: readonly number[]) => number;
  /** Correctly rounded. */
  readonly exact?: true;
  /** It has steps, so its value is known for exact arguments only. */
  readonly stepped?: true;
}

const relative = (bits: number) => (result: number): number => Math.abs(result) * 2 ** -bits;
const ulps = (count: number) => (result: number): number => count * spacing(result, "float32");
const CORRECT = { bound: () => 0, exact: true } as const;
const STEPPED = { ...CORRECT, stepped: true } as const;

const logBound = (result: number, [x = 0]: readonly number[]): number =>
  x >= 0.5 && x <= 2 ? 2 ** -22 : Math.abs(result) * 2 ** -21;

/** Tests and extremes give no rounded result; builtins.ts has them. */
type Computed =
  | Exclude<FloatFunction, "isnan" | "isinf" | "isfinite" | "minimum" | "maximum">
  | "sqrt_rn";

const FUNCTIONS: Readonly<Record<Computed, MathFunction>> = {
  exp: {
    compute: Math.exp,
    bound: (result, [x = 0]) => result * (2 ** -21 + Math.abs(x) * 2 ** -23),
  },
  exp2: { compute: (x) => 2 ** x, bound: ulps(2) },
  expm1: { compute: Math.expm1, bound: ulps(4) },
  log: { compute: Math.log, bound: logBound },
  log2: { compute: Math.log2, bound: logBound },
  log10: { compute: Math.log10, bound: logBound },
  log1p: { compute: Math.log1p, bound: ulps(4) },
  sin: { compute: Math.sin, bound: () => 2 ** -20 },
  cos: { compute: Math.cos, bound: () => 2 ** -20 },
  tan: { compute: Math.tan, bound: ulps(4) },
  sinh: { compute: Math.sinh, bound: ulps(4) },
  cosh: { compute: Math.cosh, bound: ulps(4) },
  tanh: { compute: Math.tanh, bound: relative(20) },
  asinh: { compute: Math.asinh, bound: ulps(4) },
  acosh: { compute: Math.acosh, bound: ulps(4) },
  atanh: { compute: Math.atanh, bound: ulps(4) },
  sigmoid: { compute: sigmoid, bound: relative(20) },
  erf: { compute: erf, bound: ulps(4) },
  pow: { compute: power, bound: ulps(4) },
  rsqrt: { compute: (x) => 1 / Math.sqrt(x), bound: relative(20) },
  sqrt: { compute: Math.sqrt, ...CORRECT },
  sqrt_rn: { compute: Math.sqrt, ...CORRECT },
  div_rn: { compute: (a, b) => a / b, ...CORRECT },
  fma: { compute: fusedDouble, ...CORRECT },
  fmod: { compute: (a, b) => a % b, ...STEPPED },
  floor: { compute: Math.floor, ...STEPPED },
  ceil: { compute: Math.ceil, ...STEPPED },
  trunc: { compute: Math.trunc, ...STEPPED },
  round: { compute: roundAway, ...STEPPED },
  rint: { compute: roundEven, ...STEPPED },
  copysign: { compute: copySign, ...STEPPED },
  abs: { compute: Math.abs, ...CORRECT },
};

export function isMathFunction(name: string): name is Computed {
  return Object.hasOwn(FUNCTIONS, name);
}

/** The value of a function in double; JavaScript's functions are within two units in the last place. */
export function mathReference(name: string): (...args: number[]) => number {
  return must(isMathFunction(name) ? FUNCTIONS[name] : undefined, name).compute;
}

/** `f(args)` in a type. */
export function mathCell(name: string, args: readonly FloatCell[], type: FloatName): FloatCell {
  const row = must(isMathFunction(name) ? FUNCTIONS[name] : undefined, name);
  const values = args.map(({ value }) => value);
  // The sign of a NaN is not defined.
  if (name === "copysign" && Number.isNaN(values[1])) return UNKNOWN_FLOAT;
  if (args.every(isExact)) {
    if (name === "fma") return exact(fused(values, type));
    return widened(row, row.compute(...values), 0, values, type);
  }
  if (args.some(({ error }) => error === Infinity) || row.stepped) return UNKNOWN_FLOAT;
  const [, second] = args;
  if (name === "div_rn" && second !== undefined && Math.abs(second.value) <= second.error) {
    return UNKNOWN_FLOAT;
  }
  // The functions left are smooth; the corners of so small a box show how far they move in it.
  const center = row.compute(...values);
  let spread = LIPSCHITZ.has(name) ? Math.max(...args.map(({ error }) => error)) : 0;
  for (let corner = 0; corner < 2 ** args.length; corner++) {
    const at = args.map(({ value, error }, i) => value + (corner >> i & 1 ? error : -error));
    spread = Math.max(spread, Math.abs(row.compute(...at) - center));
  }
  return Number.isFinite(spread) ? widened(row, center, 2 * spread, values, type) : UNKNOWN_FLOAT;
}

/** They turn around inside of a box, but never move further than their argument. */
const LIPSCHITZ: ReadonlySet<string> = new Set(["sin", "cos", "abs"]);

function widened(
  row: MathFunction,
  value: number,
  spread: number,
  args: readonly number[],
  type: FloatName,
): FloatCell {
  if (!Number.isFinite(value)) return spread === 0 ? exact(value) : UNKNOWN_FLOAT;
  if (row.exact && spread === 0) return exact(roundTo(value, type));
  // Exact at the ends of the range and at zero.
  if (spread === 0 && args.some((arg) => !Number.isFinite(arg))) return exact(value);
  const bound = row.exact
    ? spacing(value, type)
    : type === "float64"
    ? 5 * spacing(value, type)
    : row.bound(value, args) + spacing(value, type);
  const error = bound + spread;
  if (Math.abs(value) + error > largestOf(type)) return UNKNOWN_FLOAT;
  return { kind: "float", value, error, slack: 0 };
}

/** `a * b + c` rounded once. */
function fused([a = 0, b = 0, c = 0]: readonly number[], type: FloatName): number {
  if (type === "float64") return fusedDouble(a, b, c);
  const product = a * b; // exact for float
  const sum = product + c;
  if (!Number.isFinite(sum)) return roundTo(sum, type);
  // What the sum lost (Knuth's two-sum) decides where it lies halfway between two floats.
  const back = sum - product;
  const lost = (product - (sum - back)) + (c - back);
  const near = roundTo(sum, type);
  if (lost === 0 || near === sum) return near;
  const step = spacing(sum, "float64") * Math.sign(lost);
  return roundTo(sum + step, type);
}

function fusedDouble(a: number, b: number, c: number): number {
  const naive = a * b + c;
  if (!Number.isFinite(naive) || a === 0 || b === 0) return naive;
  const [x, y, z] = [parts(a), parts(b), parts(c)];
  const scale = Math.min(x.exponent + y.exponent, z.exponent);
  const at = (value: bigint, exponent: number): bigint => value << BigInt(exponent - scale);
  const sum = at(x.digits * y.digits, x.exponent + y.exponent) + at(z.digits, z.exponent);
  if (sum === 0n) return naive;
  const length = (sum < 0n ? -sum : sum).toString(2).length;
  const drop = Math.max(0, -1074 - scale, length - 53);
  return Number(halfEven(sum, BigInt(drop))) * 2 ** (scale + drop);
}

/** A number without its last bits, rounded to the nearest, ties to even. */
function halfEven(value: bigint, drop: bigint): bigint {
  if (drop === 0n) return value;
  const below = value >> drop;
  const rest = value - (below << drop);
  const middle = 1n << (drop - 1n);
  return rest > middle || (rest === middle && (below & 1n) === 1n) ? below + 1n : below;
}

/** A number and its bits. */
const VIEW = new DataView(new ArrayBuffer(8));

/** A finite number as an integer times a power of two. */
function parts(value: number): { readonly digits: bigint; readonly exponent: number } {
  VIEW.setFloat64(0, value);
  const bits = VIEW.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const digits = (bits & ((1n << 52n) - 1n)) | (field === 0 ? 0n : 1n << 52n);
  return { digits: value < 0 ? -digits : digits, exponent: Math.max(field, 1) - 1075 };
}

/** Half to even. */
function roundEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 !== 0);
  return copySign(isUp ? below + 1 : below, x);
}

/** Half away from zero. */
function roundAway(x: number): number {
  const below = Math.trunc(x);
  const result = Math.abs(x - below) >= 0.5 ? below + Math.sign(x) : below;
  return result === 0 ? copySign(0, x) : result;
}

function copySign(x: number, y: number): number {
  const negative = y < 0 || Object.is(y, -0);
  return negative ? -Math.abs(x) : Math.abs(x);
}

/** C's pow, which is 1 for a base of 1 and for an exponent of 0 whatever the other is. */
function power(x: number, y: number): number {
  if (x === 1 || y === 0 || (x === -1 && !Number.isFinite(y) && !Number.isNaN(y))) return 1;
  return x ** y;
}

/** Without overflow on either side. */
function sigmoid(x: number): number {
  const small = Math.exp(-Math.abs(x));
  return (x < 0 ? small : 1) / (1 + small);
}
