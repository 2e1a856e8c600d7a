/** Rewriting rules as rows, and the questions that several of them ask. */
import { must } from "../../support/bug.ts";
import type { ScalarValue } from "../../support/arith.ts";
import { constantOf } from "../../ir/attrs.ts";
import type { Op, Value } from "../../ir/func.ts";
import { TILE_OPS, type TileOp, type TileOpRow } from "../../ir/ops.ts";
import { type IrType, scalarType } from "../../ir/types.ts";
import { rowOf } from "../../ir/walk.ts";
import type { Rewriter } from "../rewrite.ts";

/** A result must be cheaper than what it replaces, or equal and nearer to the canonical form. */
export interface Rule {
  readonly name: string;
  /** What it does, for people: `before → after`, and under which condition. */
  readonly doc: string;
  readonly ops: readonly TileOp[];
  /** The value in place of the result (several for several results), or undefined when the rule does not fit. */
  apply(op: Op, rw: Rewriter): Value | readonly Value[] | undefined;
}

/** The operation that made a value, if it is of this kind. */
export function madeBy(value: Value | undefined, name: TileOp): Op | undefined {
  return value?.def?.name === name ? value.def : undefined;
}

/** 0, 0.0 or null; -0.0 is not. */
export function isZero(value: ScalarValue | undefined): boolean {
  return value === 0n || Object.is(value, 0);
}

function opsWhere(test: (row: TileOpRow) => boolean): readonly TileOp[] {
  const names: TileOp[] = [];
  for (const [name, row] of Object.entries(TILE_OPS)) if (isTileOp(name) && test(row)) names.push(name);
  return names;
}

/** Operations whose operands may be exchanged. */
export const COMMUTING = opsWhere((row) => row.commutes === true);

/** Operations that work element by element and may be repeated or moved freely. */
export function isElementwise(op: Op): boolean {
  const row = rowOf(op);
  return row.elementwise === true && row.effect === "pure";
}

/** Whether all elements are known to be one value. */
export function isUniform(value: Value): boolean {
  const name = value.def?.name;
  return name === "constant" || name === "splat" || value.type.shape.length === 0;
}

/** The one value of a uniform tile, as a scalar. */
export function scalarOf(value: Value, op: Op, rw: Rewriter): Value | undefined {
  if (value.type.shape.length === 0) return value;
  const constant = constantOf(value);
  if (constant !== undefined) return rw.constant(constant, scalarType(value.type.element), op.span);
  return madeBy(value, "splat")?.operands[0];
}

/** A uniform tile with another shape. */
export function respread(value: Value, shape: readonly number[], op: Op, rw: Rewriter): Value | undefined {
  const type: IrType = { element: value.type.element, shape };
  const constant = constantOf(value);
  if (constant !== undefined) return rw.constant(constant, type, op.span);
  const scalar = madeBy(value, "splat")?.operands[0];
  return scalar === undefined || shape.length === 0 ? scalar : rw.emit("splat", [scalar], type, op.span);
}

/** The two operands of a binary operation. */
export function pair(op: Op): readonly [Value, Value] {
  return [must(op.operands[0], "left operand"), must(op.operands[1], "right operand")];
}

/** The result of an operation that has one. */
export function resultOf(op: Op): Value {
  return must(op.results[0], "result");
}
