/**
 * Values in the order in which they can be computed. A chain of operands may be as long as the program, so an
 * analysis of a value visits its operands first, in this order, instead of recursing along the chain.
 */
import type { Value } from "./func.ts";

/** The operands of the operation that made a value. */
export const inputsOf = (value: Value): readonly Value[] => value.def?.operands ?? [];

/**
 * A value and what it is made of, each after its own sources; a value that is known is left out with all before it.
 * Without circles: sources that lead back to a value that is still open are passed over.
 */
export function sourcesFirst(
  value: Value,
  isKnown: (value: Value) => boolean,
  sourcesOf: (value: Value) => readonly Value[] = inputsOf,
): readonly Value[] {
  if (isKnown(value)) return [];
  const sources = sourcesOf(value);
  // As it is mostly, for those who ask in the order of the program.
  if (sources.every(isKnown)) return [value];
  const order: Value[] = [];
  const entered = new Set([value]);
  const path = [{ value, sources, next: 0 }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const source = top.sources[top.next++];
    if (source === undefined) {
      order.push(top.value);
      path.pop();
    } else if (!entered.has(source) && !isKnown(source)) {
      entered.add(source);
      path.push({ value: source, sources: sourcesOf(source), next: 0 });
    }
  }
  return order;
}
