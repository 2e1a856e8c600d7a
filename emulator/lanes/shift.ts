/** Shifts and byte permutations (PTX ISA 9.0, 9.7.8.7 to 9.7.8.9 and 9.7.9.7). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { LaneOperation } from "../machine.ts";
import { bitsOf, isSigned, narrowReader, narrowWriter, wideReader } from "./integer.ts";
import { laneOf, modifiersOf, typeOf } from "./shape.ts";

/** Counts of more than the width shift everything out. */
function shiftLeft(match: Match): LaneOperation {
  const { bits } = TYPES[typeOf(match)];
  if (bits === 64) {
    const write = bitsOf(bits);
    return laneOf(match, (a, b) => Number(b) >= 64 ? 0n : write(BigInt(a) << BigInt(b)));
  }
  const write = narrowWriter(bits);
  return laneOf(match, (a, b) => Number(b) >= bits ? 0 : write(Number(a) << Number(b)));
}

function shiftRight(match: Match): LaneOperation {
  const type = typeOf(match);
  const { bits } = TYPES[type];
  if (bits === 64) {
    const read = wideReader(bits, isSigned(type));
    const write = bitsOf(bits);
    return laneOf(match, (a, b) => write(read(a) >> BigInt(Math.min(Number(b), 64))));
  }
  const write = narrowWriter(bits);
  if (isSigned(type)) {
    const read = narrowReader(bits, true);
    return laneOf(match, (a, b) => write(read(a) >> Math.min(Number(b), 31)));
  }
  return laneOf(match, (a, b) => Number(b) >= bits ? 0 : Number(a) >>> Number(b));
}

/** shf: the upper word of b:a shifted left, or the lower word of b:a shifted right. */
function funnel(match: Match): LaneOperation {
  const modifiers = modifiersOf(match);
  const count = modifiers.has("clamp")
    ? (c: number): number => Math.min(c, 32)
    : (c: number): number => c & 31;
  const upper = (low: number, high: number, n: number): number =>
    n === 0 ? high : n === 32 ? low : ((high << n) | (low >>> (32 - n))) >>> 0;
  return modifiers.has("l")
    ? laneOf(match, (a, b, c) => upper(Number(a), Number(b), count(Number(c))))
    : laneOf(match, (a, b, c) => upper(Number(a), Number(b), 32 - count(Number(c))));
}

/** Bytes that the modes of prmt pick, lowest first, for each value of the low two bits of c. */
const PICKS: Readonly<Record<string, readonly string[]>> = {
  f4e: ["0123", "1234", "2345", "3456"],
  b4e: ["0765", "1076", "2107", "3210"],
  rc8: ["0000", "1111", "2222", "3333"],
  ecl: ["0123", "1123", "2223", "3333"],
  ecr: ["0000", "0111", "0122", "0123"],
  rc16: ["0101", "2323", "0101", "2323"],
};

/** Four selectors as one number, the lowest in the lowest four bits, as c has them without a mode. */
const packSelectors = (digits: string): number =>
  [...digits].reduce((packed, digit, i) => packed | (Number(digit) << (4 * i)), 0);

function permute(match: Match): LaneOperation {
  const mode = [...modifiersOf(match)].find((name) => Object.hasOwn(PICKS, name));
  const table = mode === undefined ? undefined : PICKS[mode]?.map(packSelectors);
  const selectorsOf = table === undefined
    ? (c: number): number => c
    : (c: number): number => table[c & 3] ?? 0;
  return laneOf(match, (a, b, c) => {
    const selectors = selectorsOf(Number(c));
    let result = 0;
    for (let i = 0; i < 4; i++) {
      const selector = selectors >>> (4 * i);
      const byte = (Number(selector & 4 ? b : a) >>> (8 * (selector & 3))) & 0xff;
      result |= (selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * i);
    }
    return result >>> 0;
  });
}

export const SHIFT: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  shl: shiftLeft,
  shr: shiftRight,
  shf: funnel,
  prmt: permute,
};
