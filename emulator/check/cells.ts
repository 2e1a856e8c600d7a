/**
 * Race detection on a shadow of memory. A granule of memory, as small as the smallest access of the kernel, has a cell
 * of six words: who wrote it last, and when; who read it last, and when; who of another warp read it before that, and
 * when. "When" is a tick of the order; cells of an earlier launch or block have old ticks and need not be cleared.
 */
import { isOrdered, mayBeKnown, type Order, WHO } from "./order.ts";

/** Words of a cell. */
export const CELL_WORDS = 6;

/** Two accesses that race; the second one is happening. */
export interface Conflict {
  /** Number of the cell. */
  readonly cell: number;
  readonly who: number;
  readonly tick: number;
  /** Whether the earlier one wrote. */
  readonly wrote: boolean;
  /** What else than a race it is: a copy that may still read, a load that must not see what was written. */
  readonly breach?: "copying" | "read-only";
}

/** Whether an earlier access races with one that happens now. */
function races(
  order: Order,
  earlier: number,
  tick: number,
  who: number,
  floor: number,
): boolean {
  if (tick < floor) return false;
  if ((earlier & who & WHO.strong) !== 0) return missesBarrier(order, earlier, tick, who);
  if (((earlier ^ who) & WHO.identity) === 0 && (earlier & WHO.several) === 0) return false;
  return !isOrdered(order, earlier, tick, who & WHO.lane);
}

/**
 * Whether two strong accesses are a mistake all the same: volatile ones of lanes of one warp, which programs for sm_6x
 * and before left unordered because its lanes ran in step (CUDA C++ Programming Guide, "Independent Thread
 * Scheduling"). What the warp may have waited with since then counts as order.
 */
function missesBarrier(order: Order, earlier: number, tick: number, who: number): boolean {
  if ((earlier & who & WHO.volatile) === 0 || ((earlier ^ who) & WHO.warp) !== 0) return false;
  if (((earlier ^ who) & WHO.lane) === 0 && (earlier & WHO.several) === 0) return false;
  return tick > order.warp.polled && !isOrdered(order, earlier, tick, who & WHO.lane);
}

/** Whether an earlier read is that of a copy which may still be under way. */
function isCopying(order: Order, earlier: number, tick: number, who: number): boolean {
  if (((earlier ^ who) >>> WHO.blockShift & WHO.block) !== 0) return false;
  const { isCopying } = order.block.warps[(earlier & WHO.thread) >> 5] ?? {};
  return isCopying?.(earlier & WHO.lane, tick, who & WHO.lane) === true;
}

/**
 * The store of an update whose load did not see what another thread stored in the meantime, or may not have: the
 * stores are strong, so they do not race, but one of the two updates is lost.
 */
export function lostUpdate(
  order: Order,
  cells: Uint32Array,
  cell: number,
  who: number,
  floor: number,
): Conflict | undefined {
  const at = cell * CELL_WORDS;
  const [writer = 0, tick = 0] = [cells[at], cells[at + 1]];
  if (tick < floor || tick === order.now || (writer & WHO.volatile) === 0) return undefined;
  if (((writer ^ who) & WHO.identity) === 0 || tick < order.block.polled) return undefined;
  if (isOrdered(order, writer, tick, who & WHO.lane)) return undefined;
  return { cell, who: writer, tick, wrote: true };
}

/**
 * Notes that a thread reads cells, and says what it races with. Ticks below the floor are ordered with everything
 * that happens now.
 */
export function noteRead(
  order: Order,
  cells: Uint32Array,
  first: number,
  count: number,
  who: number,
  floor: number,
): Conflict | undefined {
  const { now } = order;
  const warpFloor = Math.max(order.warp.barrier, order.block.barrier);
  const end = (first + count) * CELL_WORDS;
  for (let at = first * CELL_WORDS; at < end; at += CELL_WORDS) {
    const written = cells[at + 1] ?? 0;
    if (written >= floor && races(order, cells[at] ?? 0, written, who, floor)) {
      return { cell: at / CELL_WORDS, who: cells[at] ?? 0, tick: written, wrote: true };
    }
    const read = cells[at + 3] ?? 0;
    if (read < floor) cells[at + 2] = who;
    else {
      const reader = cells[at + 2] ?? 0;
      const differs = (reader ^ who) & WHO.identity;
      if ((differs & WHO.warp) === 0) {
        const both = read >= warpFloor && (differs !== 0 || (reader & WHO.several) !== 0);
        cells[at + 2] = both ? who | WHO.several : who;
      } else {
        cells[at + 4] = reader;
        cells[at + 5] = read;
        cells[at + 2] = who;
      }
    }
    cells[at + 3] = now;
  }
  return undefined;
}

/** The first of some cells that has been written since a tick: loads that do not see stores must not read it. */
export function findWritten(
  cells: Uint32Array,
  first: number,
  count: number,
  floor: number,
): Conflict | undefined {
  for (let cell = first; cell < first + count; cell++) {
    const [who = 0, tick = 0] = [cells[cell * CELL_WORDS], cells[cell * CELL_WORDS + 1]];
    if (tick >= floor) return { cell, who, tick, wrote: true, breach: "read-only" };
  }
  return undefined;
}

/** What a write of a cell, which is about to happen, races with; or the copy that may still read it. */
function conflictOfWrite(
  order: Order,
  cells: Uint32Array,
  at: number,
  who: number,
  floor: number,
  twice: { lanes: number },
): Conflict | undefined {
  const written = cells[at + 1] ?? 0;
  if (written >= floor) {
    const writer = cells[at] ?? 0;
    if (written === order.now) twice.lanes |= 1 << (writer & WHO.lane);
    else if (races(order, writer, written, who, floor)) {
      return { cell: at / CELL_WORDS, who: writer, tick: written, wrote: true };
    }
  }
  for (let i = at + 2; i < at + CELL_WORDS; i += 2) {
    const read = cells[i + 1] ?? 0;
    if (read < floor) continue;
    const reader = cells[i] ?? 0;
    if (races(order, reader, read, who, floor)) {
      return { cell: at / CELL_WORDS, who: reader, tick: read, wrote: false };
    }
    if ((reader & WHO.copy) !== 0 && isCopying(order, reader, read, who)) {
      return { cell: at / CELL_WORDS, who: reader, tick: read, wrote: false, breach: "copying" };
    }
  }
  return undefined;
}

/**
 * Notes that a thread writes cells, and says what it races with. Lanes of the same instruction that wrote them
 * already are no conflict here: their bits are set in `twice`, and the caller compares the values.
 */
export function noteWrite(
  order: Order,
  cells: Uint32Array,
  first: number,
  count: number,
  who: number,
  floor: number,
  twice: { lanes: number },
): Conflict | undefined {
  const { now } = order;
  const end = (first + count) * CELL_WORDS;
  for (let at = first * CELL_WORDS; at < end; at += CELL_WORDS) {
    const conflict = conflictOfWrite(order, cells, at, who, floor, twice);
    if (conflict !== undefined) return conflict;
    cells[at] = who;
    cells[at + 1] = now;
    // Who races with those readers also races with this write, or would have been ordered by it.
    cells[at + 3] = 0;
    cells[at + 5] = 0;
  }
  return undefined;
}

/**
 * The same for a strong write. Strong accesses of others do not race with it, but with the plain ones before: what is
 * known of those is kept as long as no other thread can know of them.
 */
export function noteStrongWrite(
  order: Order,
  cells: Uint32Array,
  first: number,
  count: number,
  who: number,
  floor: number,
  twice: { lanes: number },
): Conflict | undefined {
  const end = (first + count) * CELL_WORDS;
  for (let at = first * CELL_WORDS; at < end; at += CELL_WORDS) {
    const conflict = conflictOfWrite(order, cells, at, who, floor, twice);
    if (conflict !== undefined) return conflict;
    const [writer = 0, written = 0] = [cells[at], cells[at + 1]];
    const isOwn = ((writer ^ who) & WHO.identity) === 0;
    const plain = (writer & WHO.strong) === 0 && written >= floor;
    if (!(plain && isOwn && !mayBeKnown(order, written))) {
      cells[at] = who;
      cells[at + 1] = order.now;
    }
    if (((cells[at + 2] ?? 0) & WHO.strong) !== 0) cells[at + 3] = 0;
    if (((cells[at + 4] ?? 0) & WHO.strong) !== 0) cells[at + 5] = 0;
  }
  return undefined;
}
