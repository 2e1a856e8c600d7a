/** Counting, finding and reversing bits (PTX ISA 9.0, 9.7.1.14 to 9.7.1.18). */
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { isSigned } from "./integer.ts";
import { laneOf, modifiersOf, typeOf } from "./shape.ts";

const lowWord = (value: Bits): number =>
  typeof value === "number" ? value : Number(BigInt.asUintN(32, value));
const highWord = (value: Bits): number => Number(BigInt(value) >> 32n);

function popcount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function leadingZeros64(value: Bits): number {
  const high = highWord(value);
  return high === 0 ? 32 + Math.clz32(lowWord(value)) : Math.clz32(high);
}

function reverse(word: number): number {
  let bits = ((word >>> 1) & 0x55555555) | ((word & 0x55555555) << 1);
  bits = ((bits >>> 2) & 0x33333333) | ((bits & 0x33333333) << 2);
  bits = ((bits >>> 4) & 0x0f0f0f0f) | ((bits & 0x0f0f0f0f) << 4);
  bits = ((bits >>> 8) & 0x00ff00ff) | ((bits & 0x00ff00ff) << 8);
  return ((bits >>> 16) | (bits << 16)) >>> 0;
}

const is64 = (match: Match): boolean => TYPES[typeOf(match, "a")].bits === 64;

const NONE = 0xffffffff;

/** The position of the highest bit that differs from the sign; or how far it is from the top. */
function findHighest(match: Match): LaneOperation {
  const type = typeOf(match, "a");
  const { bits } = TYPES[type];
  const signed = isSigned(type);
  const distance = modifiersOf(match).has("shiftamt");
  const finish = (zeros: number): number =>
    zeros === bits ? NONE : distance ? zeros : bits - 1 - zeros;
  if (bits === 64) {
    return laneOf(match, (a) => {
      const value = BigInt(a);
      const negative = signed && value >> 63n === 1n;
      return finish(leadingZeros64(negative ? BigInt.asUintN(64, ~value) : value));
    });
  }
  return laneOf(match, (a) => {
    const word = Number(a);
    return finish(Math.clz32(signed && word >= 0x80000000 ? ~word : word));
  });
}

/** The n-th one of a word from a base on, upwards or downwards; n = 0 asks for the base itself. */
function findNth(word: number, base: number, n: number): number {
  // The ISA leaves bases above 31 undefined.
  if (base > 31) return NONE;
  if (n === 0) return (word >>> base) & 1 ? base : NONE;
  const step = n > 0 ? 1 : -1;
  let left = Math.abs(n);
  for (let at = base; at >= 0 && at < 32; at += step) {
    if ((word >>> at) & 1 && --left === 0) return at;
  }
  return NONE;
}

export const BIT_COUNT: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  popc: (match) =>
    is64(match)
      ? laneOf(match, (a) => popcount(lowWord(a)) + popcount(highWord(a)))
      : laneOf(match, (a) => popcount(Number(a))),
  clz: (match) =>
    is64(match) ? laneOf(match, leadingZeros64) : laneOf(match, (a) => Math.clz32(Number(a))),
  bfind: findHighest,
  fns: (match) => laneOf(match, (a, b, c) => findNth(Number(a), Number(b), Number(c) | 0)),
  brev: (match) =>
    is64(match)
      ? laneOf(match, (a) => (BigInt(reverse(lowWord(a))) << 32n) | BigInt(reverse(highWord(a))))
      : laneOf(match, (a) => reverse(Number(a))),
};
