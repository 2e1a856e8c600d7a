/** Weights: what all programs read. */
import type { OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { rowOf } from "../ir/table.ts";

/** Whether each program reads the same, as no other cache operator or priority says. */
export function isWeight(load: OpOf<"load">): boolean {
  const { modifiers } = load.attrs;
  return modifiers.length === 1 && modifiers.includes("nc") &&
    isSameInAll(operandsOf(load).pointer, new Set());
}

/** Whether a value is the same in all programs: parameters and constants decide it. */
function isSameInAll(value: Value, seen: Set<Value>): boolean {
  if (seen.has(value)) return true;
  seen.add(value);
  const { def } = value;
  // Without an operation it is a parameter, as the pass looks at what is in no loop.
  if (def === undefined) return true;
  return rowOf(def).effect === "pure" && def.name !== "program_id" && def.regions.length === 0 &&
    def.operands.every((operand) => isSameInAll(operand, seen));
}
