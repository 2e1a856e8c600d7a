/**
 * What comes before what. A clock ticks at every access and every synchronisation that one thread of the host runs;
 * the shadow of memory keeps the tick of each access. Two accesses are ordered if between them lies
 *
 * - a barrier of the block, if both threads are in it;
 * - a barrier of the warp (`bar.warp.sync`), if it names both;
 * - a release by the warp of the first and after that an acquire by the warp of the second, for threads of one block;
 * - a release beyond the block by the block of the first and after that such an acquire by the block of the second.
 *
 * A fence is an acquire, and with the next strong write of its block a release. Which value the acquire read is not
 * asked, nor by which thread, and a barrier of some threads counts as one of their whole block: the rule takes too much
 * for ordered, never too little, so that no race is reported that is none.
 * (PTX ISA 9.0, chapter 8 "Memory Consistency Model": causality order needs a release pattern, an acquire pattern or a
 * barrier between the threads.)
 */
import { LANES } from "../register_file.ts";
import type { BlockState, Machine, WarpState } from "../machine.ts";

/** How far a release or an acquire reaches. */
export type Scope = "block" | "beyond";

/**
 * Who accessed a cell of a shadow: thread in its block (10 bits), block (18 bits, so that blocks 2^18 apart share a
 * number), and four marks.
 */
export const WHO = {
  lane: 31,
  thread: 0x3ff,
  blockShift: 10,
  block: 0x3ffff,
  /** All that says who it was, and all but the lane. */
  identity: 0x0fffffff,
  warp: 0x0fffffe0,
  /** An asynchronous copy reads: the thread continues meanwhile. */
  copy: 0x10000000,
  /** A strong access that is no means to wait for others: volatile, and no load that a loop polls. */
  volatile: 0x20000000,
  /** Not a plain access: no race with others of its kind. */
  strong: 0x40000000,
  /** Several lanes of the warp did, not just the named one. */
  several: 0x80000000,
} as const;

/**
 * Releases, oldest first: what came before tick `of[i]` can be known to others after tick `at[i]`. Those of what is
 * older than `since` have been forgotten.
 */
interface Releases {
  since: number;
  readonly of: number[];
  readonly at: number[];
}

/** Releases that are remembered of one warp or block. */
const REMEMBERED = 4096;

interface WarpTrack {
  phase: number;
  /** Tick of the last barrier of the warp. */
  barrier: number;
  /** Tick of the last acquire. */
  acquired: number;
  /** Tick of a fence that no strong write of the block has followed yet, or 0. */
  fenced: number;
  /**
   * Tick of the last access that may have waited for others: atomic, relaxed or stronger, a volatile load that polls.
   */
  polled: number;
  /**
   * For barriers of a part of the warp: by lane and other lane, the tick before which the one has seen what the other
   * did. Absent as long as there was none.
   */
  met: Float64Array | undefined;
  /** Whether a copy that a lane issued at a tick may still be under way for what a lane of the attended warp does. */
  isCopying: ((lane: number, tick: number, now: number) => boolean) | undefined;
  readonly releases: Releases;
}

/** A block that has accessed memory. */
export interface BlockTrack {
  readonly id: number;
  /** Tick of its first access. */
  readonly start: number;
  phase: number;
  barrier: number;
  acquired: number;
  /** The same for fences that reach beyond the block, and the warps with fences of any kind. */
  fenced: number;
  polled: number;
  readonly fencing: WarpTrack[];
  readonly releases: Releases;
  readonly warps: WarpTrack[];
}

/** The order of events in one thread of the host. */
export interface Order {
  /** The last tick. */
  now: number;
  /** Tick at which the launch began: what is older is ordered with everything. */
  start: number;
  /** Tick of the last acquire of any warp. */
  acquired: number;
  blocks: WeakMap<BlockState, BlockTrack>;
  /** Releases beyond the block, by block, also of blocks that have ended. */
  readonly releases: Map<number, Releases>;
  /** The block and warp that access memory now. */
  block: BlockTrack;
  /** Of all blocks of its cluster, in order. */
  cluster: readonly BlockTrack[];
  warp: WarpTrack;
  seenBlock: BlockState | undefined;
  seenWarp: WarpState | undefined;
}

const newReleases = (): Releases => ({ since: 0, of: [], at: [] });
const newWarp = (phase: number): WarpTrack => ({
  phase,
  barrier: 0,
  acquired: 0,
  fenced: 0,
  polled: 0,
  met: undefined,
  isCopying: undefined,
  releases: newReleases(),
});
const newBlock = (id: number, start: number, phase: number): BlockTrack => ({
  id,
  start,
  phase,
  barrier: start,
  acquired: 0,
  fenced: 0,
  polled: 0,
  fencing: [],
  releases: newReleases(),
  warps: [],
});

export function newOrder(): Order {
  return {
    now: 1,
    start: 1,
    acquired: 0,
    blocks: new WeakMap(),
    releases: new Map(),
    block: newBlock(0, 1, 0),
    cluster: [],
    warp: newWarp(0),
    seenBlock: undefined,
    seenWarp: undefined,
  };
}

/** Begins a launch: nothing of before races with it. */
export function startOrder(order: Order): void {
  order.start = ++order.now;
  order.acquired = 0;
  order.blocks = new WeakMap();
  order.releases.clear();
  order.seenBlock = undefined;
  order.seenWarp = undefined;
}

function trackOf(order: Order, block: BlockState): BlockTrack {
  let track = order.blocks.get(block);
  if (track === undefined) {
    track = newBlock(block.linear & WHO.block, ++order.now, block.phase);
    order.releases.delete(track.id);
    order.blocks.set(block, track);
  }
  return track;
}

/** Notices a barrier of the block; that of a cluster is a barrier of all its blocks, so it also orders them. */
function noticeBarrier(order: Order, block: BlockState): void {
  for (const each of block.cluster) {
    const track = trackOf(order, each);
    if (track.phase === each.phase) continue;
    track.phase = each.phase;
    track.barrier = ++order.now;
    if (block.cluster.length > 1) releaseBlock(order, track, order.now);
  }
  if (block.cluster.length === 1) return;
  order.acquired = ++order.now;
  for (const each of block.cluster) trackOf(order, each).acquired = order.now;
}

/** Makes the warp that runs, and its block, those that the next accesses are attributed to; ticks. */
export function attend(order: Order, machine: Machine): void {
  const { block, warp } = machine;
  if (order.seenBlock !== block) {
    order.block = trackOf(order, block);
    order.cluster = block.cluster.map((each) => trackOf(order, each));
    order.seenBlock = block;
    order.seenWarp = undefined;
  }
  // A block may make its first access after a barrier of the cluster, before which others made theirs.
  const isNew = block.cluster.length === 1
    ? order.block.phase !== block.phase
    : block.cluster.some((each, index) => order.cluster[index]?.phase !== each.phase);
  if (isNew) noticeBarrier(order, block);
  if (order.seenWarp !== warp) {
    order.warp = order.block.warps[warp.index] ??= newWarp(warp.phase);
    order.seenWarp = warp;
  }
  if (order.warp.phase !== warp.phase) {
    order.warp.phase = warp.phase;
    order.warp.barrier = ++order.now;
  }
  order.now++;
}

/** The attended warp makes an access that may have waited for what others did. */
export function notePoll({ now, warp, block }: Order): void {
  warp.polled = block.polled = now;
}

/** Lanes of the warp that runs meet at a barrier that names no others: each has seen what the others have seen. */
export function meet(order: Order, machine: Machine, lanes: number): void {
  attend(order, machine);
  const { warp, now } = order;
  const met = warp.met ??= new Float64Array(LANES * LANES);
  const together = new Float64Array(LANES);
  const each = (run: (lane: number) => void): void => {
    for (let m = lanes; m !== 0; m &= m - 1) run(31 - Math.clz32(m & -m));
  };
  each((lane) => {
    for (let i = 0; i < LANES; i++) {
      together[i] = Math.max(together[i] ?? 0, met[LANES * lane + i] ?? 0);
    }
  });
  each((lane) => together[lane] = now);
  each((lane) => met.set(together, LANES * lane));
}

/** Who a lane of the attended warp is. */
export function whoIs(order: Order, machine: Machine): number {
  return (order.block.id << WHO.blockShift) | (machine.warp.index << 5);
}

/** Adds a release of what came before a tick; others can know of it from now on. */
function addRelease(order: Order, releases: Releases, tick: number): void {
  const { of, at } = releases;
  let last = of.length - 1;
  if (tick <= (of[last] ?? 0)) return;
  // Without an acquire in between, the later release serves as well as the earlier one.
  if (!((at[last] ?? 0) > order.acquired)) last++;
  of[last] = tick;
  at[last] = order.now;
  if (last < REMEMBERED) return;
  releases.since = of[REMEMBERED / 2] ?? 0;
  of.splice(0, REMEMBERED / 2);
  at.splice(0, REMEMBERED / 2);
}

function releaseBlock(order: Order, track: BlockTrack, tick: number): void {
  order.releases.set(track.id, track.releases);
  addRelease(order, track.releases, tick);
}

/** The warp that runs releases what it and those before it did. */
export function release(order: Order, machine: Machine, scope: Scope): void {
  attend(order, machine);
  strongWrite(order);
  addRelease(order, order.warp.releases, order.now);
  if (scope === "beyond") releaseBlock(order, order.block, order.now);
}

/** The warp that runs acquires what others released. */
export function acquire(order: Order, machine: Machine, scope: Scope): void {
  attend(order, machine);
  order.acquired = order.warp.acquired = order.now;
  if (scope === "beyond") order.block.acquired = order.now;
}

/** The warp that runs has a fence: strong writes that follow release what came before it. */
export function fenceReleases(order: Order, machine: Machine, scope: Scope): void {
  attend(order, machine);
  const { block, warp } = order;
  if (warp.fenced === 0) block.fencing.push(warp);
  warp.fenced = order.now;
  if (scope === "beyond") block.fenced = order.now;
}

/** The attended warp writes strongly, which makes releases of the fences before. */
export function strongWrite(order: Order): void {
  const { block } = order;
  const { fencing } = block;
  if (fencing.length === 0) return;
  for (const warp of fencing) {
    addRelease(order, warp.releases, warp.fenced);
    warp.fenced = 0;
  }
  fencing.length = 0;
  if (block.fenced !== 0) releaseBlock(order, block, block.fenced);
  block.fenced = 0;
}

/** Whether what was done at a tick was released, and could be known at another. */
function isReleased(releases: Releases | undefined, tick: number, known: number): boolean {
  if (releases === undefined) return false;
  const { since, of, at } = releases;
  if (tick < since) return true;
  let [low, high] = [0, of.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((of[middle] ?? 0) <= tick) low = middle + 1;
    else high = middle;
  }
  return (at[low] ?? Infinity) < known;
}

/** Whether what the attended warp did at a tick has been released, or a barrier has come since. */
export function mayBeKnown({ block, warp }: Order, tick: number): boolean {
  if (tick < block.barrier || tick < warp.barrier || tick < warp.fenced) return true;
  return warp.met !== undefined || (warp.releases.of.at(-1) ?? 0) > tick ||
    (block.releases.of.at(-1) ?? 0) > tick;
}

/** Whether what someone did at a tick comes before what a lane of the attended warp does now. */
export function isOrdered(order: Order, who: number, tick: number, lane: number): boolean {
  const { block, warp } = order;
  if (((who >>> WHO.blockShift) & WHO.block) !== block.id || tick < block.start) {
    const id = (who >>> WHO.blockShift) & WHO.block;
    return isReleased(order.releases.get(id), tick, block.acquired);
  }
  if (tick < block.barrier) return true;
  const other = block.warps[(who & WHO.thread) >> 5];
  if (other === warp) {
    if (tick < warp.barrier) return true;
    if (warp.met !== undefined && tick < (warp.met[LANES * lane + (who & WHO.lane)] ?? 0)) {
      return true;
    }
  }
  return isReleased(other?.releases, tick, warp.acquired);
}
