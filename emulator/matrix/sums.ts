/**
 * Formats of accumulators: from registers to doubles, and rounded once back to registers. The manual leaves order and
 * rounding of the additions to the hardware; here the sum of all products, and then c, is a double that is rounded to
 * nearest even. NaNs are the canonical ones.
 *
 * An H200 gives the same bits for integers, for finite f64, and for nearly all sums in f16. Its sums in f32 are cut off
 * rather than rounded, and differ by up to 2^-22 of the sum of the terms' magnitudes. It is less exact with fp8: up to
 * 2^-10.6 of that in wgmma, which keeps some 13 bits, and in mma with sums in f16, which are rounded half-way as well.
 * Source: PTX ISA 9.0, 9.7.14.5 "mma: Floating point operations", 5.2 "Types".
 */
import { F16_TO_F32 } from "../floats/decode.ts";
import { roundToF16 } from "../floats/encode.ts";
import { LANES } from "../register_file.ts";
import type { Views } from "../memory.ts";
import type { Fragment } from "./fragments.ts";

type Access = (
  views: Views,
  w: number,
  rows: readonly number[],
  fragment: Fragment,
  sums: Float64Array,
) => void;

export interface SumFormat {
  /** Elements in a register. */
  readonly parts: 1 | 2;
  readonly load: Access;
  readonly store: Access;
}

const NAN_F32 = 0x7fffffff;
const NAN_F64 = [0, 0xfff80000] as const;

const positiveZero = (bits: number): number => bits === 0x8000 ? 0 : bits;

const loadF32: Access = ({ f32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) sums[slots[at++] ?? 0] = f32[first + lane] ?? 0;
  }
};

const storeF32: Access = ({ f32, i32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      const sum = sums[slots[at++] ?? 0] ?? 0;
      // A zero is positive, whatever the signs of the terms, as on an H200.
      if (sum === sum) f32[first + lane] = Math.fround(sum) + 0;
      else i32[first + lane] = NAN_F32;
    }
  }
};

const loadF64: Access = ({ f64 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 3;
    for (let lane = 0; lane < LANES; lane++) sums[slots[at++] ?? 0] = f64[first + lane] ?? 0;
  }
};

const storeF64: Access = ({ f64, u32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 3;
    for (let lane = 0; lane < LANES; lane++) {
      const sum = sums[slots[at++] ?? 0] ?? 0;
      if (sum === sum) f64[first + lane] = sum;
      else u32.set(NAN_F64, 2 * (first + lane));
    }
  }
};

const loadS32: Access = ({ i32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) sums[slots[at++] ?? 0] = i32[first + lane] ?? 0;
  }
};

/** Sums of products are far below 2^53, so doubles hold them exactly; storing takes them modulo 2^32. */
const storeS32: Access = ({ i32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) i32[first + lane] = sums[slots[at++] ?? 0] ?? 0;
  }
};

const storeSaturated: Access = ({ i32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      const sum = sums[slots[at++] ?? 0] ?? 0;
      i32[first + lane] = Math.min(Math.max(sum, -0x80000000), 0x7fffffff);
    }
  }
};

const loadF16: Access = ({ u32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      const word = u32[first + lane] ?? 0;
      sums[slots[at++] ?? 0] = F16_TO_F32[word & 0xffff] ?? 0;
      sums[slots[at++] ?? 0] = F16_TO_F32[word >>> 16] ?? 0;
    }
  }
};

const storeF16: Access = ({ i32 }, w, rows, { slots }, sums) => {
  let at = 0;
  for (const row of rows) {
    const first = (w + row) >>> 2;
    for (let lane = 0; lane < LANES; lane++) {
      const low = positiveZero(roundToF16(sums[slots[at++] ?? 0] ?? 0));
      i32[first + lane] = low | positiveZero(roundToF16(sums[slots[at++] ?? 0] ?? 0)) << 16;
    }
  }
};

export const SUM_FORMATS = {
  f16: { parts: 2, load: loadF16, store: storeF16 },
  f32: { parts: 1, load: loadF32, store: storeF32 },
  f64: { parts: 1, load: loadF64, store: storeF64 },
  s32: { parts: 1, load: loadS32, store: storeS32 },
  satfinite: { parts: 1, load: loadS32, store: storeSaturated },
} as const satisfies Record<string, SumFormat>;

export type SumFormatName = keyof typeof SUM_FORMATS;

export function isSumFormatName(name: string | undefined): name is SumFormatName {
  return name !== undefined && Object.hasOwn(SUM_FORMATS, name);
}
