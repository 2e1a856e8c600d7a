/**
 * Sums and products of many elements, whose order the language leaves open. Where every order gives the same,
 * because all partial results fit the type, the result is exact.
 */
import {
  exact,
  type FloatCell,
  isExact,
  notZero,
  rounded,
  type Terms,
  UNKNOWN_FLOAT,
} from "./cell.ts";
import {
  type FloatName,
  grainOf,
  largestOf,
  minExponentOf,
  precisionOf,
  roundTo,
  significantBits,
  spacing,
} from "./formats.ts";

/** Sum of the magnitudes, and the power of two that all are multiples of. */
function measure(
  values: readonly number[],
): { readonly magnitude: number; readonly grain: number } {
  const finite = values.filter(Number.isFinite);
  return {
    magnitude: finite.reduce((sum, value) => sum + Math.abs(value), 0),
    grain: finite.reduce((least, value) => Math.min(least, grainOf(value)), Infinity),
  };
}

/** Whether multiples of `grain` up to `magnitude` are all values of the type with so many bits. */
function fits(magnitude: number, grain: number, bits: number, type: FloatName): boolean {
  if (magnitude === 0) return true;
  return magnitude / grain <= 2 ** bits && grain >= spacing(0, type);
}

/** The sum in any order, each addition rounded to `type`. */
export function sumOf(cells: readonly FloatCell[], type: FloatName): FloatCell {
  const values = cells.map(({ value }) => value);
  const errors = cells.reduce((sum, { error, slack }) => sum + error + slack, 0);
  const sum = values.reduce((total, value) => total + value, 0);
  const { magnitude, grain } = measure(values);
  if (cells.length === 1) return cells[0] ?? UNKNOWN_FLOAT;
  if (errors === Infinity || magnitude > largestOf(type)) return UNKNOWN_FLOAT;
  if (!Number.isFinite(sum)) return errors === 0 ? exact(sum) : UNKNOWN_FLOAT;
  if (errors === 0 && fits(magnitude, grain, precisionOf(type), type)) return exactSum(sum, values);
  const rounding = (cells.length - 1) * spacing(magnitude + errors, type);
  return rounded(sum, errors + rounding, type);
}

/** A sum may begin with +0, so the sign of a sum of nothing but -0 is open. */
function exactSum(sum: number, values: readonly number[]): FloatCell {
  return values.every((value) => Object.is(value, -0))
    ? { kind: "float", value: sum, error: 2 ** -1074, slack: 0 }
    : exact(sum);
}

/** The product in any order, each multiplication rounded to `type`. */
export function productOf(cells: readonly FloatCell[], type: FloatName): FloatCell {
  if (cells.length === 1) return cells[0] ?? UNKNOWN_FLOAT;
  if (!cells.every(isExact)) return UNKNOWN_FLOAT;
  const values = cells.map(({ value }) => value);
  const largest = values.reduce((p, value) => p * Math.max(1, Math.abs(value) || 1), 1);
  const least = values.reduce((p, value) => p * Math.min(1, Math.abs(value) || 1), 1);
  const product = values.reduce((p, value) => p * value, 1);
  if (Number.isNaN(product)) return exact(NaN);
  if (!(largest <= largestOf(type)) || least < 2 ** minExponentOf(type)) {
    return values.some((value) => !Number.isFinite(value)) && least === 1
      ? exact(product)
      : UNKNOWN_FLOAT;
  }
  // A power of two adds no digits.
  const bits = values.map(significantBits).reduce((sum, one) => sum + (one > 1 ? one : 0), 1);
  if (bits <= precisionOf(type)) return exact(product);
  return rounded(product, cells.length * spacing(product, type), type);
}

/** An element of `@`: products of pairs, exact, summed with so many bits in any order. */
export function dotOf(
  lhs: readonly FloatCell[],
  rhs: readonly FloatCell[],
  type: FloatName,
  bits: number,
): FloatCell {
  const products = lhs.map((a, k) => {
    const b = rhs[k] ?? UNKNOWN_FLOAT;
    const error = isExact(a) && isExact(b)
      ? productError(a.value, b.value)
      : notZero(Math.abs(a.value) * b.error + Math.abs(b.value) * a.error + a.error * b.error);
    const value = a.value * b.value;
    // A fused product does not overflow before it is added.
    const overflows = Math.abs(value) === Infinity && Number.isFinite(a.value) &&
      Number.isFinite(b.value);
    return { value, error: overflows ? Infinity : error };
  });
  const sum = products.reduce((total, { value }) => total + value, 0);
  const errors = products.reduce((total, { error }) => total + error, 0);
  const { magnitude, grain } = measure(products.map(({ value }) => value));
  if (!(errors < Infinity) || magnitude > largestOf(type)) return UNKNOWN_FLOAT;
  if (!Number.isFinite(sum)) return errors === 0 ? exact(sum) : UNKNOWN_FLOAT;
  const terms: Terms = { count: products.length, magnitude, grain, bits };
  const result = errors === 0 && fits(magnitude, grain, bits, type)
    ? exactSum(roundTo(sum, type), products.map(({ value }) => value))
    : rounded(sum, errors + summationError(terms, magnitude), type);
  return { ...result, terms };
}

/**
 * The same of products that are exact multiples of a power of two; undefined where their sum does not fit the bits. Each product
 * of a double is exact then too.
 */
export function exactDot(
  products: Float64Array,
  grain: number,
  type: FloatName,
  bits: number,
): FloatCell | undefined {
  let [sum, magnitude] = [0, 0];
  for (const product of products) {
    sum += product;
    magnitude += Math.abs(product);
  }
  if (magnitude > largestOf(type) || !fits(magnitude, grain, bits, type)) return undefined;
  const result = exactSum(roundTo(sum, type), magnitude === 0 ? [...products] : [sum]);
  return { ...result, terms: { count: products.length, magnitude, grain, bits } };
}

/**
 * A fused product is rounded only when it is added. So one that a double does not have may end otherwise, if only by its sign
 * where it is below all numbers.
 */
function productError(a: number, b: number): number {
  const isFinite = Number.isFinite(a) && Number.isFinite(b);
  if (a === 0 || b === 0 || !isFinite) return 0;
  const fits = significantBits(a) + significantBits(b) <= precisionOf("float64") &&
    grainOf(a) * grainOf(b) > 0;
  return fits ? 0 : spacing(Math.abs(a * b), "float64");
}

/** Each step of a summation loses at most two units in the last of its bits, or one of the least number. */
function summationError({ count, bits }: Terms, magnitude: number): number {
  const least = spacing(0, bits > precisionOf("float32") ? "float64" : "float32");
  return (count + 2) * Math.max(magnitude * 2 ** (2 - bits), least);
}

/** `a + b` where one is an element of `@`, which may be accumulated term by term. */
export function addTerms(type: FloatName, a: FloatCell, b: FloatCell): FloatCell {
  const [product, other] = a.terms === undefined ? [b, a] : [a, b];
  const { terms } = product;
  if (terms === undefined) return UNKNOWN_FLOAT;
  const sum = a.value + b.value;
  const open = other.terms === undefined ? 0 : summationError(other.terms, other.terms.magnitude);
  const errors = a.error + b.error + other.slack;
  if (!(errors < Infinity)) return UNKNOWN_FLOAT;
  const magnitude = terms.magnitude + (other.terms?.magnitude ?? Math.abs(other.value));
  if (Number.isFinite(other.value) && magnitude > largestOf(type)) return UNKNOWN_FLOAT;
  if (!Number.isFinite(sum)) return isExact(a) && isExact(b) ? exact(sum) : UNKNOWN_FLOAT;
  const grain = Math.min(terms.grain, other.terms?.grain ?? grainOf(other.value));
  if (errors <= 2 ** -1073 && fits(magnitude, grain, terms.bits, type)) {
    return exactSum(sum, magnitude === 0 ? [-0] : [sum]);
  }
  return rounded(sum, errors + open + summationError(terms, magnitude), type);
}
