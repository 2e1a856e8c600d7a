/** Integer arithmetic (PTX ISA 9.0, 9.7.1.1 to 9.7.1.13). */
import type { Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { LaneOperation } from "../machine.ts";
import {
  bitsOf,
  halvesOperation,
  integerOperation,
  isSigned,
  narrowReader,
  rangeOf,
  wideReader,
} from "./integer.ts";
import { laneOf, modifiersOf, typeOf } from "./shape.ts";

const MOST = 0x7fffffff;
const LEAST = -0x80000000;

const clamp = (value: number, least: number, most: number): number =>
  value < least ? least : value > most ? most : value;

/** add and sub: wrapping, or held at the ends of s32. */
function sum(match: Match, sign: 1 | -1): LaneOperation {
  const type = typeOf(match);
  const narrow = (a: number, b: number): number => a + sign * b;
  if (type === "u16x2" || type === "s16x2") return halvesOperation(match, type, narrow);
  if (modifiersOf(match).has("sat")) {
    const held = (a: number, b: number): number => clamp(a + sign * b, LEAST, MOST);
    return integerOperation(match, type, held, (a) => a);
  }
  return integerOperation(match, type, narrow, sign === 1 ? (a, b) => a + b : (a, b) => a - b);
}

/** The part of a product that a modifier asks for, plus c if there is one. */
function product(match: Match): LaneOperation {
  const modifiers = modifiersOf(match);
  const type = typeOf(match, "a");
  const { bits } = TYPES[type];
  const signed = isSigned(type);
  if (modifiers.has("lo")) {
    const narrow = (a: number, b: number, c: number): number => Math.imul(a, b) + c;
    return integerOperation(match, type, narrow, (a, b, c) => a * b + c);
  }
  const wide = modifiers.has("wide");
  const [read, readAddend] = [wideReader(bits, signed), wideReader(wide ? 2 * bits : bits, signed)];
  const write = bitsOf(wide ? 2 * bits : bits);
  const shift = wide ? 0n : BigInt(bits);
  if (match.opcode === "mul") return laneOf(match, (a, b) => write((read(a) * read(b)) >> shift));
  if (modifiers.has("sat")) {
    return laneOf(
      match,
      (a, b, c) => write(saturate((read(a) * read(b) >> shift) + readAddend(c))),
    );
  }
  return laneOf(match, (a, b, c) => write((read(a) * read(b) >> shift) + readAddend(c)));
}

function saturate(value: bigint): bigint {
  const [least, most] = rangeOf(32, true);
  return value < least ? least : value > most ? most : value;
}

/** Products of the low 24 bits of words: their bits 31 to 0 or 47 to 16, plus c if there is one. */
function product24(match: Match): LaneOperation {
  const modifiers = modifiersOf(match);
  const read = narrowReader(24, isSigned(typeOf(match)));
  const shift = modifiers.has("hi") ? 16n : 0n;
  const write = bitsOf(32);
  const multiply = (a: number, b: number): bigint =>
    BigInt.asUintN(32, BigInt(a) * BigInt(b) >> shift);
  if (match.opcode === "mul24") return laneOf(match, (a, b) => write(multiply(read(a), read(b))));
  const add = modifiers.has("sat")
    ? (part: bigint, c: bigint): bigint => saturate(BigInt.asIntN(32, part) + BigInt.asIntN(32, c))
    : (part: bigint, c: bigint): bigint => part + c;
  return laneOf(match, (a, b, c) => write(add(multiply(read(a), read(b)), BigInt(c))));
}

/** What dividing by zero gives: all ones, as NVIDIA's GPUs do; the ISA leaves it open. */
const NO_QUOTIENT = -1;

function quotient(match: Match): LaneOperation {
  return integerOperation(
    match,
    typeOf(match),
    (a, b) => b === 0 ? NO_QUOTIENT : Math.trunc(a / b),
    (a, b) => b === 0n ? -1n : a / b,
  );
}

function remainder(match: Match): LaneOperation {
  return integerOperation(
    match,
    typeOf(match),
    (a, b) => b === 0 ? NO_QUOTIENT : a % b,
    (a, b) => b === 0n ? -1n : a % b,
  );
}

/** min and max, of halves as well; `.relu` makes negative results 0. */
function extreme(match: Match, isMin: boolean): LaneOperation {
  const type = typeOf(match);
  const relu = modifiersOf(match).has("relu");
  const pick = isMin
    ? (a: number, b: number): number => a < b ? a : b
    : (a: number, b: number): number => a > b ? a : b;
  const narrow = relu ? (a: number, b: number): number => Math.max(pick(a, b), 0) : pick;
  if (type === "u16x2" || type === "s16x2") return halvesOperation(match, type, narrow);
  return integerOperation(match, type, narrow, (a, b) => (a < b) === isMin ? a : b);
}

function unary(
  narrow: (a: number) => number,
  wide: (a: bigint) => bigint,
): (match: Match) => LaneOperation {
  return (match) => integerOperation(match, typeOf(match), narrow, wide);
}

const distance = (match: Match): LaneOperation =>
  integerOperation(
    match,
    typeOf(match),
    (a, b, c) => Math.abs(a - b) + c,
    (a, b, c) => (a < b ? b - a : a - b) + c,
  );

/** Inner products of bytes, or of 16-bit numbers and bytes. */
function dot(match: Match): LaneOperation {
  const type = (name: "T" | "U"): TypeName => match.bound.get(name) === "s32" ? "s32" : "u32";
  const halves = match.opcode === "dp2a";
  const readA = narrowReader(halves ? 16 : 8, isSigned(type("T")));
  const readB = narrowReader(8, isSigned(type("U")));
  const [count, step] = halves ? [2, 16] : [4, 8];
  const first = modifiersOf(match).has("hi") ? 16 : 0;
  return laneOf(match, (a, b, c) => {
    const [left, right] = [Number(a), Number(b)];
    let total = Number(c);
    for (let i = 0; i < count; i++) {
      total += readA(left >>> (step * i)) * readB(right >>> (first + 8 * i));
    }
    return total >>> 0;
  });
}

export const ARITHMETIC: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  add: (match) => sum(match, 1),
  sub: (match) => sum(match, -1),
  mul: product,
  mad: product,
  mul24: product24,
  mad24: product24,
  sad: distance,
  div: quotient,
  rem: remainder,
  abs: unary(Math.abs, (a) => a < 0n ? -a : a),
  neg: unary((a) => -a, (a) => -a),
  min: (match) => extreme(match, true),
  max: (match) => extreme(match, false),
  dp4a: dot,
  dp2a: dot,
};
