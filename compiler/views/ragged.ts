/**
 * Ragged axes: those that end where a program says, as where sequences of any lengths lie one after the other and each
 * program has one of them:
 *
 *     start = Offsets[b];  end = Offsets[b + 1];  load at row start + i where start + i < end
 *
 * A tensor map has the same extents for all programs. But copies compute addresses modulo 2^64, so an axis may be read
 * from elsewhere than its start. With N = 2^30 and the row's stride s, the map has three axes in place of one:
 *
 *     extent      stride      coordinate
 *     N           s           N - end + row     it is outside of the tensor from `end` on, where copies give zero
 *     2^31 - 1    s           end
 *     2^31 - 1    2^34 - s    N
 *
 * The address is (N - end + row) * s + end * s + N * (2^34 - s) = row * s + 2^64: that of the row.
 *
 * Coordinates are taken modulo 2^32. Those from 2^31 on are negative, which is outside of the tensor as well.
 */
import { apply, constant } from "../contract/expr.ts";
import { addPoly, type Poly, polyOf, subPoly } from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import { type Run, spell } from "./axes.ts";
import type { Bounds } from "./bounds.ts";
import { limitExpr } from "./limits.ts";
import { noView } from "./no_view.ts";
import type { ViewAxis } from "./view.ts";

/** The extent of the axis, and the largest end. */
const EXTENT = 2 ** 30;
/** What the strides add up to: times the extent it is 2^64 elements, or a multiple. */
const STRIDES = 2 ** 34;
/** Extents of axes that bound nothing. */
const MOST = 2 ** 31 - 1;

/** The end of a run that a mask gives; a mask that bounds it by something else too has no map. */
export function onlyEnd(run: Run, ends: readonly Poly[], extents: readonly Poly[]): Poly {
  const [end] = ends;
  return end !== undefined && ends.length === 1 && extents.length === 0
    ? end
    : noView(`the mask bounds axis ${run.tile} by several numbers, one of them of the program`);
}

/** The end as a number of the launch; it must be one that the axes can have. */
export function extentOfEnd(end: Poly, bounds: Bounds): ContractExpr {
  const { min, max } = bounds.poly(end);
  if (min < 0n) noView(`\`${spell(end)}\`, where an axis ends, may be negative`);
  if (max > BigInt(EXTENT)) noView(`\`${spell(end)}\`, where an axis ends, may be too large`);
  return limitExpr(max);
}

/** Whether a tile whose last element is before this one has coordinates that differ modulo 2^32. */
export function isWithinRagged(last: bigint): boolean {
  return BigInt(EXTENT) + last <= 1n << 32n;
}

/** The axes in place of one that ends where the program says. */
export function raggedAxes(axis: ViewAxis, end: Poly): readonly ViewAxis[] {
  const { stride, tile, origin } = axis;
  const extent = polyOf(EXTENT);
  const free = { extent: constant(MOST), tile: undefined };
  return [
    {
      stride,
      extent: constant(EXTENT),
      tile,
      origin: addPoly(subPoly(extent, end), origin),
    },
    { stride, ...free, origin: end },
    { stride: apply("-", constant(STRIDES), stride), ...free, origin: extent },
  ];
}
