/** The shadow of a block's shared memory: which bytes have been written, and the cells that races are found with. */
import type { BlockState } from "../machine.ts";
import { CELL_WORDS } from "./cells.ts";

/** Bits of a word of shared memory all of whose bytes have been written. */
const WHOLE = 0xf;

export interface SharedShadow {
  /** Per word of shared memory, a bit for each byte that has been written. */
  readonly written: Uint8Array;
  readonly cells: Uint32Array;
  block: BlockState;
  /** Tick at which the block began to use it. */
  start: number;
}

/** Shadows that are kept; more places than blocks ever run at once are left from other launches. */
const MOST = 4096;

/** The shadows of blocks, by the place of their shared memory: blocks that follow each other there have the same. */
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

/** Whether all bytes from an offset on have been written. */
export function isWritten({ written }: SharedShadow, offset: number, bytes: number): boolean {
  if (((offset | bytes) & 3) === 0) {
    for (let i = offset >> 2; i < (offset + bytes) >> 2; i++) {
      if (written[i] !== WHOLE) return false;
    }
    return true;
  }
  return firstUnwritten(written, offset, bytes) < 0;
}

/** The first offset whose byte has not been written, or -1. */
export function firstUnwritten(written: Uint8Array, offset: number, bytes: number): number {
  for (let i = offset; i < offset + bytes; i++) {
    if ((((written[i >> 2] ?? 0) >> (i & 3)) & 1) === 0) return i;
  }
  return -1;
}

/** Notes that bytes are written. */
export function setWritten({ written }: SharedShadow, offset: number, bytes: number): void {
  if (((offset | bytes) & 3) === 0) {
    for (let i = offset >> 2; i < (offset + bytes) >> 2; i++) written[i] = WHOLE;
    return;
  }
  for (let i = offset; i < offset + bytes; i++) {
    written[i >> 2] = (written[i >> 2] ?? 0) | (1 << (i & 3));
  }
}
