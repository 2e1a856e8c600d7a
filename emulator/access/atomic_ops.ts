/**
 * What atomic operations do to a value (PTX ISA 9.0, 9.7.13 atom, red and cp.reduce.async.bulk). Values are bits without
 * sign.
 */
import { BF16_TO_F32, F16_TO_F32 } from "../floats/decode.ts";
import { roundToBf16, roundToF16 } from "../floats/encode.ts";
import { firstNan } from "../floats/nan.ts";
import { bitsOfDouble, bitsOfSingle, doubleOf, singleOf } from "../floats/pun.ts";

/** From what is there and what comes to what will be there. */
export type Update = (old: number, by: number) => number;
export type LongUpdate = (old: bigint, by: bigint) => bigint;

type Updates<U> = Readonly<Record<string, U>>;

const WORDS: Updates<Update> = {
  add: (old, by) => (old + by) >>> 0,
  and: (old, by) => (old & by) >>> 0,
  or: (old, by) => (old | by) >>> 0,
  xor: (old, by) => (old ^ by) >>> 0,
  exch: (_, by) => by,
};

const LONGS: Updates<LongUpdate> = {
  add: (old, by) => BigInt.asUintN(64, old + by),
  and: (old, by) => old & by,
  or: (old, by) => old | by,
  xor: (old, by) => old ^ by,
  exch: (_, by) => by,
};

const signed = (bits: bigint): bigint => BigInt.asIntN(64, bits);

/** add, min and max of floats; a number wins over NaN, and -0 is less than +0. */
function floatUpdates(
  decode: (bits: number) => number,
  round: (value: number) => number,
): Updates<Update> {
  const pick = (choose: (a: number, b: number) => number): Update => (old, by) => {
    const [a, b] = [decode(old), decode(by)];
    return round(a !== a ? b : b !== b ? a : choose(a, b));
  };
  return {
    add: (old, by) => round(decode(old) + decode(by)),
    min: pick(Math.min),
    max: pick(Math.max),
  };
}

/** The same for both halves of a word. */
function halves(updates: Updates<Update>): Updates<Update> {
  return Object.fromEntries(
    Object.entries(updates).map(([name, update]): [string, Update] => [
      name,
      (old, by) =>
        ((update(old >>> 16, by >>> 16) << 16) | update(old & 0xffff, by & 0xffff)) >>> 0,
    ]),
  );
}

const F16 = floatUpdates((bits) => F16_TO_F32[bits] ?? 0, roundToF16);
const BF16 = floatUpdates((bits) => BF16_TO_F32[bits] ?? 0, roundToBf16);
const F32 = floatUpdates(singleOf, (value) => bitsOfSingle(Math.fround(value)));

/** A sum of doubles; NaN keeps the payload of an operand. */
const addDouble: LongUpdate = (old, by) => {
  const sum = doubleOf(old) + doubleOf(by);
  return sum === sum ? bitsOfDouble(sum) : firstNan(old, by);
};

const flushed = (bits: number): number => (bits & 0x7f800000) === 0 ? bits & 0x80000000 : bits;

/** By type; 32 bits and less. */
const NARROW: Readonly<Record<string, Updates<Update>>> = {
  b32: WORDS,
  u32: {
    ...WORDS,
    min: Math.min,
    max: Math.max,
    inc: (old, by) => old >= by ? 0 : old + 1,
    dec: (old, by) => old === 0 || old > by ? by : old - 1,
  },
  s32: {
    ...WORDS,
    min: (old, by) => Math.min(old | 0, by | 0) >>> 0,
    max: (old, by) => Math.max(old | 0, by | 0) >>> 0,
  },
  f16: F16,
  bf16: BF16,
  f16x2: halves(F16),
  bf16x2: halves(BF16),
  f32: F32,
};

const WIDE: Readonly<Record<string, Updates<LongUpdate>>> = {
  b64: LONGS,
  u64: { ...LONGS, min: (old, by) => old < by ? old : by, max: (old, by) => old > by ? old : by },
  s64: {
    ...LONGS,
    min: (old, by) => signed(old) < signed(by) ? old : by,
    max: (old, by) => signed(old) > signed(by) ? old : by,
  },
  f64: { add: addDouble },
};

/** Sums of singles in global memory: subnormal numbers become zeros (PTX ISA 9.0, 9.7.13 atom). */
const addFlushed: Update = (old, by) => {
  const sum = bitsOfSingle(Math.fround(singleOf(flushed(old)) + singleOf(flushed(by))));
  return flushed(sum) >>> 0;
};

/** Sums of doubles in global memory: NaN is passed on as it is, that of the instruction first (as an H200 does). */
const addDoubleGlobally: LongUpdate = (old, by) => {
  for (const bits of [by, old]) if (Number.isNaN(doubleOf(bits))) return bits;
  return addDouble(old, by);
};

/** What an operation does to a value of a type of at most 32 bits, in global or in shared memory. */
export function narrowUpdate(
  operation: string,
  type: string,
  memory: "global" | "shared",
): Update | undefined {
  if (memory === "global" && type === "f32" && operation === "add") return addFlushed;
  return NARROW[type]?.[operation];
}

/** What an operation does to a value of a type of 64 bits, in global or in shared memory. */
export function wideUpdate(
  operation: string,
  type: string,
  memory: "global" | "shared",
): LongUpdate | undefined {
  if (memory === "global" && type === "f64" && operation === "add") return addDoubleGlobally;
  return WIDE[type]?.[operation];
}
