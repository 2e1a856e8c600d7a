/**
 * Video instructions on one part of each register (PTX ISA 9.0, 9.7.18.1). Values are exact between the steps that the
 * ISA names: reading parts, the operation, saturation, and a second operation on c or merging into c.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { rangeOf } from "./integer.ts";
import { laneOf, modifiersOf } from "./shape.ts";

/** A byte or a half of a word, or all of it. */
interface Part {
  readonly shift: number;
  readonly bits: number;
}

const WHOLE: Part = { shift: 0, bits: 32 };

function operandNamed(match: Match, name: string): Operand | undefined {
  return match.operands.find((operand) => operand.name === name)?.operand;
}

/** `.b2` or `.h1` of an operand, also after a minus. */
function partOf(operand: Operand | undefined): Part {
  if (operand?.kind === "negative") return partOf(operand.operand);
  if (operand?.kind !== "part") return WHOLE;
  const bits = operand.part.startsWith("h") ? 16 : 8;
  return { shift: bits * Number(operand.part.slice(1)), bits };
}

/** Reads a part of a word as a value. */
function partReader({ shift, bits }: Part, signed: boolean): (word: Bits) => number {
  const above = 32 - bits;
  const align = (word: Bits): number => (Number(word) >>> shift) << above;
  return signed ? (word) => align(word) >> above : (word) => align(word) >>> above;
}

/** Whether a type modifier is signed; vset has no DTYPE, and is unsigned. */
const signedBy = (match: Match, group: string): boolean => match.bound.get(group) === "s32";

/** The low 32 bits of an integer that may have more than a double's worth of them. */
const word = (value: number): number => value >>> 0;

const SHIFT_LIMIT = 32;

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  vadd: (a, b) => a + b,
  vsub: (a, b) => a - b,
  vabsdiff: (a, b) => Math.abs(a - b),
  vmin: Math.min,
  vmax: Math.max,
  vshl: (a, b) => a * 2 ** b,
  vshr: (a, b) => Math.floor(a / 2 ** b),
};

/** Comparisons of vset and its relatives: 1 or 0. */
export const COMPARISONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  eq: (a, b) => a === b ? 1 : 0,
  ne: (a, b) => a !== b ? 1 : 0,
  lt: (a, b) => a < b ? 1 : 0,
  le: (a, b) => a <= b ? 1 : 0,
  gt: (a, b) => a > b ? 1 : 0,
  ge: (a, b) => a >= b ? 1 : 0,
};

const SECOND: Readonly<Record<string, (result: number, c: number) => number>> = {
  // Shifted values may have more bits than doubles.
  add: (result, c) => word(result) + c,
  min: Math.min,
  max: Math.max,
};

/** Holds values in the range of so many bits. */
export function saturator(bits: number, signed: boolean): (value: number) => number {
  const [least = 0, largest = 0] = rangeOf(bits, signed).map(Number);
  return (value) => value < least ? least : value > largest ? largest : value;
}

/** What is done to a and b before saturation. */
function primary(match: Match): (a: number, b: number) => number {
  const comparison = COMPARISONS[match.bound.get("CMPI") ?? ""];
  const operation = comparison ?? OPERATIONS[match.opcode] ?? ((a: number): number => a);
  const modifiers = modifiersOf(match);
  if (modifiers.has("clamp")) return (a, b) => operation(a, Math.min(b, SHIFT_LIMIT));
  if (modifiers.has("wrap")) return (a, b) => operation(a, b & 31);
  return operation;
}

/** vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset. */
function scalar(match: Match): LaneOperation {
  const modifiers = modifiersOf(match);
  const signed = signedBy(match, "DTYPE");
  const [d, a, b] = ["d", "a", "b"].map((name) => partOf(operandNamed(match, name)));
  const readA = partReader(a ?? WHOLE, signedBy(match, "ATYPE"));
  const readB = partReader(b ?? WHOLE, signedBy(match, "BTYPE"));
  const readC = partReader(WHOLE, signed);
  const operate = primary(match);
  const { shift, bits } = d ?? WHOLE;
  const saturate = modifiers.has("sat")
    ? saturator(bits, signed)
    : (value: number): number => value;
  const compute = (a: Bits, b: Bits): number => saturate(operate(readA(a), readB(b)));
  const second = ["add", "min", "max"].find((name) => modifiers.has(name));
  if (second !== undefined) {
    const combine = SECOND[second];
    return laneOf(match, (a, b, c) => word(combine?.(compute(a, b), readC(c)) ?? 0));
  }
  if (bits === 32) return laneOf(match, (a, b) => word(compute(a, b)));
  const mask = ((1 << bits) - 1) << shift;
  return laneOf(
    match,
    (a, b, c) => ((Number(c) & ~mask) | ((compute(a, b) << shift) & mask)) >>> 0,
  );
}

/** vmad: a product of 128 bits, negated or not, plus c, shifted and saturated. */
function multiplyAdd(match: Match): LaneOperation {
  const modifiers = modifiersOf(match);
  const [a, b, c] = ["a", "b", "c"].map((name) => operandNamed(match, name));
  const [signedA, signedB] = [signedBy(match, "ATYPE"), signedBy(match, "BTYPE")];
  const negatesProduct = (a?.kind === "negative") !== (b?.kind === "negative");
  const negatesC = c?.kind === "negative";
  const signed = signedA || signedB || negatesProduct || negatesC;
  const [readA, readB] = [partReader(partOf(a), signedA), partReader(partOf(b), signedB)];
  const plus = modifiers.has("po") || negatesProduct || negatesC ? 1n : 0n;
  const shift = modifiers.has("shr7") ? 7n : modifiers.has("shr15") ? 15n : 0n;
  const [least, largest] = rangeOf(32, signed);
  const saturates = modifiers.has("sat");
  return laneOf(match, (a, b, c) => {
    const product = BigInt(readA(a)) * BigInt(readB(b));
    // As the ISA has it, c is negated as a word, whose highest bit is then taken for a sign.
    const addend = BigInt.asUintN(32, negatesC ? ~BigInt(c) : BigInt(c));
    const sum = (negatesProduct ? ~product : product) +
      (signed ? BigInt.asIntN(32, addend) : addend) + plus;
    const scaled = sum >> shift;
    const result = !saturates
      ? scaled
      : scaled < least
      ? least
      : scaled > largest
      ? largest
      : scaled;
    return Number(BigInt.asUintN(32, result));
  });
}

export const VIDEO: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  vadd: scalar,
  vsub: scalar,
  vabsdiff: scalar,
  vmin: scalar,
  vmax: scalar,
  vshl: scalar,
  vshr: scalar,
  vset: scalar,
  vmad: multiplyAdd,
};
