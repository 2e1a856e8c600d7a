/** The variables of an entry at each of its instructions, for debuggers. */
import type { NamedStatement, NameRecorder } from "../build/names.ts";
import { spellType } from "../check/tree/types.ts";
import type { Func } from "../ir/func.ts";
import { type Element, isPointer } from "../ir/types.ts";
import { product } from "../linear/linear.ts";
import type { Homes } from "../lower/homes.ts";
import { SCALARS } from "../support/scalar.ts";
import type { NamedValue, SourceNames } from "../support/variables.ts";
import { Evaluation, Evaluator } from "./evaluation.ts";

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
  const evaluator = new Evaluator(built, homes);
  return {
    instructions,
    loops: homes.loops,
    carried: homes.carried,
    statementOf: (instruction) => statements[instruction]?.span,
    at: (instruction) =>
      statements[instruction]?.variables.map(({ variable }) => variable.name) ?? [],
    reading(instruction, reader): (name: string) => NamedValue | undefined {
      const isWithin = (loop: number): boolean => {
        const range = homes.loops[loop];
        return range !== undefined && range.first <= instruction && instruction <= range.last;
      };
      const evaluation = new Evaluation(evaluator, reader, isWithin);
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
): NamedValue | undefined {
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

function arrayFor(element: Element, count: number): NamedValue["values"] {
  if (isPointer(element)) return new BigUint64Array(count);
  const { class: kind, bits, signed } = SCALARS[element];
  if (kind === "float" || bits < 64) return new Float64Array(count);
  return signed ? new BigInt64Array(count) : new BigUint64Array(count);
}
