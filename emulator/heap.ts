/**
 * The allocator of the emulator's memory. Device memory is what kernels may touch, byte for byte; system memory is
 * the emulator's own: register files, shared memory, arguments. Between any two allocations there is a gap, so that a
 * step past an end never lands in a neighbour, and freed device memory is not reused for a while, so that its use is
 * found.
 */
import {
  type Allocation,
  type Allocations,
  type Nearest,
  nearest,
  type TensorInfo,
} from "./check/allocations.ts";
import { Holes } from "./holes.ts";
import type { Machine } from "./machine.ts";
import { viewsOf, WASM_PAGE_BYTES } from "./memory.ts";
import { LocationList } from "./location_list.ts";

/** Below this nothing is allocated: null pointers, and pointers near null, point nowhere. */
export const HEAP_START = 4096;
/** A word below the heap that guards what the host cannot change in one step: 128-bit atomics. */
export const LOCK_LOCATION = 64;

const ALIGN = 256;
const GAP = 64;
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

interface Entry extends Allocation {
  readonly kind: AllocationKind;
  /** Where the gap after it ends. */
  readonly end: number;
  freed: boolean;
  tensor?: TensorInfo;
}

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

export class Heap {
  readonly #machine: Pick<Machine, "memory" | "views">;
  /** All allocations, freed ones in quarantine too, by location. */
  readonly #entries = new LocationList<Entry>();
  readonly #holes = new Holes();
  /** In the order in which they were freed; those before `#first` have left it. */
  #quarantine: Entry[] = [];
  #first = 0;
  readonly #limit: number;
  #quarantined = 0;
  #used = 0;
  #end: number;
  #allocations: Allocations | undefined;

  /** Manages a memory from `start` on; it may grow to `limit` bytes. */
  constructor(
    machine: Pick<Machine, "memory" | "views">,
    limit = 65535 * WASM_PAGE_BYTES,
    start = HEAP_START,
  ) {
    this.#machine = machine;
    this.#limit = limit;
    this.#end = machine.memory.buffer.byteLength;
    if (start < this.#end) this.#holes.add(alignUp(start, ALIGN), this.#end);
  }

  /** The most bytes that memory can have. */
  get totalBytes(): number {
    return this.#limit;
  }

  /** Bytes that can still be allocated, if not in one piece. */
  get freeBytes(): number {
    return Math.max(0, this.#limit - HEAP_START - this.#used);
  }

  /** The location of new memory, whose content is undefined. Throws {@linkcode HeapFullError}. */
  allocate(bytes: number, align: number, label: string, kind: AllocationKind = "device"): number {
    const wanted = alignUp(bytes + GAP, ALIGN);
    const step = Math.max(align, ALIGN);
    const location = this.#holes.take(wanted, step, false) ?? this.#grow(wanted, step) ??
      (this.#release(0), this.#holes.take(wanted, step, true) ?? this.#grow(wanted, step));
    if (location === undefined) throw new HeapFullError(bytes, this.freeBytes);
    this.#used += wanted;
    const entry = { location, bytes, label, kind, end: location + wanted, freed: false };
    this.#entries.add(entry);
    this.#allocations = undefined;
    return location;
  }

  /** Gives memory back. */
  free(location: number): void {
    const entry = this.#entryAt(location);
    if (entry === undefined || entry.freed) throw new RangeError(`no allocation at ${location}`);
    entry.freed = true;
    this.#allocations = undefined;
    if (entry.kind === "system") {
      this.#reuse(entry);
      return;
    }
    this.#quarantine.push(entry);
    this.#quarantined += entry.end - entry.location;
    this.#release(QUARANTINE);
  }

  /** Says what an allocation holds, for messages. */
  describe(location: number, tensor: TensorInfo): void {
    const entry = this.#entryAt(location);
    if (entry === undefined) return;
    entry.tensor = tensor;
    this.#allocations = undefined;
  }

  /** The allocation that a location is in or nearest to, live or freed not long ago. */
  find(location: number): Nearest | undefined {
    return nearest(this.#all(), location);
  }

  /** What kernels may touch now: the same object until something changes. */
  allocations(): Allocations {
    return this.#allocations ??= {
      liveAt: (location) => this.liveAt(location),
      all: () => this.#all(),
    };
  }

  #all(): readonly Allocation[] {
    return this.#entries.all().filter(({ kind }) => kind === "device")
      .map(({ location, bytes, label, freed, tensor }) => ({
        location,
        bytes,
        label,
        freed,
        ...(tensor === undefined ? {} : { tensor }),
      }));
  }

  /** The live device memory that a location is in. */
  liveAt(location: number): Allocation | undefined {
    const entry = this.#entries.before(location);
    if (entry === undefined || entry.kind !== "device" || entry.freed) return undefined;
    return location < entry.location + entry.bytes ? entry : undefined;
  }

  /** Whether live device memory, perhaps of no bytes, begins at a location. */
  isAllocated(location: number): boolean {
    const entry = this.#entryAt(location);
    return entry?.kind === "device" && !entry.freed;
  }

  #entryAt(location: number): Entry | undefined {
    const entry = this.#entries.before(location);
    return entry?.location === location ? entry : undefined;
  }

  #grow(bytes: number, align: number): number | undefined {
    const start = alignUp(this.#holes.startOf(this.#end), align);
    const needed = alignUp(start + bytes - this.#end, WASM_PAGE_BYTES);
    const most = this.#limit - this.#end;
    if (needed > most) return undefined;
    const growth = Math.min(Math.max(needed, GROWTH), most);
    try {
      this.#machine.memory.grow(Math.floor(growth / WASM_PAGE_BYTES));
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    const old = this.#end;
    this.#end = this.#machine.memory.buffer.byteLength;
    this.#machine.views = viewsOf(this.#machine.memory);
    this.#holes.add(old, this.#end);
    return this.#holes.take(bytes, align, true);
  }

  /** Ends the quarantine of what was freed first, until so many bytes are left in it. */
  #release(bytes: number): void {
    while (this.#quarantined > bytes) {
      const entry = this.#quarantine[this.#first++];
      if (entry === undefined) return;
      this.#quarantined -= entry.end - entry.location;
      this.#reuse(entry);
    }
    if (2 * this.#first < this.#quarantine.length) return;
    this.#quarantine = this.#quarantine.slice(this.#first);
    this.#first = 0;
  }

  #reuse(entry: Entry): void {
    this.#entries.remove(entry.location);
    this.#used -= entry.end - entry.location;
    this.#holes.add(entry.location, entry.end);
    this.#allocations = undefined;
  }
}
