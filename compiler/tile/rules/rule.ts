/** Rewriting rules as rows, and queries that several of them share. */
import { must } from "../../support/bug.ts";
import type { ScalarValue } from "../../support/arith.ts";
import type { Op, OpOf, Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf } from "../../ir/op.ts";
import type { TileOp } from "../../ir/ops.ts";
import { type IrType, scalarType } from "../../ir/types.ts";
import { opsWith } from "../../ir/table.ts";
import type { Rewriter } from "../rewrite.ts";

/** A result must be cheaper than what it replaces, or equal and nearer to the canonical form. */
export interface RuleFor<N extends TileOp> {
  readonly name: string;
  /** What it does, for people: `before → after`, and under which condition. */
  readonly doc: string;
  readonly ops: readonly N[];
  /** The value in place of the result (several for several results), or undefined when the rule does not fit. */
  apply(op: OpOf<N>, rw: Rewriter): Value | readonly Value[] | undefined;
}

/** A rule for some of all operations; it is applied to those alone. */
export type Rule = RuleFor<TileOp>;

/** A rule whose `apply` gets an operation of `ops`. */
export function rule<N extends TileOp>(row: RuleFor<N>): Rule {
  return row;
}

/** 0, 0.0 or null; -0.0 is not. */
export function isZero(value: ScalarValue | undefined): boolean {
  return value === 0n || Object.is(value, 0);
}

/** Operations whose operands may be exchanged. */
export const COMMUTING = opsWith("commutes");
export const ELEMENTWISE = opsWith("elementwise");

/** Whether all elements are visibly one value. */
export function isUniform(value: Value): boolean {
  const name = value.def?.name;
  return name === "constant" || name === "splat" || value.type.shape.length === 0;
}

/** The value of a uniform tile, as a scalar. */
export function scalarOf(value: Value, op: Op, rw: Rewriter): Value {
  if (value.type.shape.length === 0) return value;
  const constant = constantOf(value);
  if (constant !== undefined) return rw.constant(constant, scalarType(value.type.element), op.span);
  return operandsOf(must(madeBy(value, "splat"), "splat")).value;
}

/** A uniform tile with another shape; without axes, its scalar. */
export function respread(value: Value, shape: readonly number[], op: Op, rw: Rewriter): Value {
  const type: IrType = { element: value.type.element, shape };
  const constant = constantOf(value);
  if (constant !== undefined) return rw.constant(constant, type, op.span);
  const scalar = scalarOf(value, op, rw);
  return shape.length === 0 ? scalar : rw.emit("splat", [scalar], type, op.span);
}
