/**
 * What the mask of a load of windows says: which places are inside of the picture, along each of its axes, and which
 * pictures and columns there are.
 */
import { varies } from "../../contract/affine_rules.ts";
import type { Constraint } from "../../contract/affine.ts";
import { addPoly, constantOf, type Poly, polyOf, scalePoly, subPoly } from "../../contract/poly.ts";
import { SCALARS } from "../../support/scalar.ts";
import { noView } from "../no_view.ts";
import { type Along, type Parts, partsOf } from "./along.ts";

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

export function windowMasks(constraints: readonly Constraint[], pixels: Along): WindowMasks {
  const halves: Record<"inner" | "middle" | "outer", Half[]> = { inner: [], middle: [], outer: [] };
  const columns: Poly[] = [];
  for (const { poly, observed } of constraints) {
    const parts = partsOf(poly, pixels);
    const digits = (["inner", "middle", "outer"] as const).filter((one) => parts[one].size > 0);
    const [digit, ...others] = digits;
    if (others.length > 0) noView("its mask compares numbers of pixels that are no places");
    if (digit === undefined) {
      columns.push(poly);
      continue;
    }
    const unsigned = observed.find((one) =>
      !SCALARS[one.type].signed && varies(one.poly) && !varies(subPoly(poly, one.poly))
    );
    halves[digit].push({ poly, unsigned: unsigned?.poly, factor: parts[digit] });
  }
  return {
    inner: placeOf(halves.inner),
    middle: placeOf(halves.middle),
    pictures: picturesOf(halves.outer, pixels),
    columns,
  };
}

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

function picturesOf([half, ...others]: readonly Half[], pixels: Along): Poly {
  if (half === undefined) return noView("its mask does not bound pictures");
  const parts: Parts = partsOf(half.poly, pixels);
  const pictures = subPoly(polyOf(1), parts.rest);
  const isOne = constantOf(parts.outer) === 1n && !varies(pictures) && others.length === 0;
  return isOne ? pictures : noView("its mask bounds pictures by something else");
}
