/** What layout assignment has made of a value: its layout, and what of it a thread and shared memory hold. */
import type { Value } from "../ir/func.ts";
import { bytesOf, type Element, type IrType } from "../ir/types.ts";
import { type LinearLayout, product } from "../linear/linear.ts";
import { must } from "../support/bug.ts";

export function layoutOf(value: Value): LinearLayout {
  return must(value.type.layout, "layout of a tile");
}

/** How many elements of a value each thread holds. */
export function registerCount(value: Value): number {
  return value.type.layout === undefined ? 1 : 1 << value.type.layout.register.length;
}

/** Bytes of a tile in shared memory. */
export function tileBytes(type: IrType): number {
  return product(type.shape) * bytesOf(type.element);
}

/** Bytes of an element as a word: shuffles and exchanges move 32 or 64 bits. */
export function wordBytes(element: Element): 4 | 8 {
  return bytesOf(element) === 8 ? 8 : 4;
}
