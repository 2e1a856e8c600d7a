/** Typed trees by hand, for tests of what reads them. */
import type { Span } from "../../../compiler/support/source.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { ElementType, PointerType, TileType } from "../../../compiler/check/tree/types.ts";
import type {
  TypedBinaryOperator,
  TypedExpr,
  TypedKernel,
  TypedParam,
  TypedStmt,
  ValueType,
  Variable,
} from "../../../compiler/check/tree/typed.ts";

export const SPAN: Span = { file: { name: "<tree>", text: "" }, start: 0, end: 0 };
const span = SPAN;

export const scalar = (name: ScalarName): ElementType => ({ kind: "scalar", name });
export const INT = scalar("int32");
export const FLOAT = scalar("float32");
export const BOOL = scalar("bool");
export const pointerTo = (name: ScalarName, volatile = false): PointerType => ({
  kind: "pointer",
  pointee: { kind: "scalar", name },
  const: false,
  volatile,
  space: "global",
});
export const tile = (element: ElementType, ...shape: number[]): TileType => ({
  kind: "tile",
  element,
  shape,
});

/** Variables with ids of their own. */
export class Variables {
  #next = 0;

  make(name: string, type: ValueType): Variable {
    return { id: this.#next++, name, type, span };
  }
}

/** An expression that is not a call of a void function. */
export type Valued = TypedExpr & { readonly type: ValueType };

export const use = (variable: Variable): Valued => ({
  kind: "variable",
  variable,
  type: variable.type,
  span,
});
export const constant = (value: bigint | number, type: ValueType = INT): Valued => ({
  kind: "constant",
  value,
  type,
  span,
});
export const binary = (
  operator: TypedBinaryOperator,
  lhs: Valued,
  rhs: Valued,
  type: ValueType = lhs.type,
): Valued => ({
  kind: "binary",
  operator,
  lhs,
  rhs,
  type,
  span,
});
export const less = (lhs: Valued, rhs: Valued): Valued => binary("lt", lhs, rhs, BOOL);
export const broadcast = (operand: Valued, type: ValueType): Valued => ({
  kind: "broadcast",
  operand,
  type,
  span,
});
export const reshape = (operand: Valued, type: ValueType): Valued => ({
  kind: "reshape",
  operand,
  type,
  span,
});
export const offset = (pointer: Valued, count: Valued): Valued => ({
  kind: "offset",
  pointer,
  count,
  type: pointer.type,
  span,
});
export const load = (pointer: Valued, type: ValueType, mask?: Valued): Valued => ({
  kind: "load",
  pointer,
  ...(mask === undefined ? {} : { mask }),
  modifiers: [],
  type,
  span,
});
export const storeExpr = (pointer: Valued, value: Valued, mask?: Valued): Valued => ({
  kind: "store",
  pointer,
  value,
  ...(mask === undefined ? {} : { mask }),
  modifiers: [],
  type: value.type,
  span,
});
export const assign = (variable: Variable, value: Valued): Valued => ({
  kind: "assign",
  variable,
  value,
  type: variable.type,
  span,
});

export const statement = (expr: TypedExpr): TypedStmt => ({ kind: "expression", expr, span });
export const store = (pointer: Valued, value: Valued, mask?: Valued): TypedStmt =>
  statement(storeExpr(pointer, value, mask));
export const set = (variable: Variable, value: Valued): TypedStmt =>
  statement(assign(variable, value));
export const declare = (variable: Variable, value?: Valued): TypedStmt =>
  value === undefined
    ? { kind: "declare", variable, span }
    : { kind: "declare", variable, value, span };
export const when = (
  condition: Valued,
  then: readonly TypedStmt[],
  otherwise: readonly TypedStmt[] = [],
): TypedStmt => ({
  kind: "if",
  condition,
  then,
  else: otherwise,
  span,
});
export const leave = (value?: Valued): TypedStmt =>
  value === undefined ? { kind: "return", span } : { kind: "return", value, span };

export function param(
  variable: Variable,
  attributes: Partial<TypedParam["attributes"]> = {},
): TypedParam {
  const none = { noalias: false, readonly: false, writeonly: false, retune: false };
  return { variable, attributes: { ...none, ...attributes } };
}

export const kernel = (params: readonly TypedParam[], body: readonly TypedStmt[]): TypedKernel => ({
  name: "k",
  doc: "",
  params,
  body,
  span,
});
