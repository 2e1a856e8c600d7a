/**
 * The view of a load that gathers what a convolution multiplies: pixels of pictures N x H x W x C, one of each window of a
 * row of windows, and the channels of one place of the windows after those of another one.
 *
 *     x = first + lane                          a window, counted through rows and pictures
 *     w = x % Q * step - pad + s * dilation     inside from 0 up to W
 *     h = x / Q % P * step - pad + r * dilation inside from 0 up to H
 *     n = x / Q / P                             inside up to N
 *     address n * sn + h * sh + w * sw + c
 *
 * A tensor copy in im2col mode brings it: from the first window on as many as the tile has, of each the pixel at `s * dilation`
 * and `r * dilation`, zeros outside of pictures. Where s, r and c are digits of a column, runs of columns have the same s and r.
 */
import { varies } from "../../contract/affine_rules.ts";
import type { Observation } from "../../contract/affine_rules.ts";
import { constant } from "../../contract/expr.ts";
import {
  addPoly,
  constantOf,
  mulPoly,
  type Poly,
  polyExpr,
  polyKey,
  polyOf,
  polyOfAtom,
  quotientOf,
  subPoly,
} from "../../contract/poly.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { must } from "../../support/bug.ts";
import { spell } from "../axes.ts";
import { Bounds } from "../bounds.ts";
import { isComputable } from "../coordinates.ts";
import { Demands } from "../demands.ts";
import type { Known } from "../find_view.ts";
import { loadedTile } from "../loaded_tile.ts";
import { partsOfMask } from "../masks.ts";
import { NoView, noView } from "../no_view.ts";
import type { TensorView, ViewAxis } from "../view.ts";
import { type Along, alongOf, atIndex, changesAlong, partsOf, varyingPart } from "./along.ts";
import { type Place, type WindowMasks, windowMasks } from "./masks.ts";
import { type CountedAxis, type Counts, spanOf } from "./spans.ts";
import type { Scene } from "./scene.ts";
import { channelsOf, firstChannel, innerOf, runOf } from "./channels.ts";
import { demandCounted, demandFit } from "./fits.ts";

/** Most pixels of one copy: those of a box (layout/warp_group.ts). */
const MOST_PIXELS = 256;
/** The largest offset of a pixel in its window, where pictures have two axes (PTX ISA 9.0, 5.5.4). */
const MOST_OFFSET = 255n;

/** The view of a load that gathers windows; undefined: it gathers none. Throws {@linkcode NoView}. */
export function windowViewOf(load: OpOf<"load">, known: Known): TensorView | undefined {
  const { pointer, mask } = operandsOf(load);
  const isTile = pointer.type.shape.length === 2 &&
    known.analysis.pointer(pointer) !== undefined;
  if (!isTile) return undefined;
  const tile = loadedTile(load, known.analysis);
  const { constraints, always } = partsOfMask(mask, known.analysis);
  const compared = constraints.map(({ poly }) => poly);
  const axes = [0, 1].map((axis) => alongOf(tile.elements, compared, axis));
  if (axes.every(({ digits }) => digits === undefined)) return undefined;
  let why: NoView | undefined;
  for (const pixels of axes) {
    const columns = axes[1 - pixels.axis];
    if (pixels.digits === undefined || columns === undefined) continue;
    if (always.length > 0) noView("its mask does more than bound coordinates");
    const count = must(tile.shape[pixels.axis], "extent");
    const demands = new Demands();
    const bounds = new Bounds(known.func, known.analysis, demands);
    const observed = [...tile.observed, ...constraints.flatMap((one) => one.observed)];
    const masked = new Set(constraints.map(({ poly }) => polyKey(poly)));
    const isMasked = (poly: Poly): boolean => masked.has(polyKey(poly));
    try {
      if (count > MOST_PIXELS) noView(`it has ${count} windows, a copy takes ${MOST_PIXELS}`);
      const { digits: windows } = pixels;
      const scene = { tile, pixels, windows, columns, known, demands, bounds, isMasked };
      return viewOf(scene, windowMasks(constraints, pixels, windows), observed);
    } catch (error) {
      if (!(error instanceof NoView)) throw error;
      why ??= error;
    }
  }
  if (why !== undefined) throw why;
  return undefined;
}

function viewOf(
  scene: Scene,
  { inner, middle, pictures, columns: compared }: WindowMasks,
  observed: readonly Observation[],
): TensorView {
  const { tile, pixels, windows: { number, above, outer }, columns, demands, isMasked } = scene;
  demandCounted(scene, pixels);
  demandCounted(scene, columns);
  const innerStride = strideOf(tile.elements, inner.at, "inner", pixels);
  const afterInner = subPoly(tile.elements, mulPoly(innerStride, inner.at));
  const middleStride = strideOf(afterInner, middle.at, "middle", pixels);
  const afterMiddle = subPoly(afterInner, mulPoly(middleStride, middle.at));
  const { outer: pictureStride, rest: channel } = partsOf(afterMiddle, pixels);
  const { inner: step, rest: first } = partsOf(channel, columns);
  const isContiguous = constantOf(step) === 1n && !changesAlong(channel, pixels.axis) &&
    !changesAlong(first, columns.axis) &&
    subPoly(subPoly(channel, innerOf(columns)), first).size === 0;
  if (!isContiguous) noView(`its channels are not neighbours: \`${spell(channel)}\``);
  const { extent, gates } = channelsOf(scene, channel, first, compared);
  const run = columns.digits === undefined
    ? firstChannel(scene, first)
    : runOf(scene, columns.digits, gates);
  const counted: readonly CountedAxis[] = [
    { along: pixels, counts: { inner: above.divisor, middle: outer.divisor, outer: pictures } },
    { along: columns, counts: countsOf(scene, gates, extent) },
  ];
  for (const { where, ...one } of observed) {
    if (where === undefined) demandFit(one, [inner.at, middle.at], counted, scene);
    else if (where.some(({ poly }) => !isMasked(poly))) {
      noView(`\`${spell(one.poly)}\` has another value on lanes that are not masked off`);
    }
  }
  const [line, picture] = [polyOfAtom(above), polyOfAtom(outer)];
  const axes: readonly ViewAxis[] = [
    {
      stride: constant(1),
      extent: polyExpr(extent),
      tile: columns.axis,
      origin: run === undefined ? first : channel,
      ...run === undefined ? {} : { run },
    },
    {
      ...windowsAlong(
        scene,
        inner,
        "inner",
        subPoly(number, mulPoly(above.divisor, line)),
        counted,
      ),
      stride: polyExpr(innerStride),
      tile: pixels.axis,
    },
    {
      ...windowsAlong(
        scene,
        middle,
        "middle",
        subPoly(line, mulPoly(outer.divisor, picture)),
        counted,
      ),
      stride: polyExpr(middleStride),
      tile: undefined,
    },
    {
      stride: polyExpr(pictureStride),
      extent: polyExpr(pictures),
      tile: undefined,
      origin: atIndex(picture, pixels.axis, 0),
    },
  ];
  const unknown = axes.find(({ origin }) => !isComputable(origin));
  if (unknown !== undefined) {
    noView(`\`${spell(unknown.origin)}\` does not change by a constant step`);
  }
  return { param: tile.param, element: tile.element, axes, when: demands.list(), gates };
}

/** The stride of the places along an axis of pictures: the address grows by it where a place grows by one. */
function strideOf(address: Poly, place: Poly, digit: "inner" | "middle", pixels: Along): Poly {
  const stride = quotientOf(partsOf(address, pixels)[digit], partsOf(place, pixels)[digit]);
  return stride ?? noView(`\`${spell(place)}\` does not have a stride of its own`);
}

/** How many channels, columns and rows of filters there are. */
function countsOf(
  { tile, columns: { axis, digits } }: Scene,
  gates: readonly Poly[],
  extent: Poly,
): Counts {
  if (digits === undefined) {
    const lanes = polyOf(must(tile.shape[axis], "extent"));
    return { inner: lanes, middle: undefined, outer: undefined };
  }
  const { number, above, outer } = digits;
  const below = mulPoly(above.divisor, outer.divisor);
  const rows = gates.flatMap((gate) => {
    const { inner, middle, outer: times, rest } = partsOf(gate, { axis, digits });
    const isRow = inner.size + middle.size === 0 && constantOf(times) === 1n && !varies(rest);
    if (isRow) return subPoly(polyOf(1), rest);
    const end = addPoly(subPoly(number, gate), polyOf(1));
    return varies(end) ? [] : quotientOf(end, below) ?? [];
  });
  return { inner: extent, middle: outer.divisor, outer: rows[0] };
}

/** An axis with windows, from where its places are: `number` windows from the first one, and which element of each. */
function windowsAlong(
  { pixels, windows, known: { analysis }, demands }: Scene,
  { at, extent }: Place,
  digit: "inner" | "middle",
  number: Poly,
  counted: readonly CountedAxis[],
): Pick<ViewAxis, "extent" | "origin" | "windows" | "offset"> {
  const { [digit]: step, rest } = partsOf(at, pixels);
  const { varying, fixed } = varyingPart(rest);
  const span = spanOf(varying, counted, analysis, demands);
  if (span === undefined) {
    return noView(`\`${spell(varying)}\` is not known to lie within a window`);
  }
  const lower = addPoly(fixed, span.least);
  const offset = subPoly(varying, span.least);
  demands.atMost(polyExpr(subPoly(span.most, span.least)), MOST_OFFSET);
  const { divisor } = digit === "inner" ? windows.above : windows.outer;
  const last = addPoly(lower, mulPoly(subPoly(divisor, polyOf(1)), step));
  return {
    extent: polyExpr(extent),
    origin: atIndex(addPoly(mulPoly(step, number), lower), pixels.axis, 0),
    windows: {
      lower: polyExpr(lower),
      upper: polyExpr(subPoly(addPoly(last, polyOf(1)), extent)),
      step: polyExpr(step),
    },
    offset,
  };
}
