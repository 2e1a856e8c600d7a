/**
 * NaN: what instructions return where a result is none. Singles and halves have one NaN for all, doubles
 * pass on the payload of an operand. The ISA leaves most of this open; where it does, this is what an H200 does.
 */
import { type Format, FORMATS } from "./formats.ts";

const INFINITY = 0x7ff0000000000000n;
const QUIET = 0x0008000000000000n;

function isNan64(bits: bigint): boolean {
  return BigInt.asUintN(63, bits) > INFINITY;
}

/** The first operand that is NaN, made quiet; the NaN of invalid operations if none is. */
export function firstNan(a: bigint, b = 0n, c = 0n): bigint {
  if (isNan64(a)) return a | QUIET;
  if (isNan64(b)) return b | QUIET;
  return isNan64(c) ? c | QUIET : FORMATS.f64.nan ?? 0n;
}

/** NaN in another format: sign kept, the payload cut off or filled up with zeros, made quiet. */
export function convertNan(to: Format, from: Format, bits: bigint): bigint {
  const negative = bits >> BigInt(from.bits - 1) & 1n;
  const payload = BigInt.asUintN(from.mantissaBits, bits);
  const wider = to.mantissaBits - from.mantissaBits;
  const moved = wider >= 0 ? payload << BigInt(wider) : payload >> BigInt(-wider);
  const quiet = 1n << BigInt(to.mantissaBits - 1);
  return (negative << BigInt(to.bits - 1)) | (to.infinity ?? 0n) | quiet | moved;
}

/** Whether bits of a format of at most 32 bits are NaN. */
export function nanTest(format: Format): (bits: number) => boolean {
  const infinity = Number(format.infinity);
  const magnitude = 2 ** (format.bits - 1) - 1;
  return (bits) => (bits & magnitude) > infinity;
}
