/** Attributes by a name that is text. */
import { bug } from "../support/bug.ts";
import type { ScalarValue } from "../support/arith.ts";
import type { Attrs, AttrValue, Op } from "./func.ts";

function read<T extends AttrValue>(op: Op, name: string, is: (value: AttrValue) => value is T): T {
  const attrs: Attrs = op.attrs;
  const value = attrs[name];
  if (value === undefined || !is(value)) bug(`${op.name} lacks attribute ${name}`);
  return value;
}

const isInt = (value: AttrValue): value is number => typeof value === "number";
const isString = (value: AttrValue): value is string => typeof value === "string";
const isScalar = (value: AttrValue): value is ScalarValue =>
  typeof value === "number" || typeof value === "bigint";
const isInts = (value: AttrValue): value is readonly number[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "number");
const isStrings = (value: AttrValue): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

export const intAttr = (op: Op, name: string): number => read(op, name, isInt);
export const stringAttr = (op: Op, name: string): string => read(op, name, isString);
export const intsAttr = (op: Op, name: string): readonly number[] => read(op, name, isInts);
export const stringsAttr = (op: Op, name: string): readonly string[] => read(op, name, isStrings);
/** `constant.value`, `range.lo`: a bigint for integers, bool and pointers, a number for floats. */
export const scalarAttr = (op: Op, name: string): ScalarValue => read(op, name, isScalar);
