/**
 * The mbarrier object (PTX ISA 9.0, 9.7.13.15): what its 64 bits mean, and the operations on it.
 *
 *     low word    pending arrivals (20 bits), transaction count bits 0..11
 *     high word   expected arrivals (20 bits), transaction count bits 12..20, phase, the mark of a barrier (2 bits)
 *
 * The object lies in shared memory and is all there is while accesses are not checked. While they are, the
 * emulator also remembers each barrier: to notice that something else overwrote it, and to know which copies a
 * phase counts.
 *
 * A state token is the object as it was before the arrival.
 */
import { Fault, type Site } from "../fault.ts";
import type { BlockState, Machine, WarpState } from "../machine.ts";
import { acquire, release } from "../check/order.ts";
import { noteGenericWrite } from "../check/proxies.ts";
import { type PendingCopy, resolvePending } from "./pending.ts";
import { hex, type SharedRange } from "./reach.ts";
import { noteObject, orderBy } from "./watch.ts";

/** Arrivals are 1 to this many, bytes of transactions as many in either direction. */
const MOST_COUNT = (1 << 20) - 1;

/** Bytes of the object, and what its address must be a multiple of. */
export const OBJECT_BYTES = 8;

/** The upper two bits of a barrier; neither zeros nor ones, which memory often holds. */
const MARK = 0b10;

export interface BarrierState {
  /** Parity of the phase that is under way. */
  readonly phase: number;
  /** Arrivals that the phase still needs. */
  readonly pending: number;
  /** Arrivals that the next phase needs. */
  readonly expected: number;
  /** Bytes announced less bytes arrived: negative while a copy is ahead of its announcement. */
  readonly transactions: number;
}

/** A barrier as the two words of its object. */
export function encodeBarrier(state: BarrierState): readonly [low: number, high: number] {
  const { phase, pending, expected, transactions } = state;
  return [
    (pending | (transactions << 20)) >>> 0,
    (expected | (((transactions >> 12) & 0x1ff) << 20) | (phase << 29) | (MARK << 30)) >>> 0,
  ];
}

/** Reads the two words of an object; undefined if they are no barrier. */
export function decodeBarrier(low: number, high: number): BarrierState | undefined {
  if (high >>> 30 !== MARK) return undefined;
  const bits = (low >>> 20) | (((high >>> 20) & 0x1ff) << 12);
  return {
    phase: (high >>> 29) & 1,
    pending: low & MOST_COUNT,
    expected: high & MOST_COUNT,
    transactions: (bits << 11) >> 11,
  };
}

/** What checked runs remember of a barrier. */
interface BarrierWatch {
  /** The object as the last operation left it. */
  low: number;
  high: number;
  /** Copies that the phase under way counts, and those of the two phases before: no thread waits for older ones. */
  counted: CountedCopy[];
  past: CountedCopy[];
  older: CountedCopy[];
  /** Warps to which the phase before was once reported as unfinished, though it is over. */
  readonly delayed: Set<WarpState>;
}

/** A copy that a phase counts, and what moves its bytes to the barrier's block. */
export interface CountedCopy {
  readonly copy: PendingCopy;
  move?: (() => void) | undefined;
}

/** Moves what has not been moved. */
function applyCopies(copies: readonly CountedCopy[]): void {
  for (const counted of copies) {
    counted.move?.();
    counted.move = undefined;
  }
}

const watches = new WeakMap<BlockState, Map<number, BarrierWatch>>();

function watchesOf(block: BlockState): Map<number, BarrierWatch> {
  let found = watches.get(block);
  if (found === undefined) watches.set(block, found = new Map());
  return found;
}

/** A lane's operation on a barrier: all that the functions below need. */
export interface BarrierUse {
  readonly machine: Machine;
  readonly range: SharedRange;
  readonly lane: number;
  readonly site: Site;
}

function misuse({ range, lane, site }: BarrierUse, detail: string): never {
  throw new Fault("barrier misuse", `mbarrier at ${hex(range.offset)} ${detail}`, lane, site);
}

function readState(use: BarrierUse): BarrierState {
  const { machine, range } = use;
  const at = range.location >>> 2;
  const low = machine.views.u32[at] ?? 0;
  const high = machine.views.u32[at + 1] ?? 0;
  if (machine.checks) {
    const watch = watchesOf(range.block).get(range.location);
    if (watch === undefined) misuse(use, "is not initialised, or was invalidated");
    if (watch.low !== low || watch.high !== high) {
      misuse(use, "was overwritten by something that is no barrier operation");
    }
  }
  return decodeBarrier(low, high) ?? misuse(use, "is not initialised");
}

function writeState(use: BarrierUse, state: BarrierState): void {
  const { machine, range } = use;
  const at = range.location >>> 2;
  const [low, high] = encodeBarrier(state);
  machine.views.u32[at] = low;
  machine.views.u32[at + 1] = high;
  if (!machine.checks) return;
  const watch = watchesOf(range.block).get(range.location);
  if (watch !== undefined) [watch.low, watch.high] = [low, high];
}

/** Writes a state, and begins the next phase if it has all that its phase needs. */
function settle(use: BarrierUse, state: BarrierState): void {
  const { phase, pending, expected, transactions } = state;
  if (Math.abs(transactions) > MOST_COUNT) {
    misuse(use, `counts ${transactions} bytes, outside of ±${MOST_COUNT}`);
  }
  if (pending !== 0 || transactions !== 0) return writeState(use, state);
  writeState(use, { phase: phase ^ 1, pending: expected, expected, transactions: 0 });
  if (!use.machine.checks) return;
  const watch = watchesOf(use.range.block).get(use.range.location);
  if (watch === undefined) return;
  applyCopies(watch.older);
  watch.older = watch.past;
  watch.past = watch.counted;
  watch.delayed.clear();
  watch.counted = [];
}

export function initBarrier(use: BarrierUse, count: number): void {
  const { machine, range } = use;
  if (count < 1 || count > MOST_COUNT) {
    misuse(use, `cannot expect ${count} arrivals, only 1 to ${MOST_COUNT}`);
  }
  if (machine.checks) {
    const known = watchesOf(range.block);
    if (known.has(range.location)) {
      misuse(use, "is initialised already; mbarrier.inval comes first");
    }
    known.set(range.location, {
      low: 0,
      high: 0,
      counted: [],
      past: [],
      older: [],
      delayed: new Set(),
    });
  }
  noteObject(machine, range, OBJECT_BYTES);
  if (machine.checks) {
    noteGenericWrite(machine, range.block, range.offset, OBJECT_BYTES, use.lane, "mbarrier");
  }
  writeState(use, { phase: 0, pending: count, expected: count, transactions: 0 });
}

export function invalidateBarrier(use: BarrierUse): void {
  const { machine, range } = use;
  readState(use);
  const watch = watchesOf(range.block).get(range.location);
  if (watch !== undefined) [watch.older, watch.past, watch.counted].forEach(applyCopies);
  watchesOf(range.block).delete(range.location);
  machine.views.u32[range.location >>> 2] = 0;
  machine.views.u32[(range.location >>> 2) + 1] = 0;
}

/** Variants of an arrival. */
export interface Arrival {
  readonly count: number;
  /** The thread also leaves: later phases expect fewer arrivals. */
  readonly drop: boolean;
  /** The instruction promises that the phase does not end. */
  readonly noComplete: boolean;
}

/** Arrives; the result is the token. */
export function arriveAtBarrier(use: BarrierUse, arrival: Arrival): readonly [number, number] {
  const { count, drop, noComplete } = arrival;
  const state = readState(use);
  if (count < 1 || count > MOST_COUNT) misuse(use, `cannot take ${count} arrivals at once`);
  if (count > state.pending) {
    misuse(use, `takes ${state.pending} more arrivals in this phase, not ${count}`);
  }
  const pending = state.pending - count;
  const expected = drop ? state.expected - count : state.expected;
  if (expected < 0) misuse(use, `expects ${state.expected} arrivals, so ${count} cannot drop`);
  if (noComplete && pending === 0 && state.transactions === 0) {
    misuse(use, "ends its phase by an arrival with .noComplete");
  }
  orderBy(use.machine, release);
  settle(use, { ...state, pending, expected });
  return encodeBarrier(state);
}

/** Announces bytes. */
export function expectBytes(use: BarrierUse, bytes: number): void {
  const state = readState(use);
  settle(use, { ...state, transactions: state.transactions + bytes });
}

/** Counts bytes as arrived; by a copy, if one brought them. */
export function completeBytes(use: BarrierUse, bytes: number, copy?: CountedCopy): void {
  if (copy !== undefined) {
    countCopies(use, [copy]);
    orderBy(use.machine, release);
  }
  const state = readState(use);
  settle(use, { ...state, transactions: state.transactions - bytes });
}

/** Makes the phase that is under way count copies: threads that see it end have waited for them. */
export function countCopies(use: BarrierUse, copies: readonly CountedCopy[]): void {
  const { machine, range } = use;
  readState(use);
  if (machine.checks) watchesOf(range.block).get(range.location)?.counted.push(...copies);
}

/**
 * Whether the phase of this parity is over. It must be the one under way or the one before, so it is over if it
 * is not the one under way.
 */
export function isPhaseOver(use: BarrierUse, parity: number): boolean {
  return readState(use).phase !== (parity & 1);
}

/**
 * Whether the phase before is reported to a warp as unfinished, though it is over: copies take their time, and a kernel
 * that does not ask again is wrong. Once for each warp and phase with copies.
 */
export function isDelayed({ machine, range }: BarrierUse): boolean {
  const watch = machine.checks ? watchesOf(range.block).get(range.location) : undefined;
  if (watch === undefined || watch.past.length === 0) return false;
  if (watch.delayed.has(machine.warp)) return false;
  watch.delayed.add(machine.warp);
  return true;
}

/** Notes that lanes saw the end of a phase. */
export function seePhaseEnd({ machine, range }: BarrierUse, lanes: number): void {
  if (!machine.checks) return;
  orderBy(machine, acquire);
  const watch = watchesOf(range.block).get(range.location);
  if (watch === undefined) return;
  for (const counted of [watch.older, watch.past]) {
    applyCopies(counted);
    for (const { copy } of counted) resolvePending(copy, machine, lanes);
  }
}

/** Parity of the phase in which a token was made; undefined if the words are no token. */
export function tokenParity(low: number, high: number): number | undefined {
  return decodeBarrier(low, high)?.phase;
}

/** Arrivals that were missing when a token was made. */
export function tokenPending(low: number, high: number): number | undefined {
  return decodeBarrier(low, high)?.pending;
}
