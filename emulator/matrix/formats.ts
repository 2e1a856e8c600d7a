/**
 * Formats of multiplicands: bits to numbers. All are exact as doubles, and so are their products.
 * Source: PTX ISA 9.0, 5.2.3 "Alternate floating-point data formats"; 9.7.14.2 for the matrix types.
 */
import { BF16_TO_F32, E4M3_TO_F32, E5M2_TO_F32, F16_TO_F32 } from "../floats/decode.ts";
import { singleOf } from "../floats/pun.ts";
import { LANES } from "../register_file.ts";
import type { Views } from "../memory.ts";
import type { Fragment } from "./fragments.ts";

export interface Format {
  readonly bits: 1 | 4 | 8 | 16 | 32 | 64;
  /** Values by their bits, of formats up to 16 bits. */
  readonly values: Float32Array | undefined;
}

function integers(bits: number, signed: boolean): Float32Array {
  const count = 2 ** bits;
  return Float32Array.from(
    { length: count },
    (_, i) => signed && i >= count / 2 ? i - count : i,
  );
}

export const FORMATS = {
  f16: { bits: 16, values: F16_TO_F32 },
  bf16: { bits: 16, values: BF16_TO_F32 },
  e4m3: { bits: 8, values: E4M3_TO_F32 },
  e5m2: { bits: 8, values: E5M2_TO_F32 },
  s8: { bits: 8, values: integers(8, true) },
  u8: { bits: 8, values: integers(8, false) },
  s4: { bits: 4, values: integers(4, true) },
  u4: { bits: 4, values: integers(4, false) },
  b1: { bits: 1, values: integers(1, false) },
  // Bits as signs: their products add up to half the number of different bits less half that of equal ones.
  "b1 xor a": { bits: 1, values: Float32Array.of(-0.5, 0.5) },
  "b1 xor b": { bits: 1, values: Float32Array.of(1, -1) },
  tf32: { bits: 32, values: undefined },
  f64: { bits: 64, values: undefined },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

export function isFormatName(name: string | undefined): name is FormatName {
  return name !== undefined && Object.hasOwn(FORMATS, name);
}

/** tf32 is f32 whose 13 low bits are ignored. */
const TF32_BITS = ~0x1fff;

/** Reads a multiplicand from registers into a matrix. */
export type FragmentReader = (views: Views, w: number, out: Float64Array) => void;

/** The reader of a fragment that lies in the given rows of the register file. */
export function fragmentReader(
  format: Format,
  { slots, parts }: Fragment,
  rows: readonly number[],
): FragmentReader {
  const { bits, values } = format;
  if (values !== undefined) {
    const low = values.length - 1;
    return ({ i32 }, w, out) => {
      let at = 0;
      for (const row of rows) {
        const first = (w + row) >>> 2;
        for (let lane = 0; lane < LANES; lane++) {
          let word = i32[first + lane] ?? 0;
          for (let part = 0; part < parts; part++) {
            out[slots[at++] ?? 0] = values[word & low] ?? 0;
            word >>= bits;
          }
        }
      }
    };
  }
  if (bits === 64) {
    return ({ f64 }, w, out) => {
      let at = 0;
      for (const row of rows) {
        const first = (w + row) >>> 3;
        for (let lane = 0; lane < LANES; lane++) out[slots[at++] ?? 0] = f64[first + lane] ?? 0;
      }
    };
  }
  return ({ i32 }, w, out) => {
    let at = 0;
    for (const row of rows) {
      const first = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        out[slots[at++] ?? 0] = singleOf(TF32_BITS & (i32[first + lane] ?? 0));
      }
    }
  };
}

/** Reads 16 bytes of memory into elements `at`, `at + stride`, … of a matrix. */
export type ChunkReader = (
  views: Views,
  location: number,
  out: Float64Array,
  at: number,
  stride: number,
) => void;

export function chunkReader(format: Format): ChunkReader {
  const { bits, values } = format;
  if (values === undefined) {
    return ({ i32 }, location, out, at, stride) => {
      for (let i = 0; i < 4; i++) {
        out[at + i * stride] = singleOf(TF32_BITS & (i32[(location >>> 2) + i] ?? 0));
      }
    };
  }
  if (bits === 16) {
    return ({ u16 }, location, out, at, stride) => {
      for (let i = 0; i < 8; i++) {
        out[at + i * stride] = values[u16[(location >>> 1) + i] ?? 0] ?? 0;
      }
    };
  }
  return ({ u8 }, location, out, at, stride) => {
    for (let i = 0; i < 16; i++) out[at + i * stride] = values[u8[location + i] ?? 0] ?? 0;
  };
}
