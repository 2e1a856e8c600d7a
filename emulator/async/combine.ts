/**
 * Reductions that copies carry out in memory: which operations there are for which types, and what they do to one
 * element (PTX ISA 9.0, cp.reduce.async.bulk and cp.reduce.async.bulk.tensor). Elements are combined atomically,
 * because blocks in other workers may combine the same ones.
 */
import { BF16_TO_F32, F16_TO_F32 } from "../floats/decode.ts";
import { roundToBf16, roundToF16 } from "../floats/encode.ts";
import { bitsOfDouble, bitsOfSingle, doubleOf, singleOf } from "../floats/pun.ts";
import type { Machine } from "../machine.ts";

export const REDUCTIONS = ["add", "min", "max", "inc", "dec", "and", "or", "xor"] as const;
export type Reduction = typeof REDUCTIONS[number];

export type ReducedType = "u32" | "s32" | "u64" | "s64" | "f16" | "bf16" | "f32" | "f64";

/** From what is there and what comes, both without sign, to what will be there. */
type Combine = (old: number, by: number) => number;
type CombineLong = (old: bigint, by: bigint) => bigint;

/** Operations on the bits of 32-bit words, whatever their type. */
const word: Readonly<Partial<Record<Reduction, Combine>>> = {
  add: (old, by) => (old + by) >>> 0,
  and: (old, by) => (old & by) >>> 0,
  or: (old, by) => (old | by) >>> 0,
  xor: (old, by) => (old ^ by) >>> 0,
};

const long: Readonly<Partial<Record<Reduction, CombineLong>>> = {
  add: (old, by) => BigInt.asUintN(64, old + by),
  and: (old, by) => old & by,
  or: (old, by) => old | by,
  xor: (old, by) => old ^ by,
};

const signed = (bits: bigint): bigint => BigInt.asIntN(64, bits);

/** The smaller and the larger of two narrow floats; a number wins over NaN, and -0 is less than +0. */
function narrowFloat(
  values: Float32Array,
  round: (value: number) => number,
): Readonly<Partial<Record<Reduction, Combine>>> {
  const pick = (choose: (a: number, b: number) => number): Combine => (old, by) => {
    const [a, b] = [values[old] ?? 0, values[by] ?? 0];
    return round(Number.isNaN(a) ? b : Number.isNaN(b) ? a : choose(a, b));
  };
  return {
    add: (old, by) => round((values[old] ?? 0) + (values[by] ?? 0)),
    min: pick(Math.min),
    max: pick(Math.max),
  };
}

const NARROW: Readonly<
  Record<"f16" | "bf16" | "u32" | "s32" | "f32", Readonly<Partial<Record<Reduction, Combine>>>>
> = {
  f16: narrowFloat(F16_TO_F32, roundToF16),
  bf16: narrowFloat(BF16_TO_F32, roundToBf16),
  f32: { add: (old, by) => bitsOfSingle(Math.fround(singleOf(old) + singleOf(by))) },
  u32: {
    ...word,
    min: Math.min,
    max: Math.max,
    inc: (old, by) => old >= by ? 0 : old + 1,
    dec: (old, by) => old === 0 || old > by ? by : old - 1,
  },
  s32: {
    ...word,
    min: (old, by) => Math.min(old | 0, by | 0) >>> 0,
    max: (old, by) => Math.max(old | 0, by | 0) >>> 0,
  },
};

const WIDE: Readonly<
  Record<"u64" | "s64" | "f64", Readonly<Partial<Record<Reduction, CombineLong>>>>
> = {
  u64: { ...long, min: (old, by) => old < by ? old : by, max: (old, by) => old > by ? old : by },
  s64: {
    min: (old, by) => signed(old) < signed(by) ? old : by,
    max: (old, by) => signed(old) > signed(by) ? old : by,
  },
  f64: { add: (old, by) => bitsOfDouble(doubleOf(old) + doubleOf(by)) },
};

/** Combines an element at one location of memory with one at another. */
export type Combiner = (machine: Machine, to: number, from: number) => void;

function narrowCombiner(bytes: 2 | 4, combine: Combine): Combiner {
  const shift = bytes >> 1;
  return ({ views }, to, from) => {
    const view = bytes === 2 ? views.u16 : views.u32;
    const by = view[from >>> shift] ?? 0;
    for (;;) {
      const old = Atomics.load(view, to >>> shift);
      if (Atomics.compareExchange(view, to >>> shift, old, combine(old, by)) === old) return;
    }
  };
}

function wideCombiner(combine: CombineLong): Combiner {
  return ({ views: { u64 } }, to, from) => {
    const by = u64[from >>> 3] ?? 0n;
    for (;;) {
      const old = Atomics.load(u64, to >>> 3);
      if (Atomics.compareExchange(u64, to >>> 3, old, combine(old, by)) === old) return;
    }
  };
}

/** What carries out a reduction of a type; undefined if the type has none such. */
export function combiner(reduction: Reduction, type: ReducedType): Combiner | undefined {
  if (type === "u64" || type === "s64" || type === "f64") {
    const combine = WIDE[type][reduction];
    return combine === undefined ? undefined : wideCombiner(combine);
  }
  const combine = NARROW[type][reduction];
  if (combine === undefined) return undefined;
  return narrowCombiner(type === "f16" || type === "bf16" ? 2 : 4, combine);
}
