/**
 * FORMATS: how floating-point numbers are laid out in bits.
 * Source: PTX ISA 9.0, 5.2.3 "Alternate Floating-Point Data Formats".
 */

export type FormatName =
  | "f64"
  | "f32"
  | "tf32"
  | "f16"
  | "bf16"
  | "e5m2"
  | "e4m3"
  | "e3m2"
  | "e2m3"
  | "e2m1"
  | "ue8m0";

export interface Format {
  readonly name: FormatName;
  /** Bits that values take, those that are always zero not counted. */
  readonly bits: number;
  /** Zero bits below the value: those that f32 has more than tf32. */
  readonly padding: number;
  readonly signed: boolean;
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  /** Magnitude of the largest finite number. */
  readonly max: bigint;
  /** Magnitude of infinity; undefined where there is none. */
  readonly infinity: bigint | undefined;
  /** The NaN that instructions make; undefined where there is none. */
  readonly nan: bigint | undefined;
}

/** A format whose largest exponent means infinity and NaN. */
function ieee(
  name: FormatName,
  exponentBits: number,
  mantissaBits: number,
  nan: bigint,
  padding = 0,
): Format {
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(mantissaBits);
  return {
    name,
    bits: 1 + exponentBits + mantissaBits,
    padding,
    signed: true,
    exponentBits,
    mantissaBits,
    bias: 2 ** (exponentBits - 1) - 1,
    max: infinity - 1n,
    infinity,
    nan,
  };
}

/** A format without infinity. */
function finite(
  name: FormatName,
  exponentBits: number,
  mantissaBits: number,
  nan: bigint | undefined,
): Format {
  const patterns = 1n << BigInt(exponentBits + mantissaBits);
  return {
    name,
    bits: 1 + exponentBits + mantissaBits,
    padding: 0,
    signed: true,
    exponentBits,
    mantissaBits,
    bias: 2 ** (exponentBits - 1) - 1,
    max: patterns - (nan === undefined ? 1n : 2n),
    infinity: undefined,
    nan,
  };
}

/** The formats by name. NaNs are those that NVIDIA's hardware makes; the ISA leaves most of them open. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  f64: ieee("f64", 11, 52, 0xfff8000000000000n),
  f32: ieee("f32", 8, 23, 0x7fffffffn),
  tf32: ieee("tf32", 8, 10, 0x3ffffn, 13),
  f16: ieee("f16", 5, 10, 0x7fffn),
  bf16: ieee("bf16", 8, 7, 0x7fffn),
  e5m2: ieee("e5m2", 5, 2, 0x7fn),
  e4m3: finite("e4m3", 4, 3, 0x7fn),
  e3m2: finite("e3m2", 3, 2, undefined),
  e2m3: finite("e2m3", 2, 3, undefined),
  e2m1: finite("e2m1", 2, 1, undefined),
  ue8m0: {
    name: "ue8m0",
    bits: 8,
    padding: 0,
    signed: false,
    exponentBits: 8,
    mantissaBits: 0,
    bias: 127,
    max: 0xfen,
    infinity: undefined,
    nan: 0xffn,
  },
};
