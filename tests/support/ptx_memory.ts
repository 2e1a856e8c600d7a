/**
 * Memory of the PTX machine: buffers with exact ends, checked for alignment and for races. An access ordered
 * before another one by a barrier of the block or of the warp, or by being of the same thread, cannot race with it.
 */
import { must } from "../../compiler/support/bug.ts";

/** Who touches memory, and after how many barriers. */
export interface Accessor {
  readonly block: number;
  readonly warp: number;
  /** Unique in the launch. */
  readonly thread: number;
  /** Barriers of the block so far. */
  readonly blockPhase: number;
  /** Barriers of the warp alone so far. */
  readonly warpPhase: number;
}

/** Who has touched a byte, unordered among themselves: one thread, or several of a warp, of a block, of the grid. */
interface Touch {
  /** The last of them. */
  readonly by: Accessor;
  readonly spread: Spread;
}
type Spread = 0 | 1 | 2 | 3;

/** Bytes with bounds. */
export class Buffer {
  readonly #view: DataView;
  readonly #writes = new Map<number, Touch>();
  readonly #reads = new Map<number, Touch>();

  constructor(readonly bytes: Uint8Array, readonly name: string) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Checks an access of `count` values of `size` bytes; `address` decides on alignment. */
  touch(
    address: number,
    offset: number,
    size: number,
    count: number,
    writes: boolean,
    by: Accessor,
  ): void {
    const total = size * count;
    const what = `${writes ? "store" : "load"} of ${total} bytes at ${this.name} + ${offset}`;
    if (offset < 0 || offset + total > this.bytes.length) throw new RangeError(`${what}: outside`);
    if (address % total !== 0) throw new RangeError(`${what}: misaligned`);
    for (let byte = offset; byte < offset + total; byte++) {
      const [write, read] = [this.#writes.get(byte), this.#reads.get(byte)];
      if (write !== undefined && races(write, by)) {
        throw new RangeError(`${what}: races with a store`);
      }
      if (!writes) {
        this.#reads.set(byte, { by, spread: read === undefined ? 0 : spreadOf(read, by) });
        continue;
      }
      if (read !== undefined && races(read, by)) {
        throw new RangeError(`${what}: races with a load`);
      }
      this.#writes.set(byte, { by, spread: 0 });
    }
  }

  read(offset: number, size: number): number | bigint {
    switch (size) {
      case 1:
        return this.#view.getUint8(offset);
      case 2:
        return this.#view.getUint16(offset, true);
      case 4:
        return this.#view.getUint32(offset, true);
      default:
        return this.#view.getBigUint64(offset, true);
    }
  }

  write(offset: number, size: number, value: number | bigint): void {
    if (size === 8) this.#view.setBigUint64(offset, BigInt(value), true);
    else if (size === 4) this.#view.setUint32(offset, Number(value), true);
    else if (size === 2) this.#view.setUint16(offset, Number(value), true);
    else this.#view.setUint8(offset, Number(value));
  }
}

/** How far the threads of an earlier touch and a later one lie apart. */
function distance({ by, spread }: Touch, later: Accessor): Spread {
  if (spread === 3 || by.block !== later.block) return 3;
  if (spread === 2 || by.warp !== later.warp) return 2;
  return spread === 1 || by.thread !== later.thread ? 1 : 0;
}

/** Whether nothing orders the earlier access before the later one. */
function races(earlier: Touch, later: Accessor): boolean {
  switch (distance(earlier, later)) {
    case 0:
      return false;
    case 1:
      return earlier.by.blockPhase === later.blockPhase && earlier.by.warpPhase === later.warpPhase;
    case 2:
      return earlier.by.blockPhase === later.blockPhase;
    case 3:
      return true;
  }
}

/** The spread of loads after one more, which those that a barrier has ordered before it no longer widen. */
function spreadOf(earlier: Touch, by: Accessor): Spread {
  return races(earlier, by) ? distance(earlier, by) : 0;
}

/** Global memory: every buffer lies 4 GiB after the one before, so that no offset strays from one to another. */
export class GlobalMemory {
  readonly #buffers: { readonly start: number; readonly buffer: Buffer }[] = [];

  /** The address of a new buffer, `misalignment` bytes after a multiple of 256. */
  add(bytes: Uint8Array, misalignment = 0): bigint {
    const start = 2 ** 20 + misalignment;
    this.#buffers.push({ start, buffer: new Buffer(bytes, `buffer ${this.#buffers.length}`) });
    return (BigInt(this.#buffers.length) << 32n) + BigInt(start);
  }

  find(address: bigint): { readonly buffer: Buffer; readonly offset: number } {
    const { start, buffer } = must(
      this.#buffers[Number(address >> 32n) - 1],
      `buffer at ${address.toString(16)}`,
    );
    return { buffer, offset: Number(address & 0xffffffffn) - start };
  }
}
