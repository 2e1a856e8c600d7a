/**
 * Stores of what dots have computed. A store's own layout (anchors.ts) deals rows out to warps one after the other, and
 * a dot gives each warp a rectangle of the result, so the exchange between them would make all warps wait for each
 * other. If the store gives each warp the rectangle that it has, the exchange stays within warps: each continues to
 * its stores as soon as it is done itself. The same holds for loads of what is combined with results.
 *
 * A warp's rectangle must be as wide as its accesses were: dots of floats were 1.5 % slower with 128 bytes of a row
 * at a time instead of 256, on an H200.
 */
import type { OpOf } from "../../ir/func.ts";
import { resultOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { freeMask, indexBits, type LinearLayout } from "../../linear/linear.ts";
import { times } from "../../support/times.ts";
import { planConversion, separateWarps } from "../conversion.ts";

/**
 * The layout of a store with the warps of its data; undefined where its accesses would get narrower.
 *
 *     store   register(n0 n1 n2 …) lane(n3 n4 n5 n6 n7) warp(m0 m1)      data   warp(m4 m5)
 *     result  register(n0 n1 n2 m0 …) lane(n3 n4 n5 n6 n7) warp(m4 m5)
 */
export function withWarpsOf(store: LinearLayout, data: LinearLayout): LinearLayout | undefined {
  const taken = new Set(data.warp);
  const isWhole = (bases: readonly number[]): boolean => freeMask(bases) === 0;
  const isUnit = (basis: number): boolean => (basis & (basis - 1)) === 0;
  if (!isWhole(store.lane) || !isWhole(data.warp) || !data.warp.every(isUnit)) return undefined;
  const [firstLane = 0] = store.lane;
  const vector = store.register.filter((basis) => basis < firstLane);
  // One access after the other along the contiguous axis, from its first element on.
  const [first = firstLane] = vector;
  const isRow = [...vector, firstLane].every((basis, bit) => basis === first << bit);
  if (!isRow || vector.some((basis) => taken.has(basis))) return undefined;
  const rest = times(indexBits(store.shape), (bit) => 1 << bit)
    .filter((basis) => !taken.has(basis) && !vector.includes(basis));
  const inOrder = [
    ...store.lane.filter((basis) => rest.includes(basis)),
    ...rest.filter((basis) => !store.lane.includes(basis)),
  ];
  const lane = inOrder.slice(0, store.lane.length);
  const rowBits = (bases: readonly number[]): number => {
    const end = bases.findIndex((basis, bit) => basis !== firstLane << bit);
    return end < 0 ? bases.length : end;
  };
  if (lane.length < store.lane.length || rowBits(lane) < rowBits(store.lane)) return undefined;
  return {
    shape: store.shape,
    register: [...vector, ...rest.filter((basis) => !lane.includes(basis))],
    lane,
    warp: data.warp,
    block: data.block,
  };
}

/**
 * The layout of a load whose data is combined with data of another layout: that one, or for wide accesses its own with
 * the same warps, where the exchange stays within them.
 */
export function besideData(
  load: OpOf<"load">,
  data: LinearLayout,
  anchor: LinearLayout | undefined,
): LinearLayout {
  const wide = load.attrs.wide === true && anchor ? withWarpsOf(anchor, data) : undefined;
  if (wide === undefined) return data;
  const bytes = bytesOf(resultOf(load).type.element);
  const plan = planConversion(wide, data, bytes);
  return plan.kind === "shared" && separateWarps(plan, wide, bytes) !== undefined ? wide : data;
}

/** Whether what a load gives goes through shared memory from one layout to another. */
export function crossesWarps(
  load: OpOf<"load">,
  from: LinearLayout | undefined,
  to: LinearLayout,
): boolean {
  return from !== undefined &&
    planConversion(from, to, bytesOf(resultOf(load).type.element)).kind === "shared";
}
