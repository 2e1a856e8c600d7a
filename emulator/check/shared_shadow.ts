/** The shadow of a block's shared memory: which bytes have been written, and the cells that races are found with. */
import type { BlockState } from "../machine.ts";
import { CELL_WORDS } from "./cells.ts";
import { setWritten, type WrittenBytes } from "./written.ts";

export interface SharedShadow extends WrittenBytes {
  readonly cells: Uint32Array;
  block: BlockState;
  /** Tick at which the block began to use it. */
  start: number;
}

/** Shadows that are kept; more locations than blocks ever run at once are left from other launches. */
const MOST = 4096;

/** The shadows of blocks, by the location of their shared memory: blocks that follow each other there have the same. */
export class SharedShadows {
  /** log2 of the bytes of a granule; negative: races are not looked for. */
  shift = -1;
  readonly #shadows = new Map<number, SharedShadow>();
  #last: SharedShadow | undefined;

  setGranule(bytes: number): void {
    const shift = bytes === 0 ? -1 : Math.log2(bytes);
    if (shift !== this.shift || this.#shadows.size > MOST) this.clear();
    this.shift = shift;
  }

  clear(): void {
    this.#shadows.clear();
    this.#last = undefined;
  }

  /** The shadow of a block that runs; `tick` is the present one. */
  of(block: BlockState, tick: number): SharedShadow {
    if (this.#last?.block === block) return this.#last;
    let shadow = this.#shadows.get(block.shared);
    if (shadow?.block !== block) shadow = this.#take(block, tick, shadow);
    this.#last = shadow;
    return shadow;
  }

  #take(block: BlockState, tick: number, old: SharedShadow | undefined): SharedShadow {
    const words = (block.sharedBytes + 3) >> 2;
    const cellWords = this.shift < 0 ? 0 : ((block.sharedBytes >> this.shift) + 1) * CELL_WORDS;
    const { sharedBytes, reserved = sharedBytes } = block;
    if (old?.written.length === words && old.cells.length === cellWords) {
      old.block = block;
      old.start = tick;
      old.written.fill(0);
      setWritten(old, reserved, sharedBytes - reserved);
      return old;
    }
    const shadow = {
      written: new Uint8Array(words),
      cells: new Uint32Array(cellWords),
      block,
      start: tick,
    };
    setWritten(shadow, reserved, sharedBytes - reserved);
    this.#shadows.set(block.shared, shadow);
    return shadow;
  }
}
