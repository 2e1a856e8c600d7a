/** Questions about the types of values, and the types that follow from others. */
import type { ElementType, ScalarName, ScalarType, TileType } from "./types.ts";
import type { ValueType } from "./typed.ts";

/** A tile's extents; a scalar's shape is undefined, as it has no axes. */
export type ShapeOf = readonly number[] | undefined;

export function scalarType(name: ScalarName): ScalarType {
  return { kind: "scalar", name };
}

/** The type of one element. */
export function elementOf(type: ValueType): ElementType {
  return type.kind === "tile" ? type.element : type;
}

export function shapeOf(type: ValueType): ShapeOf {
  return type.kind === "tile" ? type.shape : undefined;
}

/** The scalar or tile type of an element and a shape. */
export function typeOf(element: ElementType, shape: ShapeOf): ValueType {
  return shape === undefined ? element : { kind: "tile", element, shape };
}

/** The same shape with another element. */
export function withElement(type: ValueType, element: ElementType): ValueType {
  return typeOf(element, shapeOf(type));
}

export function sameShape(a: ShapeOf, b: ShapeOf): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((extent, axis) => extent === b[axis]);
}

export function elementCount(shape: ShapeOf): number {
  return (shape ?? []).reduce((count, extent) => count * extent, 1);
}

export function sameElement(a: ElementType, b: ElementType): boolean {
  if (a.kind === "scalar" || b.kind === "scalar") {
    return a.kind === "scalar" && b.kind === "scalar" && a.name === b.name;
  }
  return a.const === b.const && a.volatile === b.volatile && samePointee(a, b);
}

/** Whether two pointers point to the same type of object, whatever its qualifiers. */
export function samePointee(
  a: Extract<ElementType, { kind: "pointer" }>,
  b: Extract<ElementType, { kind: "pointer" }>,
): boolean {
  if (a.space !== b.space) return false;
  if (a.pointee.kind === "void" || b.pointee.kind === "void") {
    return a.pointee.kind === b.pointee.kind;
  }
  return sameElement(a.pointee, b.pointee);
}

export function sameType(a: ValueType, b: ValueType): boolean {
  return sameShape(shapeOf(a), shapeOf(b)) && sameElement(elementOf(a), elementOf(b));
}

/** A tile type; for callers whose value is a tile. */
export function tileType(element: ElementType, shape: readonly number[]): TileType {
  return { kind: "tile", element, shape };
}
