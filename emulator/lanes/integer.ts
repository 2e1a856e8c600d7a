/** Integers as lanes hold them: how bits become values and values bits. Up to 32 bits values are numbers. */
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { type Evaluate, laneOf, scalarSources } from "./shape.ts";

/** Whether an integer type has a sign. */
export function isSigned(type: TypeName): boolean {
  return type.startsWith("s");
}

/** Reads bits as a value of up to 32 bits; what a wider register holds above is ignored. */
export function narrowReader(bits: number, signed: boolean): (value: Bits) => number {
  const shift = 32 - bits;
  const low = (value: Bits): number =>
    typeof value === "number" ? value : Number(BigInt.asUintN(32, value));
  return signed
    ? (value) => (low(value) << shift) >> shift
    : (value) => (low(value) << shift) >>> shift;
}

/** Writes an integer that a double holds exactly as so many bits, up to 32. */
export function narrowWriter(bits: number): (value: number) => number {
  const shift = 32 - bits;
  return (value) => (value << shift) >>> shift;
}

/** Reads bits as a value of any width. */
export function wideReader(bits: number, signed: boolean): (value: Bits) => bigint {
  return signed
    ? (value) => BigInt.asIntN(bits, BigInt(value))
    : (value) => BigInt.asUintN(bits, BigInt(value));
}

/** The bits of an integer: a number up to 32 bits, a bigint above. */
export function bitsOf(bits: number): (value: bigint) => Bits {
  return bits <= 32
    ? (value) => Number(BigInt.asUintN(bits, value))
    : (value) => BigInt.asUintN(bits, value);
}

/** The least and the largest value of a type. */
export function rangeOf(bits: number, signed: boolean): readonly [least: bigint, largest: bigint] {
  return signed
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
}

/** Reads as many sources as there are, so that absent ones cost nothing. */
function reading<V>(
  count: number,
  read: (value: Bits) => V,
  none: V,
  write: (value: V) => Bits,
  operate: (a: V, b: V, c: V) => V,
): Evaluate {
  if (count === 1) return (a) => write(operate(read(a), none, none));
  if (count === 2) return (a, b) => write(operate(read(a), read(b), none));
  return (a, b, c) => write(operate(read(a), read(b), read(c)));
}

/**
 * An operation whose sources and result have one integer type: on numbers, and for 64 bits on bigints. Results wrap;
 * those of `narrow` must be exact as doubles before.
 */
export function integerOperation(
  match: Match,
  type: TypeName,
  narrow: (a: number, b: number, c: number) => number,
  wide: (a: bigint, b: bigint, c: bigint) => bigint,
): LaneOperation {
  const { bits } = TYPES[type];
  const signed = isSigned(type);
  const count = scalarSources(match).length;
  const evaluate = bits === 64
    ? reading(count, wideReader(64, signed), 0n, bitsOf(64), wide)
    : reading(count, narrowReader(bits, signed), 0, narrowWriter(bits), narrow);
  return laneOf(match, evaluate);
}

/** An operation on both halves of words of two 16-bit integers. */
export function halvesOperation(
  match: Match,
  type: TypeName,
  narrow: (a: number, b: number) => number,
): LaneOperation {
  const read = narrowReader(16, isSigned(type));
  return laneOf(match, (a, b) => {
    const [left, right] = [Number(a), Number(b)];
    const low = narrow(read(left), read(right));
    const high = narrow(read(left >>> 16), read(right >>> 16));
    return ((high << 16) | (low & 0xffff)) >>> 0;
  });
}
