/**
 * Shared memory that asynchronous operations still work on: copies, and products of warp groups. Until a thread knows
 * that an operation is over, it must not touch what the operation writes, nor write what it reads. Kept only while
 * accesses are checked; every access to shared memory asks {@linkcode pendingProblem}.
 *
 * A thread knows of the end of a copy when it has waited for it itself, or when the wait of another thread comes
 * before its own access. Which waits count is up to the instructions: `cp.async.wait_group` covers the thread's own
 * groups, a successful wait on an mbarrier all copies that the phase counted, `wgmma.wait_group` the products of the
 * warp group.
 */
import { attend, isOrdered, type Order, whoIs } from "../check/order.ts";
import { announceSync } from "../debug/observer.ts";
import { abridged, type Site } from "../fault.ts";
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

/** Instructions that wait for asynchronous operations, as messages name them. */
export type Wait =
  | "cp.async.wait_group"
  | "cp.async.bulk.wait_group"
  | "wgmma.wait_group"
  | "a wait on its mbarrier";

/** A copy or the reads of products, or several that are waited for together. */
export interface PendingCopy {
  readonly effect: Effect;
  readonly wait: Wait;
  /** The instruction that issued it. */
  readonly site: Site;
  readonly order: Order;
  readonly seen: Observation[];
  /** It was issued after the first tick and not after the last one. */
  readonly first: number;
  last: number;
  /** What remains to be moved: copies take effect when they are waited for. */
  readonly late: (() => void)[];
}

export function pendingCopy(
  effect: Effect,
  site: Site,
  order: Order,
  wait: Wait,
  first = order.now,
): PendingCopy {
  return { effect, wait, site, order, seen: [], first, last: order.now, late: [] };
}

/** Carries out what remains of a copy. */
export function finishCopy({ late }: PendingCopy): void {
  for (const move of late.splice(0)) move();
}

/** Shared memory is tracked in grains of four bytes: no copy is smaller. */
const GRAIN_SHIFT = 2;

/** Operations that work on the same bytes: one that writes, or all those that read. */
type Pending = readonly PendingCopy[];

/** The operations of a block, and where in its shared memory they are. */
interface PendingTable {
  /** For each grain its operations, by number; 0 is none. */
  readonly grains: Uint32Array;
  /** By number. */
  readonly sets: Pending[];
  /** Numbers of sets, by the number of the set without its last operation: of none, 0. */
  readonly numbers: Map<PendingCopy, Map<number, number>>;
}

const tables = new WeakMap<BlockState, PendingTable>();

function tableOf(block: BlockState): PendingTable {
  let table = tables.get(block);
  if (table === undefined) {
    const grains = new Uint32Array((block.sharedBytes >> GRAIN_SHIFT) + 1);
    table = { grains, sets: [[]], numbers: new Map() };
    tables.set(block, table);
  }
  return table;
}

/** Whether asynchronous copies touched the shared memory of a block at all: what to ask before each access. */
export function hasPending(block: BlockState): boolean {
  return tables.has(block);
}

/** The number of a set with one operation more. */
function withCopy({ sets, numbers }: PendingTable, before: number, copy: PendingCopy): number {
  let known = numbers.get(copy);
  if (known === undefined) numbers.set(copy, known = new Map());
  let number = known.get(before);
  if (number === undefined) {
    number = sets.push([...sets[before] ?? [], copy]) - 1;
    known.set(before, number);
  }
  return number;
}

/** The set of operations at a grain when one more begins there: those that a lane knows to be over are left out. */
function joined(
  table: PendingTable,
  before: number,
  copy: PendingCopy,
  warp: WarpState,
  lane: number,
): number {
  const old = table.sets[before] ?? [];
  if (old.includes(copy)) return before;
  let number = 0;
  if (copy.effect === "reads") {
    for (const each of old) {
      if (each.effect !== "reads" || isOver(each, warp, lane)) continue;
      number = withCopy(table, number, each);
    }
  }
  return withCopy(table, number, copy);
}

/** Notes that an operation which a lane of the attended warp issues works on bytes of the shared memory of a block. */
export function markPending(
  block: BlockState,
  location: number,
  bytes: number,
  copy: PendingCopy,
  warp: WarpState,
  lane: number,
): void {
  const table = tableOf(block);
  const { grains } = table;
  const first = (location - block.shared) >> GRAIN_SHIFT;
  const last = (location - block.shared + bytes - 1) >> GRAIN_SHIFT;
  let [known, number] = [-1, 0];
  for (let i = first; i <= last; i++) {
    const before = grains[i] ?? 0;
    if (before !== known) [known, number] = [before, joined(table, before, copy, warp, lane)];
    grains[i] = number;
  }
}

/** Notes that lanes of the warp that runs know that a copy is over. */
export function resolvePending(copy: PendingCopy, machine: Machine, lanes: number): void {
  const { order, seen } = copy;
  const { warp } = machine;
  if (seen.some((known) => known.warp === warp && (lanes & ~known.lanes) === 0)) return;
  attend(order, machine);
  seen.push({ warp, lanes, who: whoIs(order, machine), tick: order.now });
  announceSync(machine, { kind: "copy is waited for", copy, lanes });
}

/** Whether a barrier of the whole block came after a wait of one of its threads. */
function isSettled({ order, seen }: PendingCopy, block: BlockState): boolean {
  const barrier = order.blocks.get(block)?.barrier ?? 0;
  return seen.some(({ warp, tick }) => warp.block === block && tick < barrier);
}

/** Whether a lane of the warp that {@linkcode attend} was called for has waited for the end of a copy. */
export function isOver({ order, seen }: PendingCopy, warp: WarpState, lane: number): boolean {
  return seen.some((known) =>
    (known.warp === warp && ((known.lanes >>> lane) & 1) !== 0) ||
    isOrdered(order, known.who, known.tick, lane)
  );
}

function quote({ text, file, line }: Site): string {
  const short = abridged(text);
  return line === undefined ? `\`${short}\`` : `\`${short}\` (${file ?? ""}:${line})`;
}

/**
 * What is wrong with an access of a lane to bytes of the shared memory of a block: the copy that it does not know
 * to be over, in words. Undefined if nothing is. The order of the checks must attend to the lane's warp.
 */
export function pendingProblem(
  block: BlockState,
  location: number,
  bytes: number,
  writing: boolean,
  warp: WarpState,
  lane: number,
  combining = false,
): string | undefined {
  const table = tables.get(block);
  if (table === undefined) return undefined;
  const { grains, sets } = table;
  const first = (location - block.shared) >> GRAIN_SHIFT;
  const last = (location - block.shared + bytes - 1) >> GRAIN_SHIFT;
  let known = 0;
  for (let i = first; i <= last; i++) {
    const number = grains[i] ?? 0;
    if (number === known) continue;
    let isDone = true;
    for (const copy of sets[number] ?? []) {
      if (copy.effect === "reads" && !writing) {
        isDone = false;
        continue;
      }
      if (combining && copy.effect === "combines") continue;
      if (!isOver(copy, warp, lane)) return problemOf(copy);
      isDone &&= isSettled(copy, block);
    }
    if (isDone) grains[i] = 0;
    else known = number;
  }
  return undefined;
}

function problemOf({ effect, site, wait }: PendingCopy): string {
  const does = effect !== "reads"
    ? "copies to it"
    : wait === "wgmma.wait_group"
    ? "reads it"
    : "copies from it";
  return `${
    quote(site)
  } ${does}, and the thread has not waited for that: ${wait} must come first, ` +
    "here or in a thread whose arrival or barrier this one has waited for";
}
