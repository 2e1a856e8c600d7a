/**
 * The shadow of a register: which of its bits are undefined, lane by lane. A register has one only where data flow
 * cannot show that it is always defined (`flow.ts`).
 */
import type { Register } from "../../compiler/ptx/func.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { LANES } from "../register_file.ts";
import type { Views } from "../memory.ts";

export interface Shadow {
  readonly register: Register;
  /**
   * Offset in the register file of three words: the lanes in which any bit is undefined, the number of the origin of
   * those bits, and the number of the instruction that assigned them, or 0.
   */
  readonly word: number;
  /**
   * Offset of the row of undefined bits, which has the shape of the register's row; of a predicate the first word.
   * Only lanes of the first word have anything there.
   */
  readonly row: number;
  readonly bits: number;
}

/** Offsets after {@linkcode Shadow.word}. */
export const SHADOW = { origin: 4, line: 8 } as const;
export const SHADOW_BYTES = 16;

/** 32-bit words of a lane's value. */
export function wordsOf(register: Register): number {
  return Math.max(1, TYPES[register.type].bits / 32);
}

/** The lanes of a mask in which a register has undefined bits. */
export function undefinedLanes({ i32 }: Views, w: number, { word }: Shadow, mask: number): number {
  return (i32[(w + word) >>> 2] ?? 0) & mask;
}

/** Makes a register wholly defined in lanes. */
export function clearShadow({ i32 }: Views, w: number, { word }: Shadow, lanes: number): void {
  const at = (w + word) >>> 2;
  i32[at] = (i32[at] ?? 0) & ~lanes;
}

/** Makes all bits of a register undefined in the lanes of `bad`, and none in the other ones of `lanes`. */
export function fillShadow(
  views: Views,
  w: number,
  shadow: Shadow,
  lanes: number,
  bad: number,
): void {
  const { i32 } = views;
  const { bits, row, word } = shadow;
  const at = (w + word) >>> 2;
  i32[at] = ((i32[at] ?? 0) & ~lanes) | (bad & lanes);
  if (bits === 1) return;
  const words = Math.max(1, bits / 32);
  const ones = bits < 32 ? (1 << bits) - 1 : -1;
  const base = (w + row) >>> 2;
  for (let m = bad & lanes; m !== 0; m &= m - 1) {
    const lane = 31 - Math.clz32(m & -m);
    i32.fill(ones, base + words * lane, base + words * (lane + 1));
  }
}

/** Zeros the bits of lanes that are defined, so that the row can be read as it is. */
export function cleanRow(views: Views, w: number, shadow: Shadow, lanes: number): void {
  const { bits, row, word } = shadow;
  if (bits === 1) return;
  const { i32 } = views;
  const words = Math.max(1, bits / 32);
  const base = (w + row) >>> 2;
  const defined = lanes & ~(i32[(w + word) >>> 2] ?? 0);
  for (let m = defined; m !== 0; m &= m - 1) {
    const lane = 31 - Math.clz32(m & -m);
    i32.fill(0, base + words * lane, base + words * (lane + 1));
  }
}

/** Sets the word of lanes after their rows have been written. */
export function settleRow(views: Views, w: number, shadow: Shadow, lanes: number): void {
  const { bits, row, word } = shadow;
  if (bits === 1) return;
  const { i32 } = views;
  const words = Math.max(1, bits / 32);
  const base = (w + row) >>> 2;
  let bad = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((lanes >>> lane) & 1) === 0) continue;
    for (let i = 0; i < words; i++) {
      if ((i32[base + words * lane + i] ?? 0) !== 0) bad |= 1 << lane;
    }
  }
  const at = (w + word) >>> 2;
  i32[at] = ((i32[at] ?? 0) & ~lanes) | bad;
}
