/**
 * The allocator of the emulator's memory. Device memory is what kernels may touch, byte for byte; system memory is
 * the emulator's own: frames, shared memory, arguments. Between any two allocations there is a gap, so that a step
 * past an end never lands in a neighbour, and freed device memory is not reused for a while, so that its use is found.
 */
import {
  type Allocation,
  type AllocationTable,
  makeTable,
  type Nearest,
  nearest,
  type TensorInfo,
} from "./check/allocations.ts";
import type { Machine } from "./machine.ts";
import { viewsOf } from "./memory.ts";

/** Below this nothing is allocated: null pointers, and pointers near null, point nowhere. */
export const HEAP_START = 4096;
/** A word below the heap that guards what the host cannot change in one step: 128-bit atomics. */
export const LOCK_PLACE = 64;

const ALIGN = 256;
const GAP = 64;
const PAGE = 65536;
/** Memory grows by at least this, because growing replaces all views. */
const GROWTH = 16 * 2 ** 20;
/** Freed bytes that are held back. */
const QUARANTINE = 256 * 2 ** 20;

/** What an allocation is for. */
export type AllocationKind = "device" | "system";

/** Thrown when memory cannot grow any further. */
export class HeapFullError extends Error {
  override readonly name = "HeapFullError";

  constructor(
    /** Bytes that were asked for. */
    readonly requested: number,
    /** Bytes that are free, perhaps in pieces that are too small. */
    readonly free: number,
  ) {
    super(`the emulator's memory is full: ${requested} bytes wanted, ${free} free`);
  }
}

/** A range of memory that nobody has. */
interface Hole {
  start: number;
  end: number;
}

interface Entry extends Allocation {
  readonly kind: AllocationKind;
  /** Where the gap behind it ends. */
  readonly end: number;
  freed: boolean;
  tensor?: TensorInfo;
}

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

export class Heap {
  readonly #machine: Pick<Machine, "memory" | "views">;
  /** All allocations, freed ones in quarantine too, by place. */
  readonly #entries: Entry[] = [];
  readonly #holes: Hole[] = [];
  readonly #quarantine: Entry[] = [];
  readonly #limit: number;
  #quarantined = 0;
  #used = 0;
  #end: number;
  #table: AllocationTable | undefined;

  /** Manages a memory from `start` on; it may grow to `limit` bytes. */
  constructor(
    machine: Pick<Machine, "memory" | "views">,
    limit = 65535 * PAGE,
    start = HEAP_START,
  ) {
    this.#machine = machine;
    this.#limit = limit;
    this.#end = machine.memory.buffer.byteLength;
    if (start < this.#end) this.#holes.push({ start: alignUp(start, ALIGN), end: this.#end });
  }

  /** The most bytes that memory can have. */
  get totalBytes(): number {
    return this.#limit;
  }

  /** Bytes that can still be allocated, if not in one piece. */
  get freeBytes(): number {
    return Math.max(0, this.#limit - HEAP_START - this.#used);
  }

  /** The place of new memory, whose content is undefined. Throws {@linkcode HeapFullError}. */
  allocate(bytes: number, align: number, label: string, kind: AllocationKind = "device"): number {
    const wanted = alignUp(bytes + GAP, ALIGN);
    const step = Math.max(align, ALIGN);
    const place = this.#fit(wanted, step) ?? this.#grow(wanted, step) ??
      (this.#release(0), this.#fit(wanted, step) ?? this.#grow(wanted, step));
    if (place === undefined) throw new HeapFullError(bytes, this.freeBytes);
    this.#used += wanted;
    const entry = { place, bytes, label, kind, end: place + wanted, freed: false };
    this.#entries.splice(this.#indexAfter(place), 0, entry);
    this.#table = undefined;
    return place;
  }

  /** Gives memory back. */
  free(place: number): void {
    const entry = this.#entryAt(place);
    if (entry === undefined || entry.freed) throw new RangeError(`no allocation at ${place}`);
    entry.freed = true;
    this.#table = undefined;
    if (entry.kind === "system") {
      this.#reuse(entry);
      return;
    }
    this.#quarantine.push(entry);
    this.#quarantined += entry.end - entry.place;
    this.#release(QUARANTINE);
  }

  /** Says what an allocation holds, for messages. */
  describe(place: number, tensor: TensorInfo): void {
    const entry = this.#entryAt(place);
    if (entry === undefined) return;
    entry.tensor = tensor;
    this.#table = undefined;
  }

  /** The allocation that a place is in or nearest to, live or freed not long ago. */
  find(place: number): Nearest | undefined {
    return nearest(this.table(), place);
  }

  /** What kernels may touch now: plain data, the same object until something changes. */
  table(): AllocationTable {
    return this.#table ??= makeTable(
      this.#entries.filter(({ kind }) => kind === "device")
        .map(({ place, bytes, label, freed, tensor }) => ({
          place,
          bytes,
          label,
          freed,
          ...(tensor === undefined ? {} : { tensor }),
        })),
    );
  }

  #entryAt(place: number): Entry | undefined {
    const entry = this.#entries[this.#indexAfter(place) - 1];
    return entry?.place === place ? entry : undefined;
  }

  /** The index of the first allocation behind a place. */
  #indexAfter(place: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.place ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Takes the first hole that is large enough. */
  #fit(bytes: number, align: number): number | undefined {
    for (const [i, hole] of this.#holes.entries()) {
      const start = alignUp(hole.start, align);
      if (start + bytes > hole.end) continue;
      const rest = [
        { start: hole.start, end: start },
        { start: start + bytes, end: hole.end },
      ].filter((piece) => piece.start < piece.end);
      this.#holes.splice(i, 1, ...rest);
      return start;
    }
    return undefined;
  }

  #grow(bytes: number, align: number): number | undefined {
    const last = this.#holes.at(-1);
    const start = alignUp(last?.end === this.#end ? last.start : this.#end, align);
    const needed = alignUp(start + bytes - this.#end, PAGE);
    const most = this.#limit - this.#end;
    if (needed > most) return undefined;
    const growth = Math.min(Math.max(needed, GROWTH), most);
    try {
      this.#machine.memory.grow(Math.floor(growth / PAGE));
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    const old = this.#end;
    this.#end = this.#machine.memory.buffer.byteLength;
    this.#machine.views = viewsOf(this.#machine.memory);
    this.#addHole(old, this.#end);
    return this.#fit(bytes, align);
  }

  /** Ends the quarantine of what was freed first, until so many bytes are left in it. */
  #release(bytes: number): void {
    while (this.#quarantined > bytes) {
      const entry = this.#quarantine.shift();
      if (entry === undefined) return;
      this.#quarantined -= entry.end - entry.place;
      this.#reuse(entry);
    }
  }

  #reuse(entry: Entry): void {
    this.#entries.splice(this.#indexAfter(entry.place) - 1, 1);
    this.#used -= entry.end - entry.place;
    this.#addHole(entry.place, entry.end);
    this.#table = undefined;
  }

  #addHole(start: number, end: number): void {
    const holes = this.#holes;
    let at = holes.findIndex((hole) => hole.start > start);
    if (at < 0) at = holes.length;
    const [before, after] = [holes[at - 1], holes[at]];
    if (after?.start === end) {
      after.start = start;
      if (before?.end === start) {
        before.end = after.end;
        holes.splice(at, 1);
      }
    } else if (before?.end === start) before.end = end;
    else holes.splice(at, 0, { start, end });
  }
}
