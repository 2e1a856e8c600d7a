/**
 * Shared memory that asynchronous copies still work on. The emulator copies when the instruction is issued, but a
 * kernel must not rely on that: until a thread knows that a copy is over, it must not touch what the copy writes,
 * nor write what it reads. Kept only while accesses are checked; every access to shared memory asks
 * {@linkcode pendingProblem}.
 *
 * A thread knows of the end of a copy when it has waited for it itself, or when the wait of another thread comes
 * before its own access. Which waits count is up to the instructions: `cp.async.wait_group` tells of the thread's own
 * groups, a successful wait on an mbarrier of all copies that the phase counted.
 */
import { attend, isOrdered, type Order, whoIs } from "../check/order.ts";
import type { Site } from "../fault.ts";
import type { BlockState, Machine, WarpState } from "../machine.ts";

/** Lanes that waited, and when. */
interface Observation {
  readonly warp: WarpState;
  readonly lanes: number;
  /** The warp, as shadows call it. */
  readonly who: number;
  readonly tick: number;
}

/** What is done to bytes; combining is atomic. */
export type Effect = "reads" | "writes" | "combines";

/** A copy, or several that are waited for together. */
export interface PendingCopy {
  readonly effect: Effect;
  /** The instruction that issued it. */
  readonly site: Site;
  readonly order: Order;
  readonly seen: Observation[];
  /** It was issued after the first tick and not after the last one. */
  readonly first: number;
  last: number;
}

export function pendingCopy(
  effect: Effect,
  site: Site,
  order: Order,
  first = order.now,
): PendingCopy {
  return { effect, site, order, seen: [], first, last: order.now };
}

/** A place is four bytes: no copy is smaller. */
const GRAIN_SHIFT = 2;

/** The copies of a block, and where in its shared memory they are. */
interface PendingTable {
  /** For each place the copy that was issued last, by number; 0 is none. */
  readonly places: Uint32Array;
  /** By number. */
  readonly copies: (PendingCopy | undefined)[];
  readonly numbers: Map<PendingCopy, number>;
}

const tables = new WeakMap<BlockState, PendingTable>();

function tableOf(block: BlockState): PendingTable {
  let table = tables.get(block);
  if (table === undefined) {
    const places = new Uint32Array((block.sharedBytes >> GRAIN_SHIFT) + 1);
    table = { places, copies: [undefined], numbers: new Map() };
    tables.set(block, table);
  }
  return table;
}

/** Whether asynchronous copies touched the shared memory of a block at all: what to ask before each access. */
export function hasPending(block: BlockState): boolean {
  return tables.has(block);
}

/** Notes that a copy works on bytes of the shared memory of a block. */
export function markPending(
  block: BlockState,
  place: number,
  bytes: number,
  copy: PendingCopy,
): void {
  const table = tableOf(block);
  let number = table.numbers.get(copy);
  if (number === undefined) {
    number = table.copies.push(copy) - 1;
    table.numbers.set(copy, number);
  }
  const first = (place - block.shared) >> GRAIN_SHIFT;
  const last = (place - block.shared + bytes - 1) >> GRAIN_SHIFT;
  table.places.fill(number, first, last + 1);
}

/** Notes that lanes of the warp that runs know that a copy is over. */
export function resolvePending(copy: PendingCopy, machine: Machine, lanes: number): void {
  const { order, seen } = copy;
  const { warp } = machine;
  if (seen.some((known) => known.warp === warp && (lanes & ~known.lanes) === 0)) return;
  attend(order, machine);
  seen.push({ warp, lanes, who: whoIs(order, machine), tick: order.now });
}

/** Whether a barrier of the whole block came after a wait of one of its threads. */
function isSettled({ order, seen }: PendingCopy, block: BlockState): boolean {
  const barrier = order.blocks.get(block)?.barrier ?? 0;
  return seen.some(({ warp, tick }) => warp.block === block && tick < barrier);
}

/** Whether a lane of the warp that {@linkcode attend} was told of knows that a copy is over. */
export function isOver({ order, seen }: PendingCopy, warp: WarpState, lane: number): boolean {
  return seen.some((known) =>
    (known.warp === warp && ((known.lanes >>> lane) & 1) !== 0) ||
    isOrdered(order, known.who, known.tick, lane)
  );
}

function quote({ text, file, line }: Site): string {
  return line === undefined ? `\`${text}\`` : `\`${text}\` (${file ?? ""}:${line})`;
}

/**
 * What is wrong with an access of a lane to bytes of the shared memory of a block: the copy that it does not know
 * to be over, in words. Undefined if nothing is. The order of the checks must attend to the lane's warp.
 */
export function pendingProblem(
  block: BlockState,
  place: number,
  bytes: number,
  writing: boolean,
  warp: WarpState,
  lane: number,
  combining = false,
): string | undefined {
  const table = tables.get(block);
  if (table === undefined) return undefined;
  const { places, copies } = table;
  const first = (place - block.shared) >> GRAIN_SHIFT;
  const last = (place - block.shared + bytes - 1) >> GRAIN_SHIFT;
  let known = 0;
  for (let i = first; i <= last; i++) {
    const number = places[i] ?? 0;
    if (number === known) continue;
    const copy = copies[number];
    if (copy === undefined || (copy.effect === "reads" && !writing)) continue;
    if (combining && copy.effect === "combines") continue;
    if (!isOver(copy, warp, lane)) {
      return copy.effect !== "reads"
        ? `${quote(copy.site)} copies to it, and the thread has not waited for that`
        : `${quote(copy.site)} copies from it, and the thread has not waited for that`;
    }
    if (isSettled(copy, block)) places[i] = 0;
    else known = number;
  }
  return undefined;
}
