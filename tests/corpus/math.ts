/** Expected results of math.cu and math_double.cu. */
import { edgyDoubles, edgySingles, spread } from "./data.ts";
import {
  add,
  type Direction,
  type Exact,
  fromInteger,
  fromNumber,
  maximum,
  minimum,
  multiply,
  toNumber,
  toSingle,
} from "./small_floats.ts";
import { buffer, type CorpusCase, int, output, type Tolerance } from "./types.ts";

/** The error function: 2/sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 … 2n+1), all of one sign. */
function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let [term, sum] = [x, 0];
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17 && n < 400; n++) {
    sum += term;
    term *= 2 * x * x / (2 * n + 1);
  }
  return Number.isNaN(x) ? x : 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}

/** As in C, where powers of 1 and of -1 are what they are whatever the exponent. */
function power(a: number, b: number): number {
  if (a === 1 || (a === -1 && Math.abs(b) === Infinity)) return 1;
  return Math.pow(a, b);
}

type Compute = (a: number, b: number) => number;

interface Row {
  readonly name: string;
  readonly compute: Compute;
  /** Where operands come from; the second one of functions of one operand is 0. */
  readonly a: readonly [low: number, high: number];
  readonly b?: readonly [low: number, high: number];
  /** Whether special values are among them. */
  readonly special?: boolean;
  readonly within: Tolerance;
}

/** Units in the last place of a single, as a tolerance; results may also be off by little near zero. */
const ulps = (count: number, absolute = 1e-44): Tolerance => ({
  relative: count * 2 ** -23,
  absolute,
});

// Tolerances: CUDA C++ Programming Guide, "Mathematical Functions Appendix", and one unit for the reference.
const SINGLES: readonly Row[] = [
  { name: "sinf", compute: Math.sin, a: [-40, 40], special: true, within: ulps(3) },
  { name: "sinf", compute: Math.sin, a: [-1e30, 1e30], within: ulps(3) },
  { name: "cosf", compute: Math.cos, a: [-200000, 200000], special: true, within: ulps(3) },
  { name: "tanf", compute: Math.tan, a: [-20, 20], special: true, within: ulps(5) },
  { name: "expf", compute: Math.exp, a: [-100, 90], special: true, within: ulps(3) },
  { name: "exp2f", compute: (a) => 2 ** a, a: [-150, 130], special: true, within: ulps(3) },
  { name: "expm1f", compute: Math.expm1, a: [-20, 88], special: true, within: ulps(3) },
  { name: "logf", compute: Math.log, a: [1e-6, 1e6], special: true, within: ulps(2) },
  { name: "log2f", compute: Math.log2, a: [1e-6, 1e6], special: true, within: ulps(2) },
  { name: "log1pf", compute: Math.log1p, a: [-0.999, 100], special: true, within: ulps(3) },
  { name: "powf", compute: power, a: [-8, 8], b: [-12, 12], special: true, within: ulps(5) },
  { name: "powf", compute: power, a: [0, 50], b: [-20, 20], within: ulps(5) },
  { name: "erff", compute: erf, a: [-4, 4], special: true, within: ulps(3) },
  { name: "tanhf", compute: Math.tanh, a: [-10, 10], special: true, within: ulps(3) },
  { name: "atanf", compute: Math.atan, a: [-50, 50], special: true, within: ulps(3) },
  { name: "atan2f", compute: Math.atan2, a: [-9, 9], b: [-9, 9], special: true, within: ulps(4) },
  { name: "asinf", compute: Math.asin, a: [-1, 1], special: true, within: ulps(4) },
  { name: "cbrtf", compute: Math.cbrt, a: [-1e6, 1e6], special: true, within: ulps(2) },
  {
    name: "hypotf",
    compute: Math.hypot,
    a: [-1e4, 1e4],
    b: [-1e4, 1e4],
    special: true,
    within: ulps(4),
  },
  {
    name: "fmodf",
    compute: (a, b) => a % b,
    a: [-1e6, 1e6],
    b: [-30, 30],
    special: true,
    within: {},
  },
  { name: "rsqrtf", compute: (a) => 1 / Math.sqrt(a), a: [0, 1e6], special: true, within: ulps(3) },
  { name: "fast_sin", compute: Math.sin, a: [-3.14, 3.14], within: { absolute: 2 ** -21 } },
  { name: "fast_exp", compute: Math.exp, a: [-20, 20], within: ulps(26) },
  { name: "fast_log", compute: Math.log, a: [0.5, 2], within: { absolute: 2 ** -21 } },
  { name: "fast_divide", compute: (a, b) => a / b, a: [-1e6, 1e6], b: [1, 1e6], within: ulps(3) },
  { name: "fast_pow", compute: Math.pow, a: [0.5, 4], b: [-4, 4], within: ulps(40) },
];

const doubles = (count: number, absolute = 1e-322): Tolerance => ({
  relative: count * 2 ** -52,
  absolute,
});

const DOUBLES: readonly Row[] = [
  { name: "sin", compute: Math.sin, a: [-100, 100], special: true, within: doubles(3) },
  { name: "sin", compute: Math.sin, a: [-1e300, 1e300], within: doubles(3) },
  { name: "exp", compute: Math.exp, a: [-740, 709], special: true, within: doubles(3) },
  { name: "log", compute: Math.log, a: [1e-9, 1e9], special: true, within: doubles(3) },
  { name: "pow", compute: power, a: [-8, 30], b: [-30, 30], special: true, within: doubles(4) },
  { name: "tanh", compute: Math.tanh, a: [-20, 20], special: true, within: doubles(4) },
  { name: "cbrt", compute: Math.cbrt, a: [-1e9, 1e9], special: true, within: doubles(3) },
  { name: "erf", compute: erf, a: [-6, 6], special: true, within: doubles(40) },
  {
    name: "rsqrt",
    compute: (a) => 1 / Math.sqrt(a),
    a: [0, 1e9],
    special: true,
    within: doubles(3),
  },
  {
    name: "fmod",
    compute: (a, b) => a % b,
    a: [-1e12, 1e12],
    b: [-30, 30],
    special: true,
    within: {},
  },
];

/** Special values among the elements. */
function mixed<T extends Float32Array | Float64Array>(values: T, special: T): T {
  values.forEach((_, i) => {
    const [a = 0] = special.subarray(i);
    if (i % 3 === 0) values[i] = a;
  });
  return values;
}

function functionCase(file: string, row: Row, i: number): CorpusCase {
  const { name, compute, a, b, special = false, within } = row;
  const n = 300;
  const make = (
    seed: number,
    [low, high]: readonly [number, number],
  ): Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> => {
    const values = spread(seed, n, low, high);
    if (file === "math") {
      const singles = Float32Array.from(values);
      return special ? mixed(singles, edgySingles(seed + 1, n)) : singles;
    }
    const wide = Float64Array.from(values);
    return special ? mixed(wide, edgyDoubles(seed + 1, n)) : wide;
  };
  return {
    file,
    kernel: `math_${name}`,
    grid: [3, 1, 1],
    block: [128, 1, 1],
    sm: 80,
    arguments: () => {
      const x = make(100 + 4 * i, a);
      const y = b === undefined ? make(0, [0, 0]).fill(0) : make(102 + 4 * i, b);
      const results = Array.from(x, (value, k) => {
        const second = y[k] ?? 0;
        return b === undefined ? compute(value, 0) + 0 : compute(value, second);
      });
      const expected = file === "math" ? Float32Array.from(results) : Float64Array.from(results);
      return [buffer(x), buffer(y), output(expected, within), int(n)];
    },
  };
}

const DIRECTIONS: readonly Direction[] = ["nearest", "zero", "up", "down"];

/** The neighbour of a single in the direction of another number. */
function beside(value: number, towards: number): number {
  const single = new Float32Array([value]);
  const word = new Int32Array(single.buffer);
  if (value === 0) return towards > 0 ? 2 ** -149 : -(2 ** -149);
  word[0] = (word[0] ?? 0) + ((value > 0) === (towards > value) ? 1 : -1);
  return single[0] ?? 0;
}

const LARGEST = 2 ** 128 - 2 ** 104;

/** a / b, never larger than the exact quotient. */
function quotientToZero(a: number, b: number): number {
  const nearest = Math.fround(a / b);
  if (!Number.isFinite(a) || b === 0 || !Number.isFinite(b)) return nearest;
  if (!Number.isFinite(nearest)) return Math.sign(nearest) * LARGEST;
  return Math.abs(nearest * b) > Math.abs(a) ? beside(nearest, 0) : nearest;
}

function rootUp(a: number): number {
  const nearest = Math.fround(Math.sqrt(a));
  return Number.isFinite(a) && nearest * nearest < a ? beside(nearest, Infinity) : nearest;
}

function reciprocalDown(b: number): number {
  const nearest = Math.fround(1 / b);
  if (b === 0 || !Number.isFinite(b)) return nearest;
  if (nearest === Infinity) return LARGEST;
  if (nearest === -Infinity) return nearest;
  const product = nearest * b;
  return (b > 0 ? product > 1 : product < 1) ? beside(nearest, -Infinity) : nearest;
}

function roundEven(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 52) return value;
  const size = Math.abs(value);
  const floor = Math.floor(size);
  const rest = size - floor;
  const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  return value < 0 || Object.is(value, -0) ? -rounded : rounded;
}

function exactResults(a: number, b: number, c: number): number[] {
  const [p, q, r] = [fromNumber(a), fromNumber(b), fromNumber(c)];
  const sum = add(p, q);
  // x + (-x) is -0 when rounding down.
  const rounded = (value: Exact, direction: Direction, cancels: boolean): number =>
    direction === "down" && cancels ? -0 : toSingle(value, direction);
  const fused = add(multiply(p, q), r);
  const isZero = (v: Exact): boolean => v.kind === "finite" && v.size === 0n;
  const cancels = isZero(sum) && p.negative !== q.negative;
  const product = multiply(p, q);
  const fusedCancels = isZero(fused) && product.negative !== r.negative;
  return [
    ...DIRECTIONS.map((direction) => rounded(sum, direction, cancels)),
    ...DIRECTIONS.map((direction) => toSingle(multiply(p, q), direction)),
    ...DIRECTIONS.map((direction) => rounded(fused, direction, fusedCancels)),
    a / b,
    quotientToZero(a, b),
    Math.sqrt(Math.abs(a)),
    rootUp(Math.abs(b)),
    1 / a,
    reciprocalDown(b),
    toSingle(minimum(p, q)),
    toSingle(maximum(p, r)),
    roundEven(a),
    Math.trunc(b),
    Math.ceil(a),
    Math.floor(c),
  ];
}

const exact: CorpusCase = {
  file: "math",
  kernel: "math_exact",
  grid: [5, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 600;
    const [x, y, z] = [edgySingles(81, n), edgySingles(82, n), edgySingles(83, n)];
    const out = Array.from(x, (a, i) => exactResults(a, y[i] ?? 0, z[i] ?? 0)).flat();
    return [buffer(x), buffer(y), buffer(z), output(Float32Array.from(out)), int(n)];
  },
};

/** A float as an integer: out of range, it becomes the nearest one; NaN what the PTX ISA says of cvt. */
function toInteger(value: number, bits: number, signed: boolean, wide: boolean): bigint {
  if (Number.isNaN(value)) return wide || bits === 64 ? 1n << BigInt(bits - 1) : 0n;
  const low = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const high = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  if (value === Infinity) return high;
  if (value === -Infinity) return low;
  const whole = BigInt(value);
  return whole < low ? low : whole > high ? high : whole;
}

function doubleToZero(value: number): number {
  const nearest = Math.fround(value);
  if (Number.isFinite(value) && !Number.isFinite(nearest)) return Math.sign(value) * LARGEST;
  return Math.abs(nearest) > Math.abs(value) ? beside(nearest, 0) : nearest;
}

const convert: CorpusCase = {
  file: "math",
  kernel: "math_convert",
  grid: [4, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 500;
    const x = edgySingles(84, n).map((value, i) => i % 2 === 0 ? value * 2 ** (i % 60) : value);
    const y = edgyDoubles(85, n).map((value, i) => i % 2 === 0 ? value * 2 ** (i % 64) : value);
    const [ints, words, longs]: [bigint[], bigint[], bigint[]] = [[], [], []];
    const [singles, wide]: [number[], number[]] = [[], []];
    const view = new DataView(new ArrayBuffer(8));
    x.forEach((a, i) => {
      const b = y[i] ?? 0;
      const int32 = (value: number, double: boolean): bigint => toInteger(value, 32, true, double);
      ints.push(
        ...[roundEven, Math.trunc, Math.ceil, Math.floor].map((round) => int32(round(a), false)),
        int32(roundEven(b), true),
        int32(Math.trunc(b), true),
      );
      words.push(
        toInteger(Math.trunc(a), 32, false, false),
        toInteger(roundEven(b), 32, false, true),
      );
      longs.push(
        toInteger(Math.trunc(a), 64, true, false),
        toInteger(roundEven(b), 64, true, true),
        toInteger(Math.trunc(b), 64, false, true),
      );
      view.setFloat32(0, a);
      const word = view.getInt32(0);
      view.setFloat64(0, b);
      const long = view.getBigUint64(0);
      singles.push(b, doubleToZero(b), word, toSingle(fromInteger(long)));
      wide.push(a, Number(BigInt.asIntN(64, long)));
    });
    return [
      buffer(x),
      buffer(y),
      output(Int32Array.from(ints, (value) => Number(BigInt.asIntN(32, value)))),
      output(Uint32Array.from(words, Number)),
      output(BigInt64Array.from(longs, (value) => BigInt.asIntN(64, value))),
      output(Float32Array.from(singles)),
      output(Float64Array.from(wide)),
      int(n),
    ];
  },
};

function doubleResults(a: number, b: number, c: number): number[] {
  const [p, q, r] = [fromNumber(a), fromNumber(b), fromNumber(c)];
  const fused = add(multiply(p, q), r);
  const product = multiply(p, q);
  const cancels = fused.kind === "finite" && fused.size === 0n && product.negative !== r.negative;
  return [
    toNumber(add(p, q)),
    toNumber(add(p, q), "up"),
    toNumber(product),
    toNumber(product, "zero"),
    toNumber(fused),
    cancels ? -0 : toNumber(fused, "down"),
    a / b,
    Math.sqrt(Math.abs(a)),
    toNumber(minimum(p, q)),
    roundEven(a),
  ];
}

const exactDouble: CorpusCase = {
  file: "math_double",
  kernel: "math_double_exact",
  grid: [3, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 300;
    const [x, y, z] = [edgyDoubles(86, n), edgyDoubles(87, n), edgyDoubles(88, n)];
    const out = Array.from(x, (a, i) => doubleResults(a, y[i] ?? 0, z[i] ?? 0)).flat();
    return [buffer(x), buffer(y), buffer(z), output(Float64Array.from(out)), int(n)];
  },
};

export const MATH: readonly CorpusCase[] = [
  exact,
  convert,
  ...SINGLES.map((row, i) => functionCase("math", row, i)),
  exactDouble,
  ...DOUBLES.map((row, i) => functionCase("math_double", row, 50 + i)),
];
