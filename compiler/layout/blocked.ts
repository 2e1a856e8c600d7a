/**
 * Blocked layouts: the coalesced ones that global loads and stores want.
 *
 * Index bits are dealt out in the order of contiguity in memory: first the registers of one vector access, then
 * an optional register block along a second axis, then lanes along the contiguous axis so that a warp covers
 * whole rows, then warps over the other axes, and what is left to registers again. The blocks of a program have the
 * highest bits of the index: whole rows where there are enough, else the parts of a row.
 */
import { axisShifts, type LinearLayout, log2 } from "../linear/linear.ts";
import { times } from "../support/times.ts";

export interface BlockedSpec {
  readonly shape: readonly number[];
  readonly numWarps: number;
  /** Blocks of a program; one if absent. */
  readonly numCtas?: number;
  /** All axes, the contiguous one first. */
  readonly order: readonly number[];
  /** Elements of one vector access along `order[0]`; a power of two. */
  readonly vector: number;
  /** The most lanes along `order[0]`, a power of two, if there is more along the other axes. */
  readonly lanes?: number;
  /**
   * A second axis along which each thread also holds a run of elements. A transposition gives both its sides the
   * same block, so that both can use vectors in shared and in global memory; the block is transposed inside the thread.
   */
  readonly block?: { readonly axis: number; readonly size: number };
}

export function blockedLayout(spec: BlockedSpec): LinearLayout {
  const shifts = axisShifts(spec.shape);
  const bits = spec.shape.map((extent, axis) =>
    times(log2(extent), (bit) => 1 << ((shifts[axis] ?? 0) + bit))
  );
  const total = bits.reduce((sum, list) => sum + list.length, 0);
  const warpBits = log2(spec.numWarps);
  const blockBits = log2(spec.numCtas ?? 1);
  let registerBits = Math.max(0, total - 5 - warpBits - blockBits);

  const register: number[] = [];
  const lane: number[] = [];
  const warp: number[] = [];
  const deal = (to: number[], axis: number, count: number): void => {
    to.push(...(bits[axis] ?? []).splice(0, Math.max(0, count)));
  };
  const first = spec.order[0] ?? 0;
  const others = spec.order.slice(1);
  // Every thread gets work before any thread gets a second element.
  deal(register, first, Math.min(log2(spec.vector), registerBits));
  registerBits -= register.length;
  if (spec.block !== undefined) {
    deal(register, spec.block.axis, Math.min(log2(spec.block.size), registerBits));
  }
  const block = highest(bits, blockBits);
  deal(lane, first, log2(Math.min(32, spec.lanes ?? 32)));
  for (const axis of [...others, first]) deal(lane, axis, 5 - lane.length);
  for (const axis of [...others, first]) deal(warp, axis, warpBits - warp.length);
  for (const axis of spec.order) deal(register, axis, total);
  while (lane.length < 5) lane.push(0);
  while (warp.length < warpBits) warp.push(0);
  while (block.length < blockBits) block.push(0);
  return { shape: spec.shape, register, lane, warp, block };
}

/** Takes the highest bits of the index, those of the first axes; fewer if there are not so many. */
function highest(bits: readonly number[][], count: number): number[] {
  const taken: number[] = [];
  for (const list of bits) {
    const most = Math.min(list.length, count - taken.length);
    taken.unshift(...list.splice(list.length - most));
  }
  return taken;
}

/** The layout in which each block has all that the blocks had together. */
export function withoutBlocks(layout: LinearLayout): LinearLayout {
  const moved = layout.block.filter((basis) => basis !== 0);
  if (moved.length === 0) return layout;
  return {
    ...layout,
    register: [...layout.register, ...moved],
    block: layout.block.map(() => 0),
  };
}

/** The axes with `first` in front and the others from minor to major. */
export function orderFrom(first: number, rank: number): number[] {
  const others = times(rank, (i) => rank - 1 - i).filter((axis) => axis !== first);
  return [first, ...others];
}
