/** Free ranges of memory, found by their size. */

/** A free range of memory. */
interface Hole {
  readonly start: number;
  readonly end: number;
  /** Its index in the list of its size class. */
  at: number;
}

/** Sizes are below 2^32. */
const SIZES = 33;
/** Holes of a size class that are tried while memory can grow instead. */
const TRIES = 16;

const sizeClass = (bytes: number): number => Math.floor(Math.log2(bytes));

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

export class Holes {
  /** By the power of two that their size reaches, in no order: what is removed is replaced by the last one. */
  readonly #classes: readonly Hole[][] = Array.from({ length: SIZES }, () => []);
  readonly #byStart = new Map<number, Hole>();
  readonly #byEnd = new Map<number, Hole>();

  /** Adds a range, which joins its neighbours. */
  add(start: number, end: number): void {
    const [before, after] = [this.#byEnd.get(start), this.#byStart.get(end)];
    if (before !== undefined) this.#remove(before);
    if (after !== undefined) this.#remove(after);
    this.#put(before?.start ?? start, after?.end ?? end);
  }

  /** Where the hole begins that ends at a location; that location if none does. */
  startOf(end: number): number {
    return this.#byEnd.get(end)?.start ?? end;
  }

  /** Takes bytes out of a hole. Thorough: looks at every hole, not only at some of each size. */
  take(bytes: number, align: number, thorough: boolean): number | undefined {
    for (let size = sizeClass(bytes); size < SIZES; size++) {
      const holes = this.#classes[size] ?? [];
      const least = thorough ? 0 : Math.max(0, holes.length - TRIES);
      for (let i = holes.length - 1; i >= least; i--) {
        const hole = holes[i];
        if (hole === undefined) continue;
        const start = alignUp(hole.start, align);
        if (start + bytes > hole.end) continue;
        this.#remove(hole);
        if (hole.start < start) this.#put(hole.start, start);
        if (start + bytes < hole.end) this.#put(start + bytes, hole.end);
        return start;
      }
    }
    return undefined;
  }

  #put(start: number, end: number): void {
    const holes = this.#classes[sizeClass(end - start)] ?? [];
    const hole = { start, end, at: holes.length };
    holes.push(hole);
    this.#byStart.set(hole.start, hole);
    this.#byEnd.set(hole.end, hole);
  }

  #remove(hole: Hole): void {
    const holes = this.#classes[sizeClass(hole.end - hole.start)] ?? [];
    const last = holes.pop();
    if (last !== undefined && last !== hole) {
      holes[hole.at] = last;
      last.at = hole.at;
    }
    this.#byStart.delete(hole.start);
    this.#byEnd.delete(hole.end);
  }
}
