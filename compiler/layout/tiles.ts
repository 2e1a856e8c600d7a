/** What layout assignment has made of a value: its layout, and what of it a thread and shared memory hold. */
import type { Value } from "../ir/func.ts";
import { bytesOf, type Element, type IrType } from "../ir/types.ts";
import { type LinearLayout, product } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import { query, type Target } from "../targets.ts";

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

/** Threads of a warp, and registers of a thread beside its sums, roughly. */
const WARP_THREADS = 32;
const SPARE_REGISTERS = 48;

/** Whether the registers of a multiprocessor do not suffice for two blocks whose threads have so many for sums. */
export function fillsMultiprocessor(sums: number, numWarps: number, target: Target): boolean {
  const registers = 2 * WARP_THREADS * numWarps * (sums + SPARE_REGISTERS);
  return query(target, ({ registersPerSm }) => registers > registersPerSm);
}
