/** What the forms of instructions have in common: their rows, their names, their literals. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { BoundOperand, Match } from "../../compiler/ptx/match.ts";
import { isTypeName, type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { VectorSpec } from "./vector.ts";
import { type PredicateOperand, type Primitive, type Row, row } from "./primitive.ts";

/** Makes the primitive of an instruction, if there is one. */
export type FormRule = (match: Match) => Primitive | undefined;

export type Evaluate = VectorSpec["evaluate"];

export interface Shape {
  readonly name: string;
  readonly results: readonly (Row | PredicateOperand)[];
  readonly sources: readonly (Row | PredicateOperand)[];
}

/** The operand itself, the elements of a vector, the two of a pair. */
export function parts(operand: Operand): readonly Operand[] {
  if (operand.kind === "vector") return operand.elements;
  if (operand.kind === "pair") return [operand.first, operand.second];
  return [operand];
}

function rowsOf({ operand, type }: BoundOperand): readonly (Row | PredicateOperand)[] {
  return parts(operand).map((part) =>
    type === "pred" ? { kind: "predicate", operand: part } : row(part, type)
  );
}

/** The value of an operand that is an integer literal. */
export function literal(match: Match, name: string): number | undefined {
  const operand = match.operands.find((it) => it.name === name)?.operand;
  return operand?.kind === "integer" ? Number(BigInt.asUintN(32, operand.value)) : undefined;
}

/** Modifiers as they are written. */
function spelling(match: Match): string {
  return [match.opcode, ...[...match.bound.values()].reverse()].join(".");
}

/** Rows of an instruction, without those operands whose literal is part of the code. */
export function shapeOf(match: Match, baked: readonly string[] = []): Shape {
  const kept = match.operands.filter(({ name }) => !baked.includes(name));
  const results = kept.filter(({ destination }) => destination).flatMap(rowsOf);
  const sources = kept.filter(({ destination }) => !destination).flatMap(rowsOf);
  const literals = baked.map((name) => `${name}=${literal(match, name)}`);
  const widths = [...results, ...sources].map((it) => it.kind === "row" ? it.bits : "p");
  return { name: [spelling(match), ...literals, widths.join(" ")].join(":"), results, sources };
}

export const has = (match: Match, variable: string): boolean => match.bound.has(variable);

/** Whether this one of alternatives such as `lo|hi` was chosen. */
export function chose(match: Match, modifier: string): boolean {
  return [...match.bound.values()].includes(modifier);
}

/** Whether an instruction has no modifiers but types and these: others would change what it does. */
export function hasOnly(match: Match, known: ReadonlySet<string>): boolean {
  return [...match.bound.values()].every((name) => known.has(name) || isTypeName(name));
}

/** Types among the modifiers, in order. */
export function typesOf(match: Match): readonly TypeName[] {
  return [...match.bound.values()].reverse().filter(isTypeName);
}

/** Interpretations of vectors by the width of integers. */
export const LANES_OF = { 16: "i16x8", 32: "i32x4", 64: "i64x2" } as const;

export interface IntegerType {
  readonly bits: keyof typeof LANES_OF;
  readonly signed: boolean;
}

/** Integers of 16 to 64 bits, or pairs of 16 bits; untyped bits count as unsigned. */
export function integerType(type: TypeName | undefined): IntegerType | undefined {
  if (type === undefined || TYPES[type].class === "float" || TYPES[type].class === "pred") {
    return undefined;
  }
  const bits = type.endsWith("x2") ? 16 : TYPES[type].bits;
  return bits === 16 || bits === 32 || bits === 64
    ? { bits, signed: type.startsWith("s") }
    : undefined;
}
