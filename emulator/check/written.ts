/** Which bytes of a piece of memory hold something. */

/** Bits of a word of memory all of whose bytes hold something. */
const WHOLE = 0xf;

export interface WrittenBytes {
  /** Per word of memory, a bit for each byte that holds something. */
  readonly written: Uint8Array;
}

/** Whether all bytes from an offset on have been written. */
export function isWritten({ written }: WrittenBytes, offset: number, bytes: number): boolean {
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
export function setWritten({ written }: WrittenBytes, offset: number, bytes: number): void {
  if (((offset | bytes) & 3) === 0) {
    for (let i = offset >> 2; i < (offset + bytes) >> 2; i++) written[i] = WHOLE;
    return;
  }
  for (let i = offset; i < offset + bytes; i++) {
    written[i >> 2] = (written[i >> 2] ?? 0) | (1 << (i & 3));
  }
}

/** Notes that a byte holds nothing. */
export function unsetWritten({ written }: WrittenBytes, offset: number): void {
  written[offset >> 2] = (written[offset >> 2] ?? 0) & ~(1 << (offset & 3));
}
