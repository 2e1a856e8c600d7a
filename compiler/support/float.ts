/** The floating types as formats: rounding to them, and their bits. */
import { bug } from "./bug.ts";
import type { ScalarName } from "./scalar.ts";

export interface FloatFormat {
  readonly bits: number;
  /** Bits of the significand, the hidden one included. */
  readonly precision: number;
  /** Exponent of the smallest normal number, as in 1.x · 2^e. */
  readonly minExponent: number;
  readonly max: number;
  /** Overflow gives infinity; otherwise the largest finite value. */
  readonly overflows: boolean;
  /** The largest exponent field means infinity and NaN. Otherwise only its last pattern is a NaN. */
  readonly ieee: boolean;
  /** Bits of the NaN that the hardware makes. */
  readonly nan: bigint;
}

const FLOATS: Readonly<Partial<Record<ScalarName, FloatFormat>>> = {
  float8e4: {
    bits: 8,
    precision: 4,
    minExponent: -6,
    max: 448,
    overflows: false,
    ieee: false,
    nan: 0x7fn,
  },
  float8e5: {
    bits: 8,
    precision: 3,
    minExponent: -14,
    max: 57344,
    overflows: false,
    ieee: true,
    nan: 0x7fn,
  },
  float16: {
    bits: 16,
    precision: 11,
    minExponent: -14,
    max: 65504,
    overflows: true,
    ieee: true,
    nan: 0x7fffn,
  },
  bfloat16: {
    bits: 16,
    precision: 8,
    minExponent: -126,
    max: (2 - 2 ** -7) * 2 ** 127,
    overflows: true,
    ieee: true,
    nan: 0x7fffn,
  },
  float32: {
    bits: 32,
    precision: 24,
    minExponent: -126,
    max: (2 - 2 ** -23) * 2 ** 127,
    overflows: true,
    ieee: true,
    nan: 0x7fffffffn,
  },
  float64: {
    bits: 64,
    precision: 53,
    minExponent: -1022,
    max: Number.MAX_VALUE,
    overflows: true,
    ieee: true,
    nan: 0xfff8000000000000n,
  },
};

/** The format of a floating type. */
export function floatFormat(type: ScalarName): FloatFormat {
  return FLOATS[type] ?? bug(`${type} is not a floating type`);
}

/** The nearest value of the type, ties to even, rounded once. Subnormals are kept. */
export function roundFloat(value: number, type: ScalarName): number {
  const { precision, minExponent, max, overflows } = floatFormat(type);
  if (value === 0 || Number.isNaN(value) || precision === 53) return value;
  const magnitude = Math.abs(value);
  let rounded = magnitude;
  if (magnitude !== Infinity) {
    // Steps between neighbours are powers of two, so scaling by one is exact.
    const step = 2 ** (Math.max(exponentOf(magnitude), minExponent) - precision + 1);
    rounded = roundHalfEven(magnitude / step) * step;
  }
  if (rounded > max) rounded = overflows ? Infinity : max;
  return value < 0 ? -rounded : rounded;
}

/** The bits of a value that the type can hold. */
export function floatBits(value: number, type: ScalarName): bigint {
  const { bits, precision, minExponent, ieee, nan } = floatFormat(type);
  if (Number.isNaN(value)) return nan;
  const fraction = BigInt(precision - 1);
  const sign = value < 0 || Object.is(value, -0) ? 1n << BigInt(bits - 1) : 0n;
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) {
    if (!ieee) bug(`${type} has no infinity`);
    return sign | ((1n << BigInt(bits - 1)) - (1n << fraction));
  }
  if (magnitude === 0) return sign;
  const exponent = Math.max(exponentOf(magnitude), minExponent);
  const significand = BigInt(magnitude / 2 ** (exponent - precision + 1));
  // A normal number's hidden bit adds one to the exponent field; a subnormal has none and field 0.
  return sign | ((BigInt(exponent - minExponent) << fraction) + significand);
}

/** The value of a bit pattern. The bits of a NaN are lost. */
export function floatFromBits(pattern: bigint, type: ScalarName): number {
  const { bits, precision, minExponent, ieee, nan } = floatFormat(type);
  const fraction = BigInt(precision - 1);
  const magnitude = pattern & ((1n << BigInt(bits - 1)) - 1n);
  const negative = (pattern >> BigInt(bits - 1)) & 1n;
  const field = magnitude >> fraction;
  const low = magnitude & ((1n << fraction) - 1n);
  let value: number;
  if (ieee && field === (1n << BigInt(bits - precision)) - 1n) value = low === 0n ? Infinity : NaN;
  else if (!ieee && magnitude === nan) value = NaN;
  else {
    const step = 2 ** (minExponent - precision + 1 + Math.max(Number(field) - 1, 0));
    value = Number(field === 0n ? low : low | (1n << fraction)) * step;
  }
  return negative === 1n ? -value : value;
}

/** Where exponents are read: memory of its own for each would take longer than all the rest. */
const SCRATCH = new DataView(new ArrayBuffer(8));

/** The exponent e of a positive number 1.x · 2^e; -1022 also for subnormal doubles, which suits every format. */
function exponentOf(magnitude: number): number {
  SCRATCH.setFloat64(0, magnitude);
  const field = SCRATCH.getUint16(0) >> 4;
  return Math.max(field, 1) - 1023;
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
