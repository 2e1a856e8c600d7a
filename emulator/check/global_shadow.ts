/**
 * The shadow of global memory: cells, in pages that are made when their memory is first touched. It belongs to one
 * thread of the host: of a launch that runs on several, races are found within each block and between blocks that ran
 * on the same thread, so there are no false ones.
 */
import { CELL_WORDS } from "./cells.ts";

/** Bytes of memory that a page is for. */
export const PAGE_BYTES = 1 << 14;
const PAGE_SHIFT = 14;
/** Words of all pages; when they are used up, the oldest page is taken. */
const MOST_WORDS = (256 * 2 ** 20) / 4;

export class GlobalShadow {
  readonly pages: (Uint32Array | undefined)[] = [];
  /** log2 of the bytes of a granule; negative: races are not looked for. */
  shift = -1;
  /** Numbers of the pages there are, oldest first from `oldest` on. */
  readonly #made: number[] = [];
  #oldest = 0;

  setGranule(bytes: number): void {
    const shift = bytes === 0 ? -1 : Math.log2(bytes);
    if (shift !== this.shift) this.clear();
    this.shift = shift;
  }

  clear(): void {
    this.pages.length = 0;
    this.#made.length = 0;
    this.#oldest = 0;
  }

  /** The cells of the page that a location is in. */
  page(location: number): Uint32Array {
    const number = location >>> PAGE_SHIFT;
    return this.pages[number] ?? this.#make(number);
  }

  /** The number of a location's cell in its page. */
  cell(location: number): number {
    return (location & (PAGE_BYTES - 1)) >>> this.shift;
  }

  #make(number: number): Uint32Array {
    const words = (PAGE_BYTES >> this.shift) * CELL_WORDS;
    while (this.pages.length <= number) this.pages.push(undefined);
    let page: Uint32Array;
    if (this.#made.length < Math.floor(MOST_WORDS / words)) {
      page = new Uint32Array(words);
      this.#made.push(number);
    } else {
      const old = this.#made[this.#oldest] ?? number;
      page = (this.pages[old] ?? new Uint32Array(words)).fill(0);
      this.pages[old] = undefined;
      this.#made[this.#oldest] = number;
      this.#oldest = (this.#oldest + 1) % this.#made.length;
    }
    this.pages[number] = page;
    return page;
  }
}
