/**
 * Race detection on a shadow of memory. A granule of memory, as small as the smallest access of the kernel, has a cell
 * of six words: who wrote it last, and when; who read it last, and when; who of another warp read it before that, and
 * when. "When" is a tick of the order; cells of an earlier launch or block have old ticks and need not be cleared.
 */
import { isOrdered, type Order, WHO } from "./order.ts";

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
}

/** Whether an earlier access races with one that happens now. */
function races(
  order: Order,
  earlier: number,
  tick: number,
  who: number,
  floor: number,
): boolean {
  if (tick < floor || (earlier & who & WHO.strong) !== 0) return false;
  if (((earlier ^ who) & WHO.identity) === 0 && (earlier & WHO.several) === 0) return false;
  return !isOrdered(order, earlier, tick);
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
    const written = cells[at + 1] ?? 0;
    if (written >= floor) {
      const writer = cells[at] ?? 0;
      if (written === now) twice.lanes |= 1 << (writer & WHO.lane);
      else if (races(order, writer, written, who, floor)) {
        return { cell: at / CELL_WORDS, who: writer, tick: written, wrote: true };
      }
    }
    for (let i = at + 2; i < at + CELL_WORDS; i += 2) {
      const read = cells[i + 1] ?? 0;
      if (read >= floor && races(order, cells[i] ?? 0, read, who, floor)) {
        return { cell: at / CELL_WORDS, who: cells[i] ?? 0, tick: read, wrote: false };
      }
    }
    cells[at] = who;
    cells[at + 1] = now;
    // Who races with those readers also races with this write, or would have been ordered by it.
    cells[at + 3] = 0;
    cells[at + 5] = 0;
  }
  return undefined;
}
