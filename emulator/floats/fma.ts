/** a * b + c, rounded once: of doubles, and of singles in double precision. */
import { addExact, encodeExact, exactOf, multiplyExact } from "./exact.ts";
import { FORMATS } from "./formats.ts";
import { doubleOf } from "./pun.ts";
import { sumToOdd } from "./rounding.ts";

/** a * b + c of singles or narrower, rounded to odd in double precision, where the product is exact. */
export function narrowFma(a: number, b: number, c: number): number {
  return sumToOdd(a * b, c);
}

/** Multiplying by it splits a double in two halves of 26 bits (Veltkamp). */
const SPLIT = 2 ** 27 + 1;
/** Within these bounds of factors, product and summand nothing below overflows, and no error is too small to hold. */
const [LEAST, MOST] = [2 ** -900, 2 ** 990];

/**
 * a * b + c of doubles. The product is split into two doubles without error (Dekker), these are added to c as three
 * doubles without overlap, and the lower two are added with rounding to odd, so that the last sum rounds
 * as the exact one would (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
 */
export function fma64(a: number, b: number, c: number): number {
  const product = a * b;
  const size = Math.abs(product);
  if (!(size > LEAST && size < MOST && Math.abs(c) < MOST)) return rareFma64(a, b, c);
  if (!(Math.abs(a) < MOST && Math.abs(b) < MOST)) return rareFma64(a, b, c);
  const aSplit = a * SPLIT;
  const aHigh = aSplit - (aSplit - a);
  const aLow = a - aHigh;
  const bSplit = b * SPLIT;
  const bHigh = bSplit - (bSplit - b);
  const bLow = b - bHigh;
  const low = aLow * bLow - (((product - aHigh * bHigh) - aLow * bHigh) - aHigh * bLow);
  const sum = c + low;
  const sumPart = sum - c;
  const sumError = (c - (sum - sumPart)) + (low - sumPart);
  const top = product + sum;
  const topPart = top - product;
  const topError = (product - (top - topPart)) + (sum - topPart);
  return top + sumToOdd(sumError, topError);
}

/** Zeros, infinities, NaN, and what is very large or very small. */
function rareFma64(a: number, b: number, c: number): number {
  if (a === 0 || b === 0 || !Number.isFinite(a) || !Number.isFinite(b)) return a * b + c;
  if (!Number.isFinite(c)) return c; // The product may overflow only here.
  const exact = addExact(multiplyExact(exactOf(a), exactOf(b)), exactOf(c));
  if (exact.mantissa === 0n) return 0;
  return doubleOf(BigInt(encodeExact(FORMATS.f64, exact, "rn")));
}
