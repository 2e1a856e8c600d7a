/** Random cases of a kernel: sizes, layouts of the tensors and their elements, all from one seed. */
import type { DType } from "../ffi/mod.ts";

/** How the elements of a tensor lie in memory. */
export const LAYOUTS = ["contiguous", "offset", "padded", "transposed"] as const;
/** One of {@linkcode LAYOUTS}. */
export type Layout = typeof LAYOUTS[number];

/** Which elements are drawn. */
export const VALUES = ["integers", "uniform", "special"] as const;
/** One of {@linkcode VALUES}. */
export type Values = typeof VALUES[number];

/** A case: what inputs are made of. */
export interface Case {
  /** Of the elements. */
  readonly seed: number;
  readonly sizes: Readonly<Record<string, number>>;
  /** By input. */
  readonly layouts: Readonly<Record<string, Layout>>;
  /** By input. */
  readonly values: Readonly<Record<string, Values>>;
}

/** Numbers in [0, 1), the same for the same seed (the generator mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed for something with a name. */
export function seedOf(seed: number, name: string): number {
  let hash = seed | 0;
  for (const char of name) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/** An extent: often the least, the most, or beside a multiple of a power of two, where tiles end. */
export function drawSize(random: () => number, least: number, most: number): number {
  const kind = random();
  const any = least + Math.floor(random() * (most - least + 1));
  const power = 2 ** Math.floor(random() * (Math.log2(Math.max(most, 1)) + 1));
  const near = Math.ceil(any / power) * power + Math.floor(random() * 3) - 1;
  const drawn = kind < 0.1 ? least : kind < 0.2 ? most : kind < 0.6 ? near : any;
  return Math.min(most, Math.max(least, drawn));
}

/** One of some things. */
export function pick<T>(random: () => number, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

const SPECIAL = [0, -0, 1, -1, Infinity, -Infinity, NaN] as const;

/** The largest finite and the smallest positive number of float types. */
const EXTREMES: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  float16: [65504, 2 ** -24],
  bfloat16: [(2 - 2 ** -7) * 2 ** 127, 2 ** -133],
  float32: [(2 - 2 ** -23) * 2 ** 127, 2 ** -149],
  float64: [Number.MAX_VALUE, Number.MIN_VALUE],
  float8e4: [448, 2 ** -9],
  float8e5: [57344, 2 ** -16],
};

const INTEGER_BITS: Readonly<Partial<Record<DType, number>>> = {
  bool: 1,
  int8: 7,
  uint8: 8,
  int16: 15,
  uint16: 16,
  int32: 31,
  uint32: 32,
  int64: 62,
  uint64: 63,
};

/** Draws elements of a type one after the other. */
export function elementSource(
  dtype: DType,
  values: Values,
  random: () => number,
): () => number | bigint {
  const extremes = EXTREMES[dtype];
  if (extremes === undefined) return integerSource(dtype, values, random);
  const [largest, smallest] = extremes;
  const special: readonly number[] = [...SPECIAL, largest, -largest, smallest, -smallest];
  return () => {
    if (values === "integers") return Math.floor(random() * 17) - 8;
    if (values === "special" && random() < 0.25) {
      return special[Math.floor(random() * special.length)] ?? 0;
    }
    return 2 * random() - 1;
  };
}

function integerSource(
  dtype: DType,
  values: Values,
  random: () => number,
): () => number | bigint {
  const bits = INTEGER_BITS[dtype] ?? 1;
  const signed = dtype.startsWith("int");
  const isWide = dtype.endsWith("int64");
  return () => {
    const magnitude = values === "special" && random() < 0.25
      ? 2 ** bits - 1
      : Math.floor(random() * Math.min(2 ** bits, 101));
    const value = signed && random() < 0.5 ? -magnitude : magnitude;
    return isWide ? BigInt(value) : value;
  };
}
