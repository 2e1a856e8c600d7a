/**
 * A part's own elements, what changes nothing in a reduction in place of the others, and what each thread makes of its own
 * (shifted_rows.ts).
 */
import type { Value } from "../../ir/func.ts";
import type { BareOp } from "../../ir/ops.ts";
import { type Element, isFloat, isPointer } from "../../ir/types.ts";
import { bug } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import { product } from "../../linear/linear.ts";
import type { Make } from "./expansion.ts";
import type { LongRows } from "./long_rows.ts";

/** The reductions of rows that are divided. */
export type RowReduction = "add" | "max" | "min";

/** Integers of so many bits that change nothing. */
const NEUTRAL: Readonly<Record<RowReduction, (bits: number, signed: boolean) => bigint>> = {
  add: () => 0n,
  max: (bits, signed) => signed ? -(1n << BigInt(bits - 1)) : 0n,
  min: (bits, signed) => (1n << BigInt(signed ? bits - 1 : bits)) - 1n,
};

/** Of a number and NaN the number is the smaller and the larger one. */
function neutralOf(operator: RowReduction, element: Element): bigint | number {
  if (isPointer(element)) return bug("a reduction of pointers");
  const { bits, signed } = SCALARS[element];
  if (!isFloat(element)) return NEUTRAL[operator](bits, signed);
  return operator === "add" ? 0 : NaN;
}

/** What is in memory must be a part of a part's own. */
export function ownByChoice(make: Make, operator: RowReduction, value: Value, isOwn: Value): Value {
  const { element, shape } = value.type;
  const none = make("constant", [], element, shape, { value: neutralOf(operator, element) });
  return make("select", [isOwn, value, none], element, shape, { covers: true });
}

/** Whether what changes nothing has no bits, or all. */
export function hasBits(operator: RowReduction, element: Element): boolean {
  const is32 = !isPointer(element) && SCALARS[element].bits === 32;
  return is32 && (operator === "add" || isFloat(element));
}

/** The same without predicates, of which threads have seven: all bits of `ownBits` are set, or none. */
export function ownByBits(make: Make, operator: RowReduction, value: Value, ownBits: Value): Value {
  const { element, shape } = value.type;
  const bits = (name: BareOp, left: Value, right: Value): Value =>
    make(name, [left, right], "int32", shape);
  const word = make("bitcast", [value], "int32", shape);
  const all = make("constant", [], "int32", shape, { value: -1n });
  const own = operator === "add"
    ? bits("and", word, ownBits)
    : bits("or", word, bits("xor", ownBits, all));
  return make("bitcast", [own], element, shape);
}

/** What each thread makes of its vectors of a row, as one element, without those of other threads. */
export function ofThreads(
  make: Make,
  operator: RowReduction,
  row: Value,
  { axis, vector, threads, blocks }: LongRows,
): Value {
  const { element, shape } = row.type;
  // Each block of a program has a part of the row, whose vectors its threads have in turn.
  const own = [blocks, product(shape) / (threads * vector), threads / blocks];
  const vectors = make("reshape", [row], element, [...own, vector]);
  const ofVectors = make("reduce", [vectors], element, own, { axis: 3, operator });
  const all = make("reduce", [ofVectors], element, own.toSpliced(1, 1), { axis: 1, operator });
  return make("reshape", [all], element, shape.with(axis, threads));
}
