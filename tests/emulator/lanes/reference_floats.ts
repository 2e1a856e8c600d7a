/** Comparisons of floats by their values, for instructions that compare floats but compute with integers. */
import type { TypeName } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";

/** A format: bits of exponent and fraction. */
const FORMATS: Readonly<Partial<Record<TypeName, readonly [exponent: number, fraction: number]>>> =
  {
    f16: [5, 10],
    bf16: [8, 7],
    f32: [8, 23],
    f64: [11, 52],
  };

/** The value of a float; doubles hold all of them. */
function valueOf(bits: bigint, type: TypeName, ftz: boolean): number {
  const [exponentBits, fractionBits] = must(FORMATS[type], `format ${type}`);
  const fraction = Number(bits & ((1n << BigInt(fractionBits)) - 1n));
  const exponent = Number((bits >> BigInt(fractionBits)) & ((1n << BigInt(exponentBits)) - 1n));
  const sign = (bits >> BigInt(exponentBits + fractionBits)) & 1n ? -1 : 1;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : NaN;
  const scaled = fraction / 2 ** fractionBits;
  // Subnormal doubles are never flushed.
  if (exponent === 0) return ftz && type !== "f64" ? sign * 0 : sign * scaled * 2 ** (1 - bias);
  return sign * (1 + scaled) * 2 ** (exponent - bias);
}

/** What a comparison says of two floats, by name. */
export function referenceComparison(
  type: TypeName,
  name: string,
  ftz: boolean,
): (a: bigint, b: bigint) => boolean {
  const ordered: Readonly<Record<string, (a: number, b: number) => boolean>> = {
    eq: (a, b) => a === b,
    ne: (a, b) => a < b || a > b,
    lt: (a, b) => a < b,
    le: (a, b) => a <= b,
    gt: (a, b) => a > b,
    ge: (a, b) => a >= b,
    num: () => true,
    nan: () => false,
  };
  const unordered = name === "nan" || (name.length === 3 && name.endsWith("u"));
  const compare = must(ordered[unordered && name !== "nan" ? name.slice(0, 2) : name], name);
  return (a, b) => {
    const [x, y] = [valueOf(a, type, ftz), valueOf(b, type, ftz)];
    return Number.isNaN(x) || Number.isNaN(y) ? unordered : compare(x, y);
  };
}
