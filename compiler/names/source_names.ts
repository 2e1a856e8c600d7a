/** The variables of an entry at each of its instructions, for debuggers. */
import type { NamedStatement, NameRecorder } from "../build/names.ts";
import { spellType } from "../check/types.ts";
import type { Func } from "../ir/func.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { product } from "../linear/linear.ts";
import type { Homes, LoopRange } from "../lower/homes.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import { Evaluation, Evaluator, type ProgramReader } from "./evaluation.ts";

export type { ProgramReader, RegisterState, WarpRegister } from "./evaluation.ts";

/** A variable: a tile, or a number, whose shape is empty. */
export interface ReadValue {
  readonly name: string;
  /** As the source spells it. */
  readonly type: string;
  readonly shape: readonly number[];
  /** Row-major; elements that are not known are NaN or 0n. */
  readonly values: Float64Array | BigInt64Array | BigUint64Array;
  /** By element: 0 held in a register, 1 computed, 2 not set yet, 3 gone. */
  readonly kinds: Uint8Array;
}

/** The variables of one entry. Instructions are numbered in the order of its text. */
export interface SourceNames {
  /** The instructions as they are printed: all this is about this code only. */
  readonly instructions: readonly string[];
  readonly loops: readonly LoopRange[];
  /** Registers that loops carry, with the numbers of the loops. */
  readonly carried: ReadonlyMap<string, number>;
  /** The text of the statement that an instruction belongs to. */
  statementOf(instruction: number): Span | undefined;
  /** The variables in scope before the statement that an instruction belongs to. */
  at(instruction: number): readonly string[];
  /** Reads variables at an instruction; what is read together is computed once. */
  reading(instruction: number, reader: ProgramReader): (name: string) => ReadValue | undefined;
}

/** What {@linkcode sourceNames} puts together. */
export interface NamedEntry {
  /** The function as it was built, before all passes. */
  readonly built: Func;
  readonly recorder: NameRecorder;
  readonly homes: Homes;
  readonly instructions: readonly string[];
}

export function sourceNames({ built, recorder, homes, instructions }: NamedEntry): SourceNames {
  const statements = homes.spans.map((span) => span && recorder.statements.get(span));
  const evaluator = new Evaluator(built, homes.homes);
  return {
    instructions,
    loops: homes.loops,
    carried: homes.carried,
    statementOf: (instruction) => statements[instruction]?.span,
    at: (instruction) =>
      statements[instruction]?.variables.map(({ variable }) => variable.name) ?? [],
    reading(instruction, reader): (name: string) => ReadValue | undefined {
      const evaluation = new Evaluation(evaluator, reader);
      const statement = statements[instruction];
      return (name) => statement && read(name, statement, evaluator, evaluation);
    },
  };
}

function read(
  name: string,
  { variables }: NamedStatement,
  evaluator: Evaluator,
  evaluation: Evaluation,
): ReadValue | undefined {
  const found = variables.find(({ variable }) => variable.name === name);
  const value = found && evaluator.values.get(found.value);
  if (found === undefined || value === undefined) return undefined;
  const { shape, element } = value.type;
  const count = product(shape);
  const values = arrayFor(element, count);
  const kinds = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const { kind, value: known } = evaluation.element(value, i);
    kinds[i] = kind;
    if (values instanceof Float64Array) values[i] = known === undefined ? NaN : Number(known);
    else if (known !== undefined) values[i] = BigInt(known);
  }
  return { name, type: spellType(found.variable.type), shape, values, kinds };
}

function arrayFor(element: Element, count: number): ReadValue["values"] {
  if (isPointer(element)) return new BigUint64Array(count);
  const { class: kind, bits, signed } = SCALARS[element];
  if (kind === "float" || bits < 64) return new Float64Array(count);
  return signed ? new BigInt64Array(count) : new BigUint64Array(count);
}
