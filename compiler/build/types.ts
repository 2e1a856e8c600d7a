/** Types of the language as types of tile IR: qualifiers are dropped, signedness stays. */
import type { ElementType, PointerType } from "../check/types.ts";
import type { TypedExpr, ValueType } from "../check/typed.ts";
import type { Value } from "../ir/func.ts";
import type { Element, IrType } from "../ir/types.ts";
import type { Context } from "./context.ts";

export type BuiltinCall = Extract<TypedExpr, { kind: "builtin" }>;

/** Builds a call of a built-in function from the values of its arguments; undefined: it has no value. */
export type Emit = (cx: Context, call: BuiltinCall, args: readonly Value[]) => Value | undefined;

export function elementOf(type: ElementType): Element {
  return type.kind === "scalar" ? type.name : pointerElement(type);
}

function pointerElement({ pointee, space }: PointerType): Element {
  return { kind: "pointer", pointee: pointee.kind === "void" ? "void" : elementOf(pointee), space };
}

export function irType(type: ValueType): IrType {
  return type.kind === "tile"
    ? { element: elementOf(type.element), shape: type.shape }
    : { element: elementOf(type), shape: [] };
}

/** Whether accesses through a value of this pointer type must be made as written. */
export function isVolatile(type: TypedExpr["type"]): boolean {
  const element = type.kind === "tile" ? type.element : type;
  return element.kind === "pointer" && element.volatile;
}
