/**
 * The register file of a warp: where its registers are. A register file is a piece of the emulator's memory;
 * instructions refer to it by offsets, the same in all warps of a kernel.
 *
 * A row holds one value per lane, lane 0 first, little-endian: 4 bytes a lane for values of up to 32 bits, 8 for
 * 64 bits, 16 for 128. Values narrower than 32 bits have zeros above them. A predicate is one 32-bit word, bit n
 * of which is lane n. Literals and special registers are rows as well, filled before the warp starts, so that
 * every operand is a row.
 */

export const LANES = 32;

/** Words at the start of a register file. */
export const HEADER = {
  /** Where the block's shared memory is, and how many bytes it has. */
  shared: 0,
  sharedBytes: 4,
  /** Where lane 0's local memory is, and how far the next lane's is; each lane's lies in one piece. */
  local: 8,
  localBytes: 12,
  /** Lanes that have not exited. */
  live: 16,
  /** Set by the scheduler: the lanes that are here may run the warp-wide instruction that comes next. */
  forced: 20,
  /** Set when lanes part: those that take the branch, its target, and where the others go on. */
  diverged: 24,
  target: 28,
  other: 32,
} as const;

/** Rows begin here. */
export const HEADER_BYTES = 64;

/** Bytes of a row of values of so many bits; 1 bit: a predicate (16 bytes, so that rows stay aligned). */
export function rowBytes(bits: number): number {
  if (bits === 1) return 16;
  return LANES * (bits <= 32 ? 4 : bits / 8);
}
