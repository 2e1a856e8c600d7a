/**
 * A sorted list of entries with a location in memory, in chunks: adding or removing one moves a chunk, not all of them.
 */

/** The most entries in a chunk. */
const MOST = 512;

export class LocationList<T extends { readonly location: number }> {
  readonly #chunks: T[][] = [];

  /** Adds a entry at a location without an entry. */
  add(entry: T): void {
    const at = this.#chunkOf(entry.location);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      return;
    }
    chunk.splice(indexAfter(chunk, entry.location), 0, entry);
    if (chunk.length > MOST) this.#chunks.splice(at + 1, 0, chunk.splice(MOST / 2));
  }

  /** Removes the entry at a location. */
  remove(location: number): void {
    const at = this.#chunkOf(location);
    const chunk = this.#chunks[at];
    const index = chunk === undefined ? -1 : indexAfter(chunk, location) - 1;
    if (chunk?.[index]?.location !== location) return;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The last entry at or before a location. */
  before(location: number): T | undefined {
    const chunk = this.#chunks[this.#chunkOf(location)];
    return chunk?.[indexAfter(chunk, location) - 1];
  }

  /** All entries in order. */
  all(): T[] {
    return this.#chunks.flat();
  }

  /** The chunk that a location belongs to: the last one that begins at or before it, else the first. */
  #chunkOf(location: number): number {
    let [low, high] = [0, this.#chunks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.[0]?.location ?? 0) <= location) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** The index of the first entry beyond a location. */
function indexAfter(entries: readonly { readonly location: number }[], location: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.location ?? 0) <= location) low = middle + 1;
    else high = middle;
  }
  return low;
}
