/**
 * Types of tile IR values: an element and a shape; after layout assignment also a layout. Scheduling adds buffers in
 * shared memory, whose type says where the elements of the tile in a slot lie.
 */
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { LinearLayout } from "../linear/linear.ts";
import type { SharedLayout } from "../linear/shared_layout.ts";

export interface PointerElement {
  readonly kind: "pointer";
  readonly pointee: Element | "void";
  readonly space: "global" | "constant";
}
/** Signedness is part of the type: `div`, `shr`, `lt`, `convert` follow it. */
export type Element = ScalarName | PointerElement;

export interface IrType {
  readonly element: Element;
  /** Empty for a scalar. Extents are powers of two. */
  readonly shape: readonly number[];
  /** Where each element lives; set by layout assignment, on tiles only. */
  readonly layout?: LinearLayout;
  /** Of a buffer in shared memory: where the elements of the tile in each of its slots lie. */
  readonly shared?: SharedLayout;
}

export function isPointer(element: Element): element is PointerElement {
  return typeof element !== "string";
}

/** Bytes of an element in memory: 8 for pointers, 1 for bool. */
export function bytesOf(element: Element | "void"): number {
  if (element === "void") return 1;
  return isPointer(element) ? 8 : Math.max(8, SCALARS[element].bits) / 8;
}

/** Bytes of what a pointer, or a tile of pointers, points to. */
export function pointeeBytes({ type: { element } }: { readonly type: IrType }): number {
  return isPointer(element) ? bytesOf(element.pointee) : 1;
}

export function isFloat(element: Element): boolean {
  return !isPointer(element) && SCALARS[element].class === "float";
}

export function sameElement(a: Element | "void", b: Element | "void"): boolean {
  if (a === b) return true;
  if (typeof a === "string" || typeof b === "string") return false;
  return a.space === b.space && sameElement(a.pointee, b.pointee);
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((extent, axis) => extent === b[axis]);
}

export const scalarType = (element: Element): IrType => ({ element, shape: [] });
