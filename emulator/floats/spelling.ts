/** What a match says about an instruction on floats: modifiers, types, widths of operands. */
import type { BoundOperand, Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { must } from "../../compiler/support/bug.ts";
import type { Bits, LaneOperation, Width } from "../machine.ts";
import { type Format, type FormatName, FORMATS } from "./formats.ts";
import type { Rounding } from "./rounding.ts";

/** A type of the table: so many values of a format, `stride` bits from one to the next. */
export interface Packed {
  readonly format: Format;
  readonly count: number;
  readonly stride: number;
}

const isFormatName = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);

/** The floats that a type holds; undefined if it is no type of floats. */
export function packedOf(type: string): Packed | undefined {
  const [, name = "", count = "1"] = /^(\w+?)(?:x([248]))?$/.exec(type) ?? [];
  if (!isFormatName(name)) return undefined;
  const format = FORMATS[name];
  return { format, count: Number(count), stride: format.bits === 6 ? 8 : format.bits };
}

/** The modifiers of an instruction as far as floats are concerned. */
export interface Spelling {
  readonly modifiers: ReadonlySet<string>;
  /** Types in order: of the result, then of the sources where theirs differs. */
  readonly types: readonly string[];
  readonly rounding: Rounding;
}

const ROUNDINGS: readonly Rounding[] = ["rn", "rz", "rm", "rp", "rna"];
const INTEGER = /^[us](?:8|16|32|64)$/;

/** The modifiers of a match, sorted by what they say. */
export function spellingOf({ modifiers }: Match): Spelling {
  return {
    modifiers: new Set(modifiers),
    types: modifiers.filter((name) => packedOf(name) !== undefined || INTEGER.test(name)),
    rounding: ROUNDINGS.find((name) => modifiers.includes(name)) ?? "rn",
  };
}

const WIDTHS: readonly Width[] = [1, 8, 16, 32, 64, 128];

/** Bits of an operand: of the register, which may be wider than the type. */
export function widthOf({ operand, type }: BoundOperand): Width {
  const first = operand.kind === "vector" ? operand.elements[0] : operand;
  const { bits } = TYPES[first?.kind === "register" ? first.type : type];
  return must(WIDTHS.find((width) => width === bits), `width ${bits}`);
}

/** The operation that computes the destination of a match from its sources. */
export function laneOperation(match: Match, evaluate: LaneOperation["evaluate"]): LaneOperation {
  const destination = must(match.operands.find((each) => each.destination), "destination");
  const sources = match.operands.filter((each) => !each.destination);
  return {
    sources: sources.flatMap((source) => {
      const count = source.operand.kind === "vector" ? source.operand.elements.length : 1;
      return Array.from({ length: count }, () => widthOf(source));
    }),
    result: widthOf(destination),
    evaluate,
  };
}

/** An operation on up to three values of at most 32 bits. */
export type WordOperation = (a: number, b: number, c: number) => number;
/** An operation on up to three values of 64 bits. */
export type LongOperation = (a: bigint, b: bigint, c: bigint) => bigint;

/** The bits of a value of at most 32 bits. */
export function word(bits: Bits): number {
  return typeof bits === "number" ? bits : Number(BigInt.asUintN(32, bits));
}

/** The bits of a value of 64 bits. */
export function long(bits: Bits): bigint {
  return typeof bits === "bigint" ? bits : BigInt(bits);
}

/** An operation on words as one on lanes. */
export function ofWords(operation: WordOperation): LaneOperation["evaluate"] {
  return (a, b, c) => operation(word(a), word(b), word(c));
}

/** An operation on 64 bits as one on lanes. */
export function ofLongs(operation: LongOperation): LaneOperation["evaluate"] {
  const present = (bits: Bits): bigint => typeof bits === "bigint" ? bits : 0n;
  return (a, b, c) => operation(present(a), present(b), present(c));
}
