/**
 * What the mask of a load of windows says: which places are inside of the picture, along each of its axes, and which
 * pictures and columns there are.
 */
import { type Constraint, varies } from "../../contract/affine_rules.ts";
import {
  addPoly,
  constantOf,
  mulPoly,
  type Poly,
  polyOf,
  quotientOf,
  scalePoly,
  subPoly,
} from "../../contract/poly.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import { noView } from "../no_view.ts";
import { type Along, changesAlong, type Digits, type Parts, partsOf } from "./along.ts";

/** A place along an axis of pictures, which the mask holds from 0 up to its extent. */
export interface Place {
  readonly at: Poly;
  readonly extent: Poly;
}

export interface WindowMasks {
  /** Along the axis whose windows follow each other, and along the one of rows of windows. */
  readonly inner: Place;
  readonly middle: Place;
  readonly pictures: Poly;
  /** Comparisons of what does not change along the pixels: columns of filters, or channels. */
  readonly columns: readonly Poly[];
}

/** Half of a comparison with 0 and with an extent. */
interface Half {
  readonly poly: Poly;
  /** What an unsigned comparison compares. */
  readonly unsigned: Poly | undefined;
  readonly factor: Poly;
}

export function windowMasks(
  constraints: readonly Constraint[],
  pixels: Along,
  digits: Digits,
): WindowMasks {
  const pictures: Poly[] = [];
  const halves: Record<"inner" | "middle", Half[]> = { inner: [], middle: [] };
  const columns: Poly[] = [];
  for (const { poly, observed } of constraints) {
    const parts = partsOf(poly, pixels);
    const [digit, ...others] = (["inner", "middle", "outer"] as const)
      .filter((one) => parts[one].size > 0);
    const count = picturesOf(parts, digits);
    if (count !== undefined) {
      pictures.push(count);
      continue;
    }
    if (others.length > 0) noView("its mask compares numbers of pixels that are no places");
    if (digit === undefined) {
      if (changesAlong(poly, pixels.axis)) noView("its mask divides numbers of pixels otherwise");
      columns.push(poly);
      continue;
    }
    if (digit === "outer") return noView("its mask bounds pictures by something else");
    const unsigned = observed.find((one) =>
      isWord(one.type) && varies(one.poly) && !varies(subPoly(poly, one.poly))
    );
    halves[digit].push({ poly, unsigned: unsigned?.poly, factor: parts[digit] });
  }
  const [first, ...more] = pictures;
  if (first === undefined) return noView("its mask does not bound pictures");
  if (more.some((one) => subPoly(one, first).size > 0)) noView("it bounds pictures twice");
  const [inner, middle] = [placeOf(halves.inner), placeOf(halves.middle)];
  return { inner, middle, pictures: first, columns };
}

/** Whether places that are below zero, or beyond an int32, are larger than extents in a type. */
const isWord = (type: ScalarName): boolean => !SCALARS[type].signed && SCALARS[type].bits >= 32;

/** `0 <= at && at < extent`, or the same of unsigned numbers. */
function placeOf(halves: readonly Half[]): Place {
  const [half, other, ...more] = halves;
  if (half?.unsigned !== undefined && other === undefined) {
    return { at: half.unsigned, extent: extentOf(half.unsigned, half.poly) };
  }
  if (half === undefined || other === undefined || more.length > 0) {
    return noView("its mask does not bound places of pictures on both sides");
  }
  const [lower, upper] = isNegative(half.factor) ? [half, other] : [other, half];
  const at = scalePoly(lower.poly, -1n);
  return { at, extent: extentOf(at, upper.poly) };
}

/** The extent of `at - extent + 1 <= 0`. */
function extentOf(at: Poly, poly: Poly): Poly {
  const extent = addPoly(subPoly(at, poly), polyOf(1));
  return varies(extent) ? noView("pictures have other extents for each program") : extent;
}

const isNegative = (poly: Poly): boolean =>
  [...poly.values()].some(({ coefficient }) => coefficient < 0n);

/** How many pictures there are, if a comparison bounds them, or all of their windows. */
function picturesOf(
  { inner, middle, outer, rest }: Parts,
  { above: { divisor: wide }, outer: { divisor: high } }: Digits,
): Poly | undefined {
  const end = subPoly(polyOf(1), rest);
  if (varies(end)) return undefined;
  if (inner.size + middle.size === 0) return constantOf(outer) === 1n ? end : undefined;
  const windows = mulPoly(wide, high);
  const isNumber = constantOf(inner) === 1n && subPoly(middle, wide).size === 0 &&
    subPoly(outer, windows).size === 0;
  return isNumber ? wholeQuotient(end, windows) : undefined;
}

/** The quotient of one term of a division that leaves nothing; undefined otherwise. */
function wholeQuotient(poly: Poly, by: Poly): Poly | undefined {
  const [divisor] = by;
  if (divisor === undefined) return undefined;
  for (const term of poly) {
    const quotient = quotientOf(new Map([term]), new Map([divisor]));
    if (quotient !== undefined && subPoly(mulPoly(quotient, by), poly).size === 0) return quotient;
  }
  return undefined;
}
