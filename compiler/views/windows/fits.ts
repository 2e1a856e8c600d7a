/** What must hold so that the numbers from which a load of windows computes addresses and masks fit their types. */
import { type Observation, varies } from "../../contract/affine_rules.ts";
import { limitsOfType } from "../../contract/magnitude.ts";
import {
  constantOf,
  mulPoly,
  type Poly,
  polyExpr,
  polyOfAtom,
  subPoly,
} from "../../contract/poly.ts";
import { SCALARS } from "../../support/scalar.ts";
import { spell } from "../axes.ts";
import { noView } from "../no_view.ts";
import type { Along } from "./along.ts";
import { MOST, type Scene } from "./scene.ts";
import { type CountedAxis, type Counts, spanOf } from "./spans.ts";

/** What digits are of is not negative, and an int32; what they are divided by is at least 1. */
export function demandCounted({ tile, bounds, demands }: Scene, { digits }: Along): void {
  if (digits === undefined) return;
  const { number, above, outer } = digits;
  const { min, max } = bounds.poly(number, tile.shape);
  if (min < 0n) noView(`\`${spell(number)}\` may be negative`);
  if (max > MOST) noView(`\`${spell(number)}\` may be too large for an int32`);
  for (const { divisor } of [above, outer]) demands.atLeast(polyExpr(divisor), 1n);
}

/**
 * Demands that what was observed fits its type. Places may be negative as unsigned numbers, which are too large then; they fit
 * an int32 because the driver takes no windows further out.
 */
export function demandFit(
  { poly, type, below }: Observation,
  places: readonly Poly[],
  counted: readonly CountedAxis[],
  { tile, known: { analysis }, bounds, demands }: Scene,
): void {
  if (below !== undefined) return noView(`\`${spell(poly)}\` wraps around`);
  if (SCALARS[type].bits >= 64) return;
  const isPlace = places.some((place) => subPoly(place, poly).size === 0);
  if (isPlace && SCALARS[type].bits >= 32) return;
  if (!varies(poly) && isName(poly)) return;
  if (counted.some(({ along }) => isCounted(poly, along))) return;
  const { min, max } = limitsOfType(type);
  const span = spanOf(poly, counted, analysis, demands);
  if (span === undefined) {
    if (bounds.fits(poly, { min, max }, tile.shape)) return;
    return noView(`\`${spell(poly)}\` may wrap`);
  }
  const ends = [span.least, span.most].map(constantOf);
  if (ends.every((end) => end !== undefined && end >= min && end <= max)) return;
  if (mostByType(poly) > max) demands.atMost(polyExpr(span.most), max);
  // Numbers of windows and extents are positive where there is a map.
  const isExtent = counted.some(({ along, counts }) => isCount(poly, along, counts));
  if (!isExtent && !isNatural(span.least)) demands.atLeast(polyExpr(span.least), min);
}

/** A number of the launch that is one of the program's is at most what its type holds, and so is one more. */
function mostByType(poly: Poly): bigint {
  let most = 0n;
  for (const { coefficient, atoms: [atom, ...others] } of poly.values()) {
    if (atom === undefined) most += coefficient;
    else if (coefficient !== 1n || others.length > 0 || atom.kind !== "opaque") return UNKNOWN;
    else if (atom.value?.type.element !== "int32") return UNKNOWN;
    else most += MOST;
  }
  return most;
}

const UNKNOWN = 1n << 64n;

const isName = (poly: Poly): boolean =>
  poly.size === 1 &&
  [...poly.values()].every(({ coefficient, atoms }) => coefficient === 1n && atoms.length === 1);

const isNatural = (poly: Poly): boolean => (constantOf(poly) ?? -1n) >= 0n;

/** Whether it is what is counted along an axis, or a digit of it: {@linkcode demandCounted} has shown that it is an int32. */
function isCounted(poly: Poly, { digits }: Along): boolean {
  if (digits === undefined) return false;
  const { number, above, outer } = digits;
  const [y, z] = [polyOfAtom(above), polyOfAtom(outer)];
  const inner = subPoly(number, mulPoly(above.divisor, y));
  const middle = subPoly(y, mulPoly(outer.divisor, z));
  return [number, inner, middle, y, z].some((one) => subPoly(one, poly).size === 0);
}

/** Whether it is how many values a digit has, or all digits together. */
function isCount(poly: Poly, { digits }: Along, { outer: last }: Counts): boolean {
  if (digits === undefined) return false;
  const { above, outer } = digits;
  const all = last && mulPoly(mulPoly(above.divisor, outer.divisor), last);
  return [above.divisor, outer.divisor, all].some((one) =>
    one !== undefined && subPoly(one, poly).size === 0
  );
}
