/** Inputs: repeatable random numbers, and the values that arithmetic trips over. */
import { must } from "../../compiler/support/bug.ts";

/** Numbers below 2^32 from a seed (Marsaglia's xorshift with a multiplication). */
export function randomWords(seed: number): () => number {
  let state = (seed * 0x9e3779b1 + 0x7f4a7c15) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.imul(state, 0x2545f491) >>> 0;
  };
}

/** Whole numbers from `low` to `high`, both included. */
export function integers(seed: number, count: number, low: number, high: number): number[] {
  const next = randomWords(seed);
  return Array.from({ length: count }, () => low + next() % (high - low + 1));
}

/** Words with many of the values at which integer arithmetic changes its mind. */
export function edgyWords(seed: number, count: number): Uint32Array<ArrayBuffer> {
  const next = randomWords(seed);
  const special = [0, 1, 2, 3, 7, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x7fffffff, 0x80000000];
  return Uint32Array.from({ length: count }, () => {
    const pick = next() % 4;
    const value = must(special[next() % special.length], "special value");
    if (pick === 0) return value;
    if (pick === 1) return ~value;
    if (pick === 2) return next() >>> next() % 32;
    return next();
  });
}

/** The same with 64 bits. */
export function edgyLongs(seed: number, count: number): BigUint64Array<ArrayBuffer> {
  const words = edgyWords(seed, 2 * count);
  return BigUint64Array.from({ length: count }, (_, i) => {
    const [low = 0, high = 0] = words.subarray(2 * i);
    const value = (BigInt(high) << 32n) | BigInt(low);
    return i % 3 === 0 ? BigInt.asUintN(64, BigInt.asIntN(32, value)) : value;
  });
}

/** Singles of all magnitudes, with zeros, infinities, NaN and subnormal numbers among them. */
export function edgySingles(seed: number, count: number): Float32Array<ArrayBuffer> {
  const words = edgyWords(seed, count);
  const next = randomWords(seed + 1);
  const special = [
    0,
    0x80000000,
    1,
    0x807fffff,
    0x00800000,
    0x7f7fffff,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0x3f800000,
    0xbf800000,
    0x40000000,
  ];
  const bits = words.map((word, i) => {
    if (i % 5 === 0) return must(special[next() % special.length], "special value");
    // Most of them of moderate size, so that sums and products mean something.
    if (i % 5 < 4) return ((word & 0x807fffff) | ((117 + next() % 20) << 23)) >>> 0;
    return next();
  });
  return new Float32Array(bits.buffer);
}

/** Doubles of that kind. */
export function edgyDoubles(seed: number, count: number): Float64Array<ArrayBuffer> {
  const next = randomWords(seed);
  const special = [
    0,
    -0,
    5e-324,
    -2.5e-310,
    2 ** -1022,
    Number.MAX_VALUE,
    Infinity,
    -Infinity,
    NaN,
    1,
    -1,
    0.5,
  ];
  return Float64Array.from({ length: count }, (_, i) => {
    if (i % 5 === 0) return must(special[next() % special.length], "special value");
    const value = (next() / 2 ** 32 + next() / 2 ** 64 + 1) * 2 ** (next() % 24 - 12);
    return next() % 2 === 0 ? value : -value;
  });
}

/** Numbers spread evenly over a range. */
export function spread(seed: number, count: number, low: number, high: number): number[] {
  const next = randomWords(seed);
  return Array.from({ length: count }, () => low + (high - low) * (next() / 2 ** 32));
}
