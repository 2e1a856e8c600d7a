/** Values of element types by their bits, written out from the definitions of the formats. */
import { bug } from "../../../compiler/support/bug.ts";

function float(
  bits: number,
  exponentBits: number,
  fractionBits: number,
  infinities: boolean,
): number {
  const sign = (bits >> (exponentBits + fractionBits)) & 1 ? -1 : 1;
  const exponent = (bits >> fractionBits) & (2 ** exponentBits - 1);
  const fraction = bits & (2 ** fractionBits - 1);
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 ** exponentBits - 1) {
    if (infinities) return fraction === 0 ? sign * Infinity : NaN;
    if (fraction === 2 ** fractionBits - 1) return NaN;
  }
  return exponent === 0
    ? sign * fraction * 2 ** (1 - bias - fractionBits)
    : sign * (1 + fraction * 2 ** -fractionBits) * 2 ** (exponent - bias);
}

export function bitsOf(type: string): number {
  const digits = /\d+$/.exec(type)?.[0];
  return type === "tf32" ? 32 : type === "e4m3" || type === "e5m2" ? 8 : Number(digits);
}

export function valueOf(type: string, bits: number): number {
  switch (type) {
    case "f16":
      return float(bits, 5, 10, true);
    case "bf16":
      return float(bits, 8, 7, true);
    case "tf32":
      return float(bits >>> 13, 8, 10, true);
    case "f32":
      return new Float32Array(Uint32Array.of(bits).buffer)[0] ?? NaN;
    case "e4m3":
      return float(bits, 4, 3, false);
    case "e5m2":
      return float(bits, 5, 2, true);
    case "s8":
      return (bits << 24) >> 24;
    case "s4":
      return (bits << 28) >> 28;
    case "s32":
      return bits | 0;
    case "u8":
    case "u4":
    case "b1":
      return bits;
    default:
      return bug(`no type ${type}`);
  }
}

/** The f16 next to a number, ties to even, by search: its bits. */
export function nearestF16(value: number): number {
  if (Number.isNaN(value)) return 0x7fff;
  const magnitude = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (magnitude >= 65520) return sign | 0x7c00;
  let [low, high] = [0, 0x7bff];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (valueOf("f16", middle) <= magnitude) low = middle;
    else high = middle - 1;
  }
  if (low === 0x7bff) return sign | low;
  const below = magnitude - valueOf("f16", low);
  const above = valueOf("f16", low + 1) - magnitude;
  return sign | (below < above || (below === above && low % 2 === 0) ? low : low + 1);
}
