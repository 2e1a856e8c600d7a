/** Operands to try floating-point instructions on: special values, and bits that are random where it matters. */
import fc from "../property.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";

/** How a format divides its bits; in all of these the sign comes first. */
export interface Layout {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

/** Formats whose largest exponent means infinity and NaN. */
export const LAYOUTS: Readonly<Record<string, Layout>> = {
  f64: { exponentBits: 11, mantissaBits: 52 },
  f32: { exponentBits: 8, mantissaBits: 23 },
  tf32: { exponentBits: 8, mantissaBits: 10 },
  f16: { exponentBits: 5, mantissaBits: 10 },
  bf16: { exponentBits: 8, mantissaBits: 7 },
  e5m2: { exponentBits: 5, mantissaBits: 2 },
};

const ones = (count: number): bigint => (1n << BigInt(count)) - 1n;

/** Exponents where other formats begin and end, or integers do. */
const EXPONENTS = [
  -149,
  -126,
  -25,
  -24,
  -14,
  -1,
  0,
  1,
  7,
  8,
  15,
  16,
  23,
  24,
  31,
  32,
  52,
  53,
  62,
  63,
]
  .concat(64, 126, 127, 128);

function specialFloats({ exponentBits, mantissaBits }: Layout): bigint[] {
  const m = BigInt(mantissaBits);
  const infinity = ones(exponentBits) << m;
  const half = m === 0n ? 0n : 1n << (m - 1n);
  const powers = EXPONENTS.map((exponent) => ones(exponentBits - 1) + BigInt(exponent))
    .filter((field) => field > 0n && field < ones(exponentBits)).map((field) => field << m);
  const magnitudes = [
    0n,
    1n,
    2n,
    ones(mantissaBits),
    1n << m,
    (1n << m) + 1n,
    infinity - (1n << m),
    infinity - 1n,
    infinity,
    infinity + 1n,
    infinity + half,
    infinity + ones(mantissaBits),
    ...powers.flatMap((power) => [power - 1n, power, power + 1n, power + half]),
  ];
  const sign = 1n << BigInt(exponentBits + mantissaBits);
  return [...new Set(magnitudes)].flatMap((magnitude) => [magnitude, magnitude | sign]);
}

function specialIntegers(bits: number): bigint[] {
  const near = [0, 1, 8, 11, 16, 24, 31, 32, 53, 63, 64].filter((n) => n <= bits)
    .flatMap((n) => [-2n, -1n, 0n, 1n, 2n].map((d) => (1n << BigInt(n)) + d));
  return [...new Set(near.flatMap((n) => [n, -n]).map((n) => BigInt.asUintN(bits, n)))];
}

const bitsOf = (count: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: ones(count) });

/** A mantissa that ends at a random bit, or exactly half-way after it, or next to either. */
function mantissa(bits: number): fc.Arbitrary<bigint> {
  return fc.tuple(bitsOf(bits), fc.integer({ min: 0, max: bits }), fc.integer({ min: 0, max: 5 }))
    .map(([all, kept, tail]) => {
      const rest = BigInt(bits - kept);
      const half = rest === 0n ? 0n : 1n << (rest - 1n);
      const tails = [all & ones(bits - kept), 0n, half, half - 1n, half + 1n, 1n];
      return ((all >> rest) << rest) + BigInt.asUintN(bits - kept, tails[tail] ?? 0n);
    });
}

function float(layout: Layout): fc.Arbitrary<bigint> {
  const { exponentBits, mantissaBits } = layout;
  const bias = ones(exponentBits - 1);
  const near = BigInt(mantissaBits + 3);
  const exponent = fc.oneof(
    bitsOf(exponentBits),
    fc.bigInt({ min: bias > near ? bias - near : 0n, max: bias + near })
      .map((field) => field & ones(exponentBits)),
  );
  const any = fc.tuple(bitsOf(1), exponent, mantissa(mantissaBits)).map(([sign, field, low]) =>
    ((sign << BigInt(exponentBits)) | field) << BigInt(mantissaBits) | low
  );
  return fc.oneof(fc.constantFrom(...specialFloats(layout)), any, any);
}

/** Types of which a register holds two. */
const PAIRS: Readonly<Partial<Record<TypeName, string>>> = {
  f16x2: "f16",
  bf16x2: "bf16",
  f32x2: "f32",
};

/** Bits of a type. */
export function operand(type: TypeName): fc.Arbitrary<bigint> {
  const layout = LAYOUTS[type];
  if (layout !== undefined) return float(layout);
  const element = LAYOUTS[PAIRS[type] ?? ""];
  const { bits } = TYPES[type];
  if (element !== undefined) {
    return fc.tuple(float(element), float(element)).map(([high, low]) =>
      (high << BigInt(bits / 2)) | low
    );
  }
  if (TYPES[type].class !== "int") return bitsOf(bits);
  const short = fc.tuple(bitsOf(bits), fc.integer({ min: 0, max: bits - 1 }))
    .map(([all, shift]) => all >> BigInt(shift));
  return fc.oneof(fc.constantFrom(...specialIntegers(bits)), short, short);
}
