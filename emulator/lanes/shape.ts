/** Which values an instruction reads and writes in each lane, in the order in which operations take them. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { BoundOperand, Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import type { Bits, LaneOperation, Width } from "../machine.ts";

/** An operand of one value: elements of vectors and members of pairs count one by one. */
export interface Scalar {
  readonly operand: Operand;
  readonly type: TypeName;
}

/** The register of which an operand is a part or the negation: video instructions apply those themselves. */
function plain(operand: Operand): Operand {
  if (operand.kind === "part") return operand.register;
  return operand.kind === "negative" ? plain(operand.operand) : operand;
}

function flatten({ operand, type }: BoundOperand): Scalar[] {
  if (operand.kind === "vector") {
    return operand.elements.map((element) => ({ operand: element, type }));
  }
  if (operand.kind !== "pair") return [{ operand: plain(operand), type }];
  // Every second destination of an instruction that acts on lanes is a predicate.
  return [{ operand: operand.first, type }, { operand: operand.second, type: "pred" }];
}

/** Sources in order. Operands that only literals may be (`#lut`) are part of the operation instead. */
export function scalarSources(match: Match): readonly Scalar[] {
  return match.operands
    .filter(({ kind, destination }) => !destination && kind !== "literal")
    .flatMap(flatten);
}

/** Destinations in order, sinks included. */
export function scalarDestinations(match: Match): readonly Scalar[] {
  return match.operands.filter(({ destination }) => destination).flatMap(flatten);
}

const WIDTHS: Readonly<Record<number, Width>> = { 1: 1, 8: 8, 16: 16, 32: 32, 64: 64, 128: 128 };

/** How wide a value is where it lies: registers may be wider than the instruction's type. */
export function widthOf({ operand, type }: Scalar): Width {
  return WIDTHS[TYPES[operand.kind === "register" ? operand.type : type].bits] ?? 32;
}

/** From the bits of the sources to those of a result. */
export type Evaluate = (a: Bits, b: Bits, c: Bits, d: Bits) => Bits;

/** An operation with the widths of a match, one function for each destination that it has. */
export function laneOf(match: Match, evaluate: Evaluate, ...others: Evaluate[]): LaneOperation {
  const [result = 32, ...widths] = scalarDestinations(match).map(widthOf);
  const more = widths.flatMap((width, i) => {
    const other = others[i];
    return other === undefined ? [] : [{ result: width, evaluate: other }];
  });
  return { sources: scalarSources(match).map(widthOf), result, evaluate, more };
}

/** The modifiers of an instruction, those included that are types. */
export function modifiersOf(match: Match): ReadonlySet<string> {
  return new Set(match.modifiers);
}

/** The value of an operand that only a literal may be. */
export function literalOf(match: Match, name: string): number {
  const operand = match.operands.find((bound) => bound.name === name)?.operand;
  return operand?.kind === "integer" ? Number(operand.value) : 0;
}

/** The type of an operand by its name; of the first one without a name. */
export function typeOf(match: Match, name?: string): TypeName {
  const operand = name === undefined
    ? match.operands[0]
    : match.operands.find((bound) => bound.name === name);
  return operand?.type ?? "b32";
}
