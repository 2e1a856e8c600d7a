/**
 * Whether a mask surely has one value in all elements of a tile, as a question about scalars:
 *
 *     a + (0 … 127)[:, newaxis] >= b + (0 … 63)[newaxis, :]    a >= b + 63, where neither a + 127 nor b + 63 wraps around
 *
 * The answer may be no where it should be yes, never yes where it should be no.
 */
import type { Value } from "../ir/func.ts";
import { constantOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import type { ScalarOps } from "./scalar_ops.ts";
import { tileEnds } from "./tile_ends.ts";

/** How many operations deep a mask is looked at. */
const DEEPEST = 24;

/** What holds where an ordering of integers does not. */
const OPPOSITE = { lt: "ge", ge: "lt", gt: "le", le: "gt" } as const;

/** A scalar that is true only if all elements of the mask are `wanted`; undefined where nothing is known. */
export function certainly(mask: Value, wanted: boolean, scalars: ScalarOps): Value | undefined {
  const and = (one: Value, other: Value): Value => scalars.emit("and", [one, other], "bool");
  const or = (one: Value, other: Value): Value => scalars.emit("or", [one, other], "bool");

  const ordered = (name: keyof typeof OPPOSITE, left: Value, right: Value): Value | undefined => {
    const [a, b] = [tileEnds(left, scalars), tileEnds(right, scalars)];
    if (a === undefined || b === undefined) return undefined;
    // The pair of elements for which it is least likely.
    const pair = name === "lt" || name === "le" ? [a.most, b.least] : [a.least, b.most];
    return [...a.inOrder, ...b.inOrder].reduce(and, scalars.emit(name, pair, "bool"));
  };

  const known = {
    true: new Map<Value, Value | undefined>(),
    false: new Map<Value, Value | undefined>(),
  };
  /** Masks that are parts of several others are asked for once. */
  const ask = (value: Value, wants: boolean, depth: number): Value | undefined => {
    const answers = known[`${wants}`];
    if (!answers.has(value)) answers.set(value, find(value, wants, depth));
    return answers.get(value);
  };

  const find = (value: Value, wants: boolean, depth: number): Value | undefined => {
    const { def, type: { shape } } = value;
    if (shape.length === 0) return wants ? value : scalars.emit("not", [value], "bool");
    const constant = constantOf(value);
    if (constant !== undefined) {
      return scalars.constant((constant === 1n) === wants ? 1n : 0n, "bool");
    }
    if (def === undefined || depth === 0) return undefined;
    const [first, second] = def.operands;
    if (first === undefined) return undefined;
    if (hasTrait(def, "reshapes")) return ask(first, wants, depth - 1);
    if (second === undefined) return def.name === "not" ? ask(first, !wants, depth - 1) : undefined;
    switch (def.name) {
      case "and":
      case "or": {
        const [left, right] = [ask(first, wants, depth - 1), ask(second, wants, depth - 1)];
        if ((def.name === "and") === wants) return left && right && and(left, right);
        return left && right ? or(left, right) : left ?? right;
      }
      case "lt":
      case "le":
      case "gt":
      case "ge":
        return ordered(wants ? def.name : OPPOSITE[def.name], first, second);
      default:
        return undefined;
    }
  };
  return ask(mask, wanted, DEEPEST);
}
