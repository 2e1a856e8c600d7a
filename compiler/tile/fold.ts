/** What an operation on constants gives: exactly what it would give at run time, or nothing. */
import {
  type ArithOperator,
  bitcastScalar,
  convertScalar,
  evalBinary,
  evalUnary,
  roundFloat,
  type ScalarValue,
  wrapInt,
} from "../support/arith.ts";
import { isMathName, MATH_FUNCTIONS, type MathFunction } from "../support/math_functions.ts";
import type { ScalarName } from "../support/scalar.ts";
import type { Op, OpOf } from "../ir/func.ts";
import { constantOf, resultOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { isTileOp } from "../ir/table.ts";
import { type Element, isPointer } from "../ir/types.ts";

/** The value of every element of the result. */
export function foldOp(op: Op): ScalarValue | undefined {
  if (RULES[op.name] === undefined) return undefined;
  const values: ScalarValue[] = [];
  for (const operand of op.operands) {
    const value = constantOf(operand);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return applyRule(op, values);
}

/** What one element of the result is, of an operation that can be folded: from that element of the operands. */
export function applyRule<N extends TileOp>(
  op: OpOf<N>,
  values: readonly ScalarValue[],
): ScalarValue | undefined {
  const rule: Rule<N> | undefined = RULES[op.name];
  return rule?.(op, values);
}

type Rule<N extends TileOp = TileOp> = (
  op: OpOf<N>,
  values: readonly ScalarValue[],
) => ScalarValue | undefined;

/** Addresses compare and convert as unsigned 64-bit integers. */
function scalarName(element: Element): ScalarName {
  return isPointer(element) ? "uint64" : element;
}

const operandName = (op: Op): ScalarName => scalarName(op.operands[0]?.type.element ?? "int32");
const resultName = (op: Op): ScalarName => scalarName(resultOf(op).type.element);

const binary = (operator: ArithOperator): Rule => (op, [a, b]) =>
  a === undefined || b === undefined ? undefined : evalBinary(operator, operandName(op), a, b);

const unary = (operator: "neg" | "not"): Rule => (op, [a]) =>
  a === undefined ? undefined : evalUnary(operator, operandName(op), a);

/** Every element stays what it is. */
const same: Rule = (_op, [a]) => a;

/** A function of constants, where its row says what that is. */
const math: Rule<"math"> = (op, [a]) => {
  const name = op.attrs.function;
  const row: MathFunction | undefined = isMathName(name) ? MATH_FUNCTIONS[name] : undefined;
  const type = operandName(op);
  if (typeof a === "bigint") return row?.foldInteger && wrapInt(row.foldInteger(a), type);
  return a === undefined ? undefined : row?.fold && roundFloat(row.fold(a), type);
};

const RULES: { readonly [N in TileOp]?: Rule<N> } = {
  add: binary("add"),
  sub: binary("sub"),
  mul: binary("mul"),
  div: binary("div"),
  rem: binary("rem"),
  min: binary("min"),
  max: binary("max"),
  and: binary("and"),
  or: binary("or"),
  xor: binary("xor"),
  shl: binary("shl"),
  shr: binary("shr"),
  lt: binary("lt"),
  le: binary("le"),
  gt: binary("gt"),
  ge: binary("ge"),
  eq: binary("eq"),
  ne: binary("ne"),
  neg: unary("neg"),
  not: unary("not"),
  convert: (op, [a]) => a === undefined ? undefined : convertScalar(a, resultName(op)),
  bitcast: (op, [a]) =>
    a === undefined ? undefined : bitcastScalar(a, operandName(op), resultName(op)),
  math,
  assume_multiple: same,
  splat: same,
  expand_dims: same,
  broadcast: same,
  reshape: same,
  permute: same,
};

/** The operations that can be folded at all. */
export const FOLDABLE: readonly TileOp[] = Object.keys(RULES).filter(isTileOp);
