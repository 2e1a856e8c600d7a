/** Rounding to integers, and the integers themselves. */
import type { Bits } from "../machine.ts";

/** Rounds a number to an integer, which is still a floating-point number. */
export type Integral = (value: number) => number;

/** To the nearest integer, of two the even one. */
function nearestEven(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(nearest - value) === 0.5 ? 2 * Math.round(value / 2) : nearest;
}

/** By modifier. */
export const INTEGRALS: Readonly<Record<string, Integral>> = {
  rni: nearestEven,
  rzi: Math.trunc,
  rmi: Math.floor,
  rpi: Math.ceil,
};

export interface IntegerType {
  readonly signed: boolean;
  readonly bits: number;
}

/** The integer type of a name: `u8`, `s64`, …; undefined if it is none. */
export function integerType(name: string): IntegerType | undefined {
  const [, kind, bits] = /^([us])(\d+)$/.exec(name) ?? [];
  return kind === undefined ? undefined : { signed: kind === "s", bits: Number(bits) };
}

/** The integer in the low bits of a register. */
export function integerOf({ signed, bits }: IntegerType): (register: Bits) => number | bigint {
  if (bits === 64) {
    return signed
      ? (register) => BigInt.asIntN(64, BigInt(register))
      : (register) => BigInt(register);
  }
  const shift = 32 - bits;
  return (register) => {
    const low = typeof register === "number" ? register : Number(register & 0xffffffffn);
    return signed ? (low << shift) >> shift : (low << shift) >>> shift;
  };
}

/** The nearest integer of a type to one that is represented as a float, as bits of a register so wide. */
export function integerEncoder(
  { signed, bits }: IntegerType,
  registerBits: number,
  nan: bigint,
): (value: number) => Bits {
  const [least, most] = signed
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  const [low, high] = [Number(least), Number(most)];
  if (registerBits === 64) {
    return (value) => {
      const integer = value !== value
        ? nan
        : value <= low
        ? least
        : value >= high
        ? most
        : BigInt(value);
      return BigInt.asUintN(64, integer);
    };
  }
  const mask = 2 ** registerBits - 1;
  const invalid = Number(BigInt.asUintN(registerBits, nan));
  return (value) => {
    if (value !== value) return invalid;
    return ((value <= low ? low : value >= high ? high : value) & mask) >>> 0;
  };
}
