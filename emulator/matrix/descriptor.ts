/**
 * Matrices in shared memory as `wgmma` sees them, by a 64-bit descriptor:
 *
 *     bits 0..13    start address       16..29  leading byte offset     32..45  stride byte offset (all without 4 zeros)
 *     bits 49..51   base offset         62..63  swizzle: none, 128, 64, 32 bytes
 *
 * A matrix is made of lines of 16-byte chunks. Along k ("K-major") a line is a row of a or a column of b; otherwise
 * ("MN-major") a line is all that has the same k. Eight lines that lie one after the other, each as long as the swizzle
 * says (16 bytes without), are a panel:
 *
 *                  panel of the next 8 lines       panel of the next chunks of the same lines
 *     K-major      stride byte offset              leading byte offset (without swizzle; else never needed)
 *     MN-major     stride byte offset              leading byte offset
 *      without swizzle: the other way round
 *
 * The swizzle exchanges chunks of a line by exclusive or with the line's number, as far as the line has chunks. It acts
 * on bits of the address: bits 7 to 9 number the 128-byte lines. Where panels do not begin at a multiple of
 * eight such lines, the base offset has those bits of the panel's address. (An H200 agrees for descriptors with random
 * fields, offsets that overlap and every base offset included.)
 * Source: PTX ISA 9.0, 9.7.15.5.1 "Shared memory matrix layout", "Strides", "Matrix descriptor format".
 */

/** Whether neighbours in memory are neighbours along k, or along m or n. */
export type Major = "k" | "mn";

export const CHUNK_BYTES = 16;
const LINES = 8;

/** Shared memory that a descriptor can name. */
const ADDRESSES = 0x3ffff;

/** Chunks of a line by the code of the swizzle. */
const LINE_CHUNKS = [1, 8, 4, 2] as const;

export interface SharedMatrix {
  readonly start: number;
  /** From one line to the next, from eight lines to the next eight. */
  readonly line: number;
  readonly lines: number;
  /** Chunks of a line in a panel, less one, which is the mask of the swizzle; and how many bits number them. */
  readonly chunkMask: number;
  readonly chunkShift: number;
  /** From a panel to the one with the next chunks. */
  readonly panel: number;
  readonly baseOffset: number;
}

export function readDescriptor(low: number, high: number, major: Major): SharedMatrix {
  const field = (word: number): number => (word & 0x3fff) << 4;
  const chunks = LINE_CHUNKS[high >>> 30] ?? 1;
  const leading = field(low >>> 16);
  const stride = field(high);
  const exchanged = major === "mn" && chunks === 1;
  return {
    start: field(low),
    line: CHUNK_BYTES * chunks,
    lines: exchanged ? leading : stride,
    chunkMask: chunks - 1,
    chunkShift: Math.log2(chunks),
    panel: exchanged ? stride : leading,
    baseOffset: (high >>> 17) & 7,
  };
}

/** The address of a chunk, in the shared memory of the block. */
export function chunkAddress(matrix: SharedMatrix, line: number, chunk: number): number {
  const { start, lines, chunkMask, chunkShift, panel, baseOffset } = matrix;
  const address = start +
    (line % LINES) * matrix.line + (line >> 3) * lines +
    (chunk & chunkMask) * CHUNK_BYTES + (chunk >> chunkShift) * panel;
  const pattern = ((address >> 7) - baseOffset) & chunkMask;
  return (address ^ (pattern << 4)) & ADDRESSES;
}
