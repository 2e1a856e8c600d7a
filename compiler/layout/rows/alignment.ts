/** How addresses of rows lie to each other, modulo a vector (shifted_rows.ts): by parameters that a launch is asked about. */
import type { Func, Value } from "../../ir/func.ts";
import { hasTrait } from "../../ir/table.ts";
import { isPointer, pointeeBytes } from "../../ir/types.ts";
import { SCALARS } from "../../support/scalar.ts";

/** What must hold of parameters, so that rows of several tensors are shifted alike. */
export interface ShiftDemands {
  /** Elements of a vector. */
  readonly vector: number;
  /** Addresses that are alike modulo the bytes of a vector, and integers that are alike modulo its elements. */
  readonly alike: readonly (readonly [Value, Value])[];
}

/** Their result is alike modulo a power of two where their operands are. */
const CONGRUENT: ReadonlySet<string> = new Set(["add", "sub", "mul", "neg", "offset", "convert"]);

/**
 * The parameters that have to be alike, modulo a power of two, so that two values are; undefined where that is not all that it
 * takes.
 */
export function alikeIf(
  func: Func,
  one: Value,
  other: Value,
): (readonly [Value, Value])[] | undefined {
  const pairs: [Value, Value][] = [];
  const pending: [Value, Value][] = [[one, other]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (kindOf(a) === undefined || kindOf(a) !== kindOf(b)) return undefined;
    if (func.params.includes(a) && func.params.includes(b)) {
      pairs.push([a, b]);
      continue;
    }
    const [from, to] = [a.def, b.def];
    if (from === undefined || to?.name !== from.name) return undefined;
    if (!CONGRUENT.has(from.name) && !hasTrait(from, "reshapes")) return undefined;
    // Counts that are alike move pointers alike if they count elements of a vector.
    const isMoved = from.name === "offset";
    if (isMoved && [a, b].some((at) => pointeeBytes(at) !== pointeeBytes(one))) return undefined;
    const isSame = a.type.shape.join() === b.type.shape.join() &&
      JSON.stringify(from.attrs) === JSON.stringify(to.attrs);
    if (!isSame) return undefined;
    for (const [i, operand] of from.operands.entries()) {
      const partner = to.operands[i];
      const isKept = isMoved || kindOf(operand) === kindOf(a);
      if (partner === undefined || !isKept) return undefined;
      pending.push([operand, partner]);
    }
  }
  return pairs;
}

/** What values count that may be alike: bytes of memory, or elements. */
function kindOf({ type: { element } }: Value): "address" | "count" | undefined {
  if (isPointer(element)) return "address";
  return SCALARS[element].class === "int" && element !== "bool" ? "count" : undefined;
}
