/**
 * Numbers and their bits. One scratch buffer, seen through views of each type: nothing outlives a call. As in
 * WebAssembly, the first word is the low one.
 */
const scratch = new ArrayBuffer(8);
/** The scratch buffer as one double. */
export const F64: Float64Array = new Float64Array(scratch);
/** The scratch buffer as two singles. */
export const F32: Float32Array = new Float32Array(scratch);
/** The scratch buffer as two words. */
export const U32: Uint32Array = new Uint32Array(scratch);
/** The scratch buffer as one long word. */
export const U64: BigUint64Array = new BigUint64Array(scratch);

/** The single that 32 bits represent. */
export function singleOf(bits: number): number {
  U32[0] = bits;
  return F32[0] ?? 0;
}

/** The bits of a number that is a single; NaN becomes the NaN of the hardware. */
export function bitsOfSingle(value: number): number {
  if (value !== value) return 0x7fffffff;
  F32[0] = value;
  return U32[0] ?? 0;
}

/** The double that 64 bits represent. */
export function doubleOf(bits: bigint): number {
  U64[0] = bits;
  return F64[0] ?? 0;
}

/** The bits of a double that is not NaN. */
export function bitsOfDouble(value: number): bigint {
  F64[0] = value;
  return U64[0] ?? 0n;
}

/** The low word of a double. */
export function lowWord(value: number): number {
  F64[0] = value;
  return U32[0] ?? 0;
}

/** The high word of a double. */
export function highWord(value: number): number {
  F64[0] = value;
  return U32[1] ?? 0;
}

/** The double next to one that is finite, away from zero or towards it. Zero has no neighbour towards zero. */
export function neighbour(value: number, away: boolean): number {
  const low = lowWord(value);
  const high = highWord(value);
  if (away) {
    U32[0] = low + 1;
    U32[1] = low === 0xffffffff ? high + 1 : high;
  } else {
    U32[0] = low - 1;
    U32[1] = low === 0 ? high - 1 : high;
  }
  return F64[0] ?? 0;
}
