/** From bits to numbers: every value of every format is a double. Tables for the formats of at most 16 bits. */
import { bug } from "../../compiler/support/bug.ts";
import { type Format, FORMATS } from "./formats.ts";
import type { Bits } from "../machine.ts";
import { bitsOfSingle, doubleOf, singleOf } from "./pun.ts";

/** The number that bits represent. */
export function decode(format: Format, bits: Bits): number {
  if (typeof bits === "bigint") {
    if (format.name === "f64") return doubleOf(bits);
    return decode(format, Number(bits));
  }
  const { mantissaBits, bias, signed, padding } = format;
  const pattern = Math.floor(bits / 2 ** padding);
  const negative = signed && pattern >= 2 ** (format.bits - 1);
  const magnitude = negative ? pattern - 2 ** (format.bits - 1) : pattern;
  if (magnitude > Number(format.max)) {
    if (BigInt(magnitude) !== format.infinity) return NaN;
    return negative ? -Infinity : Infinity;
  }
  const field = Math.floor(magnitude / 2 ** mantissaBits);
  const fraction = magnitude % 2 ** mantissaBits;
  const value = format.name === "ue8m0"
    ? 2 ** (field - bias)
    : field === 0
    ? fraction * 2 ** (1 - bias - mantissaBits)
    : (2 ** mantissaBits + fraction) * 2 ** (field - bias - mantissaBits);
  return negative ? -value : value;
}

function table(format: Format): Float32Array {
  return Float32Array.from({ length: 2 ** format.bits }, (_, bits) => decode(format, bits));
}

/** Decodes bits, of singles and narrower. */
export type Decoder = (bits: number) => number;

// These two are made when the module is loaded, in a way that takes no time worth mentioning.
const PATTERNS = new Uint16Array(2 ** 16).map((_, bits) => bits);

/** The values of f16 by their bits. Not by Float16Array, which Node has from version 24 on only. */
export const F16_TO_F32: Float32Array = new Float32Array(
  new Uint32Array(PATTERNS).map((bits) => {
    const magnitude = bits & 0x7fff;
    const sign = (bits & 0x8000) << 16;
    if (magnitude >= 0x7c00) return sign | 0x7f800000 | (magnitude & 0x3ff) << 13;
    // The exponent's bias is 15 in f16 and 127 in f32; subnormal numbers are normal in f32.
    if (magnitude >= 0x400) return sign | (magnitude << 13) + ((127 - 15) << 23);
    return sign | bitsOfSingle(magnitude * 2 ** -24);
  }).buffer,
);
/** The values of bf16 by their bits, which are the upper halves of singles. */
export const BF16_TO_F32: Float32Array = new Float32Array(
  new Uint32Array(PATTERNS).map((bits) => bits << 16).buffer,
);
/** The values of e4m3 by their bits. */
export const E4M3_TO_F32: Float32Array = table(FORMATS.e4m3);
/** The values of e5m2 by their bits. */
export const E5M2_TO_F32: Float32Array = table(FORMATS.e5m2);

const TABLES: Readonly<Partial<Record<string, Float32Array>>> = {
  f16: F16_TO_F32,
  bf16: BF16_TO_F32,
  e4m3: E4M3_TO_F32,
  e5m2: E5M2_TO_F32,
};

/** How to decode a format of at most 32 bits; with `flush`, subnormal numbers are zeros of their sign. */
export function decoder(format: Format, flush = false): Decoder {
  if (format.name === "f64") bug("decoder of f64");
  if (format.name === "f32") {
    if (!flush) return singleOf;
    return (bits) => singleOf((bits & 0x7f800000) === 0 ? bits & 0x80000000 : bits);
  }
  const values = TABLES[format.name] ?? table(format);
  const field = (2 ** format.exponentBits - 1) << format.mantissaBits;
  const sign = 1 << (format.bits - 1);
  if (flush) return (bits) => values[(bits & field) === 0 ? bits & sign : bits] ?? 0;
  return (bits) => values[bits] ?? 0;
}
