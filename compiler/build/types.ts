/** Types of the language as types of tile IR: qualifiers are dropped, signedness stays. */
import type { ElementType, PointerType } from "../check/tree/types.ts";
import type { TypedExpr, ValueType } from "../check/tree/typed.ts";
import type { Element, IrType } from "../ir/types.ts";

export type BuiltinCall = Extract<TypedExpr, { kind: "builtin" }>;

function elementOf(type: ElementType): Element {
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
