/** From numbers to bits: encoders round doubles to a format. */
import type { Bits } from "../machine.ts";
import { encodeExact, type Exact } from "./exact.ts";
import { type Format, FORMATS } from "./formats.ts";
import { bitsOfDouble, bitsOfSingle, F64, highWord, lowWord, U32 } from "./pun.ts";
import { goesAway, type Rounding, roundToSingle } from "./rounding.ts";

/** Bits of the results of a rounding. */
export type Encoder = (value: number) => number;

/**
 * Rounds doubles to a format with at most 19 bits of mantissa. Values beyond the largest finite number become infinite as IEEE 754
 * says; they become that number if `saturate`.
 */
function narrowEncoder(format: Format, rounding: Rounding, saturate = false): Encoder {
  const { mantissaBits, bias, bits, padding } = format;
  const max = Number(format.max);
  const infinity = Number(format.infinity ?? format.nan ?? format.max);
  const nan = Number(format.nan ?? format.max) * 2 ** padding;
  const signPosition = bits - 1;
  const discarded = 20 - mantissaBits;
  const nearest = rounding === "rn" || rounding === "rna";
  const tieAway = rounding === "rna";
  const [awayUp, awayDown] = [goesAway(rounding, false), goesAway(rounding, true)];
  const overflow = (negative: boolean): number =>
    saturate || !(nearest || goesAway(rounding, negative)) ? max : infinity;
  const [overflowUp, overflowDown] = [overflow(false), overflow(true)];
  return (value) => {
    if (value !== value) return nan;
    F64[0] = value;
    const low = U32[0] ?? 0;
    const high = U32[1] ?? 0;
    const negative = high >= 0x80000000;
    const field = (high >>> 20) & 0x7ff;
    let magnitude: number;
    if (field === 0x7ff) magnitude = saturate ? max : infinity;
    else {
      // Subnormal doubles are far below every format: something is discarded, nothing kept.
      const mantissa = field === 0 ? 0 : (high & 0xfffff) | 0x100000;
      const rest = field === 0 ? low | (high & 0xfffff) : low;
      let exponent = field - 1023 + bias;
      let shift = discarded;
      if (exponent < 1) {
        shift = Math.min(shift + 1 - exponent, 22);
        exponent = 1;
      }
      const half = 1 << (shift - 1);
      const lost = mantissa & (2 * half - 1);
      magnitude = ((exponent - 1) << mantissaBits) + (mantissa >>> shift);
      if (nearest) {
        if (lost > half || (lost === half && (tieAway || rest !== 0 || (magnitude & 1) === 1))) {
          magnitude++;
        }
      } else if ((negative ? awayDown : awayUp) && (lost | rest) !== 0) magnitude++;
      if (magnitude > max) magnitude = negative ? overflowDown : overflowUp;
    }
    return ((magnitude + (negative ? 2 ** signPosition : 0)) * 2 ** padding) >>> 0;
  };
}

/** Rounds doubles to a format of at most 32 bits. */
export function encoder(format: Format, rounding: Rounding, saturate = false): Encoder {
  if (format.name === "ue8m0") return scaleEncoder(rounding, saturate);
  if (format.name !== "f32") return narrowEncoder(format, rounding, saturate);
  if (rounding === "rn") return bitsOfSingle;
  return (value) => bitsOfSingle(roundToSingle(value, rounding));
}

/** An exponent without sign and mantissa: the magnitude rounded to a power of two. Zero becomes the smallest. */
function scaleEncoder(rounding: Rounding, saturate: boolean): Encoder {
  return (value) => {
    if (value !== value) return 0xff;
    const size = Math.abs(value);
    if (size <= 2 ** -127) return 0;
    if (size === Infinity) return saturate ? 0xfe : 0xff;
    const field = highWord(size) >>> 20;
    const lost = (highWord(size) & 0xfffff) !== 0 || lowWord(size) !== 0;
    const exponent = field - 1023 + 127 + (rounding === "rp" && lost ? 1 : 0);
    return Math.min(exponent, saturate ? 0xfe : 0xff);
  };
}

/** The bits of a number in a format, rounded once. */
export function encode(
  format: Format,
  value: number | Exact,
  rounding: Rounding,
  saturate = false,
): Bits {
  if (typeof value !== "number") return encodeExact(format, value, rounding, saturate);
  if (format.name !== "f64") return encoder(format, rounding, saturate)(value);
  return value === value ? bitsOfDouble(value) : format.nan ?? 0n;
}

/** Bits of the f16 next to a double. */
export const roundToF16: Encoder = encoder(FORMATS.f16, "rn");
/** Bits of the bf16 next to a double. */
export const roundToBf16: Encoder = encoder(FORMATS.bf16, "rn");
/** Bits, 32 of them, of the tf32 next to a double. */
export const roundToTf32: Encoder = encoder(FORMATS.tf32, "rn");
