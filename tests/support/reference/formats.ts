/**
 * The floating types by their definition: a table of all values for those of 8 and 16 bits, `Math.fround` for
 * float, the number itself for double. Shares nothing with the compiler's arithmetic.
 */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";

interface Fields {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  /** The largest exponent field means infinity and NaN; otherwise only the last pattern is a NaN. */
  readonly ieee: boolean;
  /** Values too large become the largest finite one (language.md, 9.2). */
  readonly saturates: boolean;
}

export type FloatName = "float8e4" | "float8e5" | "float16" | "bfloat16" | "float32" | "float64";

const FIELDS: Readonly<Record<FloatName, Fields>> = {
  float8e4: { exponentBits: 4, mantissaBits: 3, ieee: false, saturates: true },
  float8e5: { exponentBits: 5, mantissaBits: 2, ieee: true, saturates: true },
  float16: { exponentBits: 5, mantissaBits: 10, ieee: true, saturates: false },
  bfloat16: { exponentBits: 8, mantissaBits: 7, ieee: true, saturates: false },
  float32: { exponentBits: 8, mantissaBits: 23, ieee: true, saturates: false },
  float64: { exponentBits: 11, mantissaBits: 52, ieee: true, saturates: false },
};

export function isFloatName(name: ScalarName): name is FloatName {
  return Object.hasOwn(FIELDS, name);
}

/** Bits of the significand, the hidden one included. */
export function precisionOf(type: FloatName): number {
  return FIELDS[type].mantissaBits + 1;
}

const biasOf = ({ exponentBits }: Fields): number => 2 ** (exponentBits - 1) - 1;

/** Exponent of the smallest normal number. */
export function minExponentOf(type: FloatName): number {
  return 1 - biasOf(FIELDS[type]);
}

/** The finite values from 0 upwards, by bit pattern. */
function tableOf(fields: Fields): Float64Array {
  const { exponentBits, mantissaBits, ieee } = fields;
  const patterns = 2 ** (exponentBits + mantissaBits);
  const count = ieee ? patterns - 2 ** mantissaBits : patterns - 1;
  return Float64Array.from({ length: count }, (_, pattern) => {
    const field = Math.floor(pattern / 2 ** mantissaBits);
    const fraction = (pattern % 2 ** mantissaBits) / 2 ** mantissaBits;
    const exponent = Math.max(field, 1) - biasOf(fields);
    return (fraction + (field === 0 ? 0 : 1)) * 2 ** exponent;
  });
}

const TABLES: ReadonlyMap<FloatName, Float64Array> = new Map(
  (["float8e4", "float8e5", "float16", "bfloat16"] as const).map((
    name,
  ) => [name, tableOf(FIELDS[name])]),
);

/** The largest finite value. */
export function largestOf(type: FloatName): number {
  if (type === "float64") return Number.MAX_VALUE;
  const table = TABLES.get(type);
  return table === undefined ? (2 - 2 ** -23) * 2 ** 127 : must(table.at(-1), "a value");
}

/** The pattern of the largest value that is not greater. */
function patternBelow(table: Float64Array, magnitude: number): number {
  let [low, high] = [0, table.length]; // table[low] <= magnitude < table[high]
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((table[middle] ?? 0) <= magnitude) low = middle;
    else high = middle;
  }
  return low;
}

/** The nearest value of the type, ties to the even pattern. */
export function roundTo(value: number, type: FloatName): number {
  if (type === "float64" || Number.isNaN(value) || value === 0) return value;
  if (type === "float32") return Math.fround(value);
  const table = must(TABLES.get(type), type);
  const magnitude = Math.abs(value);
  const low = patternBelow(table, magnitude);
  const high = low + 1;
  const below = must(table[low], "a value");
  const step = below - must(table[low - 1] ?? (high < table.length ? 0 : undefined), "a value");
  const above = table[high] ?? below + step;
  const up = magnitude - below > above - magnitude ||
    (magnitude - below === above - magnitude && low % 2 === 1);
  const limit = FIELDS[type].saturates ? largestOf(type) : Infinity;
  const rounded = up ? (high < table.length ? above : limit) : below;
  return value < 0 ? -rounded : rounded;
}

/** An integer rounded once, however long it is. */
export function roundInteger(value: bigint, type: FloatName): number {
  const size = value < 0n ? -value : value;
  const length = size.toString(2).length;
  // 53 bits are exact; Number() itself rounds right to double.
  if (length <= 53 || type === "float64") return roundTo(Number(value), type);
  // Narrower types see from 52 leading bits and one for the rest where they have to round.
  const drop = BigInt(length - 52);
  const rest = size & ((1n << drop) - 1n);
  const sticky = Number((size >> drop) * 2n + (rest === 0n ? 0n : 1n)) * 2 ** (Number(drop) - 1);
  return roundTo(value < 0n ? -sticky : sticky, type);
}

/** The distance of neighbouring values at a magnitude. */
export function spacing(magnitude: number, type: FloatName): number {
  const least = minExponentOf(type);
  const exponent = magnitude === Infinity || magnitude === 0
    ? least
    : Math.max(least, Math.floor(Math.log2(Math.abs(magnitude))));
  return 2 ** Math.max(-1074, exponent - FIELDS[type].mantissaBits);
}

/** Numbers and their bits; one for all, because a new one takes longer than what is asked of it. */
const VIEW = new DataView(new ArrayBuffer(8));

/** The value of a bit pattern. */
export function fromBits(pattern: bigint, type: FloatName): number {
  if (type === "float64") {
    VIEW.setBigUint64(0, BigInt.asUintN(64, pattern));
    return VIEW.getFloat64(0);
  }
  if (type === "float32") {
    VIEW.setUint32(0, Number(BigInt.asUintN(32, pattern)));
    return VIEW.getFloat32(0);
  }
  const { exponentBits, mantissaBits, ieee } = FIELDS[type];
  const sign = BigInt(exponentBits + mantissaBits);
  const magnitude = Number(pattern & ((1n << sign) - 1n));
  const table = must(TABLES.get(type), type);
  const value = table[magnitude] ??
    (ieee && magnitude === table.length ? Infinity : NaN);
  return (pattern >> sign) & 1n ? -value : value;
}

/** The bit pattern of a value of the type; undefined for NaN, which has many. */
export function toBits(value: number, type: FloatName): bigint | undefined {
  if (Number.isNaN(value)) return undefined;
  if (type === "float64") {
    VIEW.setFloat64(0, value);
    return VIEW.getBigUint64(0);
  }
  if (type === "float32") {
    VIEW.setFloat32(0, value);
    return BigInt(VIEW.getUint32(0));
  }
  const { exponentBits, mantissaBits } = FIELDS[type];
  const table = must(TABLES.get(type), type);
  const magnitude = Math.abs(value);
  const pattern = magnitude === Infinity ? table.length : patternBelow(table, magnitude);
  const negative = value < 0 || Object.is(value, -0);
  return BigInt(pattern) + (negative ? 1n << BigInt(exponentBits + mantissaBits) : 0n);
}

/** Bits from the highest to the lowest that is set. */
export function significantBits(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || !Number.isFinite(magnitude)) return 0;
  return Math.floor(Math.log2(magnitude)) - Math.log2(grainOf(magnitude)) + 1;
}

const [PUN, WORDS] =
  ((bytes: ArrayBuffer) => [new Float64Array(bytes), new Uint32Array(bytes)] as const)(
    new ArrayBuffer(8),
  );

/** The largest power of two that a finite number is a multiple of; Infinity for 0. */
export function grainOf(value: number): number {
  if (value === 0) return Infinity;
  PUN[0] = value;
  const [low = 0, high = 0] = WORDS;
  const field = (high >>> 20) & 0x7ff;
  const upper = (high & 0xfffff) | (field === 0 ? 0 : 0x100000);
  const lowest = (word: number): number => 31 - Math.clz32(word & -word);
  const zeros = low === 0 ? 32 + lowest(upper) : lowest(low);
  return 2 ** (Math.max(field, 1) - 1075 + zeros);
}
