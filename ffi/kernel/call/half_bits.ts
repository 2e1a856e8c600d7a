/** Numbers as bits of float16, by arithmetic alone: `DataView` of Node 20 and 22 has no `setFloat16`. */

const INFINITY = 0x7c00;
const NAN = 0x7e00;
/** Halfway between the largest finite value and what would follow it: from here on, values are rounded to infinity. */
const OVERFLOW = 65520;
const LEAST_NORMAL = 2 ** -14;
/** The distance of subnormal values. */
const LEAST = 2 ** -24;
/** A double of this size has no fraction, so that a sum with it rounds to an integer, ties to even. */
const NO_FRACTION = 2 ** 52;

const roundToEven = (value: number): number => value + NO_FRACTION - NO_FRACTION;

/** The bits of the nearest float16 (IEEE 754 binary16), ties to even. */
export function halfBits(value: number): number {
  if (Number.isNaN(value)) return NAN;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= OVERFLOW) return sign | INFINITY;
  if (magnitude < LEAST_NORMAL) return sign | roundToEven(magnitude / LEAST);
  // The logarithm of a value just below a power of two may be rounded up to it.
  let exponent = Math.floor(Math.log2(magnitude));
  if (2 ** exponent > magnitude) exponent--;
  const significand = roundToEven(magnitude / 2 ** (exponent - 10));
  // A significand of 2048 adds one to the exponent.
  return sign | (((exponent + 14) << 10) + significand);
}
