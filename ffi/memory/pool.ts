/**
 * Device memory. Allocating from the driver costs up to a millisecond and may wait for the device, so freed
 * memory is kept and allocated again. It is given to the stream that used it last: what that stream does
 * next comes after all earlier use, so nothing has to wait. Where the driver watches memory, nothing is kept or
 * rounded up, or it would miss accesses outside an allocation and after its end.
 */
import type { Driver } from "../driver.ts";
import { OutOfMemoryError } from "../errors.ts";

/** A stream, as far as memory needs one. */
export interface Queue<S> {
  readonly disposed: boolean;
  /** What a capture records on it; undefined unless one does. */
  readonly recording: unknown;
  waitFor(other: S): void;
}

/** A device, as far as memory needs one. */
export interface PoolDevice<S> {
  readonly driver: Driver;
  readonly defaultStream: S;
  enter(): Driver;
}

/** A piece of device memory, in use or kept. */
export interface Allocation<S extends Queue<S>> {
  readonly address: bigint;
  /** At least what was asked for. */
  readonly capacity: number;
  readonly uses: StreamUses<S>;
}

/** Which streams use an allocation: the one that wrote last, and those that have read since. */
export class StreamUses<S extends Queue<S>> {
  #writer: S;
  readonly #readers = new Set<S>();

  constructor(owner: S) {
    this.#writer = owner;
  }

  get writer(): S {
    return this.#writer;
  }

  /** All of them. */
  get streams(): S[] {
    return [this.#writer, ...this.#readers];
  }

  /** Lets the stream wait for what others do with the memory: a reader for the writer, a writer for all. */
  add(stream: S, write: boolean): void {
    if (this.#writer === stream && this.#readers.size === 0) return;
    if (write) {
      for (const other of this.#readers) this.#order(other, stream);
      this.#order(this.#writer, stream);
      this.#readers.clear();
      this.#writer = stream;
    } else if (this.#writer !== stream && !this.#readers.has(stream)) {
      this.#order(this.#writer, stream);
      this.#readers.add(stream);
    }
  }

  #order(earlier: S, later: S): void {
    // A recording starts with an idle device; each launch of the graph waits for what came since.
    if (later.recording === undefined) later.waitFor(earlier);
  }
}

/** Kept memory by stream, then by size class. */
type Kept<S extends Queue<S>> = Map<S, Map<number, Allocation<S>[]>>;

/** The memory of one device. */
export class MemoryPool<S extends Queue<S>> {
  readonly #device: PoolDevice<S>;
  readonly #kept: Kept<S> = new Map();
  readonly #all = new Set<Allocation<S>>();

  constructor(device: PoolDevice<S>) {
    this.#device = device;
  }

  /** Memory for the stream's next work; its content is undefined. */
  take(bytes: number, stream: S): Allocation<S> {
    if (this.#device.driver.watchesMemory) return this.#allocate(bytes, stream);
    const capacity = sizeClass(bytes);
    const kept = this.#kept.get(stream)?.get(capacity)?.pop();
    if (kept === undefined) return this.#allocate(capacity, stream);
    kept.uses.add(stream, true);
    return kept;
  }

  /**
   * Takes memory back, as a finalizer may at any time: it makes no call of a driver that could be busy. One that
   * watches memory never is, because it works on this thread.
   */
  release(allocation: Allocation<S>): void {
    if (!this.#all.has(allocation)) return;
    if (this.#device.driver.watchesMemory) return this.#free(allocation);
    const { writer } = allocation.uses;
    const stream = writer.disposed ? this.#device.defaultStream : writer;
    const bins = entry(this.#kept, stream, () => new Map<number, Allocation<S>[]>());
    entry(bins, allocation.capacity, () => []).push(allocation);
  }

  /** Hands a finished stream's kept memory to another stream. */
  move(from: S, to: S): void {
    const bins = this.#kept.get(from);
    this.#kept.delete(from);
    for (const allocation of [...bins?.values() ?? []].flat()) {
      allocation.uses.add(to, true);
      this.release(allocation);
    }
  }

  /** Gives kept memory back to the driver; returns how many bytes. */
  trim(): number {
    let bytes = 0;
    for (const bins of this.#kept.values()) {
      for (const allocation of [...bins.values()].flat()) {
        bytes += allocation.capacity;
        this.#free(allocation);
      }
    }
    this.#kept.clear();
    return bytes;
  }

  /** Gives all memory back to the driver, what is in use too. */
  close(): void {
    this.#kept.clear();
    for (const allocation of this.#all) this.#free(allocation);
  }

  #allocate(capacity: number, stream: S): Allocation<S> {
    const allocation = {
      address: this.#fromDriver(capacity),
      capacity,
      uses: new StreamUses(stream),
    };
    this.#all.add(allocation);
    return allocation;
  }

  #fromDriver(bytes: number): bigint {
    const driver = this.#device.enter();
    try {
      return driver.allocate(bytes);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError) || this.trim() === 0) throw error;
      return driver.allocate(bytes);
    }
  }

  #free(allocation: Allocation<S>): void {
    this.#all.delete(allocation);
    this.#device.enter().free(allocation.address);
  }
}

const SMALLEST = 512;
const LARGE = 256 * 2 ** 20;
/** The driver maps memory in pages of this size. */
const PAGE = 2 * 2 ** 20;

/** The size that is allocated for so many bytes: at most an eighth more, so that like sizes share memory. */
export function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = bytes > LARGE ? PAGE : 2 ** (Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make());
  return value;
}
