/**
 * Tiles of which each thread copies its own elements into shared memory and reads them again: no thread waits for what
 * another one copies.
 */
import { type Func, newOp, type OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, isPointer, pointeeBytes } from "../ir/types.ts";
import { accessGroups } from "../layout/access_groups.ts";
import { layoutOf } from "../layout/tiles.ts";
import type { LinearLayout } from "../linear/linear.ts";
import { copyBits } from "../linear/threads.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { aligned } from "./allocate_shared.ts";

/** What one access of a load covers: bytes, and bits of the register's number. */
export interface OwnAccess {
  readonly bytes: number;
  readonly vectorBits: number;
}

/** The accesses of a load that threads could copy for themselves; the first registers are those of an access. */
export function ownAccess(load: OpOf<"load">, axisInfo: AxisFacts): OwnAccess | undefined {
  if (!isPlain(load)) return undefined;
  const [group] = accessGroups(load, axisInfo);
  if (group === undefined || !group.every((register, i) => register === i)) return undefined;
  const bytes = group.length * pointeeBytes(operandsOf(load).pointer);
  return { bytes, vectorBits: Math.log2(group.length) };
}

/** Each thread loads elements of its own from memory. */
function isPlain(load: OpOf<"load">): boolean {
  const { pointer: { type: { layout, element } } } = operandsOf(load);
  const { modifiers, beside } = load.attrs;
  if (layout === undefined || !isPointer(element) || element.space !== "global") return false;
  return modifiers.length === 0 && beside !== true &&
    layout.register.every((basis) => basis !== 0) && copyBits(layout) === 0;
}

/** Where a block's elements lie: those of an access side by side, then those of the lanes that access at once. */
function columnsOf({ register, lane, warp }: LinearLayout, vectorBits: number): number[] {
  return [...register.slice(0, vectorBits), ...lane, ...warp, ...register.slice(vectorBits)];
}

/** Bytes that a buffer for a block's part of a tile takes. */
export function bytesInBlock(load: OpOf<"load">): number {
  const { type } = resultOf(load);
  return aligned(bytesOf(type.element) * 2 ** columnsOf(layoutOf(resultOf(load)), 0).length);
}

/** A buffer for what a load reads, at an offset. */
export function ownBuffer(
  func: Func,
  load: OpOf<"load">,
  { vectorBits }: Pick<OwnAccess, "vectorBits">,
  slots: number,
  offset: number,
): OpOf<"shared_buffer"> {
  const { element, shape } = resultOf(load).type;
  const columns = columnsOf(layoutOf(operandsOf(load).pointer), vectorBits);
  const type = { element, shape, shared: { shape, columns, vectorBits } };
  const attrs = { slots, slot_bytes: bytesInBlock(load), offset, exclusive: true };
  return newOp(func, "shared_buffer", [], [type], load.span, attrs);
}
