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
import { apply, constant } from "../../contract/expr.ts";
import { limitsOfType } from "../../contract/magnitude.ts";
import {
  addPoly,
  constantOf,
  laneAtom,
  mulPoly,
  type Poly,
  polyExpr,
  polyKey,
  polyOf,
  polyOfAtom,
  subPoly,
} from "../../contract/poly.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import { spell } from "../axes.ts";
import { Bounds } from "../bounds.ts";
import { isComputable } from "../coordinates.ts";
import { Demands } from "../demands.ts";
import { ALIGN, type Known, multipleOf } from "../find_view.ts";
import { type LoadedTile, loadedTile } from "../loaded_tile.ts";
import { partsOfMask } from "../masks.ts";
import { NoView, noView } from "../no_view.ts";
import { quotientOf } from "../terms.ts";
import type { TensorView, ViewAxis } from "../view.ts";
import {
  type Along,
  alongOf,
  atIndex,
  changesAlong,
  type Digits,
  partsOf,
  varyingPart,
} from "./along.ts";
import { type Place, type WindowMasks, windowMasks } from "./masks.ts";
import { type CountedAxis, type Counts, spanOf } from "./spans.ts";

/** Bytes of a run: the widest line of a swizzle. */
const RUN_BYTES = 128;
/** Most pixels of one copy: those of a box (layout/warp_group.ts). */
const MOST_PIXELS = 256;
/** The largest offset of a pixel in its window, where pictures have two axes (PTX ISA 9.0, 5.5.4). */
const MOST_OFFSET = 255n;
const MOST = (1n << 31n) - 1n;

/** The view of a load that gathers windows; undefined: it gathers none. Throws {@linkcode NoView}. */
export function windowViewOf(load: OpOf<"load">, known: Known): TensorView | undefined {
  const { pointer, mask } = operandsOf(load);
  const isTile = pointer.type.shape.length === 2 &&
    known.analysis.pointer(pointer) !== undefined;
  if (!isTile) return undefined;
  const tile = loadedTile(load, known.analysis);
  const axes = [0, 1].map((axis) => alongOf(tile.elements, axis));
  if (axes.every(({ digits }) => digits === undefined)) return undefined;
  const { constraints, always } = partsOfMask(mask, known.analysis);
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

/** A load, and what is known and demanded of it. */
interface Scene {
  readonly tile: LoadedTile;
  readonly pixels: Along;
  readonly windows: Digits;
  readonly columns: Along;
  readonly known: Known;
  readonly demands: Demands;
  readonly bounds: Bounds;
  /** Whether lanes where `poly > 0` are masked off. */
  readonly isMasked: (poly: Poly) => boolean;
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

/** What digits are of is not negative, and an int32; what they are divided by is at least 1. */
function demandCounted({ tile, bounds, demands }: Scene, { digits }: Along): void {
  if (digits === undefined) return;
  const { number, above, outer } = digits;
  const { min, max } = bounds.poly(number, tile.shape);
  if (min < 0n) noView(`\`${spell(number)}\` may be negative`);
  if (max > MOST) noView(`\`${spell(number)}\` may be too large for an int32`);
  for (const { divisor } of [above, outer]) demands.atLeast(polyExpr(divisor), 1n);
}

/** The stride of the places along an axis of pictures: the address grows by it where a place grows by one. */
function strideOf(address: Poly, place: Poly, digit: "inner" | "middle", pixels: Along): Poly {
  const stride = quotientOf(partsOf(address, pixels)[digit], partsOf(place, pixels)[digit]);
  return stride ?? noView(`\`${spell(place)}\` does not have a stride of its own`);
}

/** The channel or column itself. */
function innerOf({ axis, digits }: Along): Poly {
  if (digits === undefined) return polyOfAtom(laneAtom(axis));
  const { number, above } = digits;
  return subPoly(number, mulPoly(above.divisor, polyOfAtom(above)));
}

/** How many channels there are, and comparisons that are the same for the channels of a run. */
function channelsOf(
  { columns, demands }: Scene,
  channel: Poly,
  first: Poly,
  compared: readonly Poly[],
): { readonly extent: Poly; readonly gates: readonly Poly[] } {
  const extents = new Map<string, Poly>();
  const gates: Poly[] = [];
  for (const poly of compared) {
    const extent = addPoly(subPoly(channel, poly), polyOf(1));
    if (!varies(poly)) demands.atMost(polyExpr(poly), 0n);
    else if (varies(extent)) {
      // Without runs the whole tile has one channel to begin with.
      if (columns.digits === undefined && changesAlong(poly, columns.axis)) {
        noView(`\`${spell(poly)} <= 0\` bounds channels by a number of the program`);
      }
      gates.push(poly);
    } else extents.set(polyKey(extent), extent);
  }
  if (extents.size === 0 && columns.digits !== undefined && first.size === 0) {
    return { extent: columns.digits.above.divisor, gates };
  }
  const [extent, ...others] = [...extents.values()];
  if (extent === undefined || others.length > 0) noView("nothing bounds its channels");
  return { extent, gates };
}

/** The channels of a tile begin at a multiple of what copies can begin at. */
function firstChannel({ tile, bounds, known }: Scene, first: Poly): undefined {
  if (!isComputable(first)) noView(`\`${spell(first)}\` does not change by a constant step`);
  const { min, max } = bounds.poly(first);
  if (min < 0n) noView(`\`${spell(first)}\` may be negative`);
  if (max > MOST) noView(`\`${spell(first)}\` may be too large for an int32`);
  const bytes = bytesOf(tile.element);
  if (multipleOf(first, known) * bytes < ALIGN) {
    noView(`\`${spell(first)}\` is not known to be a multiple of ${ALIGN / bytes} elements`);
  }
}

/** The columns of a run are channels of one place of the windows: their number is a multiple of a run. */
function runOf(
  { tile, columns: { axis }, known, demands }: Scene,
  { number, above: { divisor: channels } }: Digits,
  gates: readonly Poly[],
): number {
  const run = RUN_BYTES / bytesOf(tile.element);
  const extent = must(tile.shape[axis], "extent");
  const lane = polyOfAtom(laneAtom(axis));
  const isAligned = (poly: Poly): boolean =>
    multipleOf(
      new Map([...poly].filter((one) => quotientOf(new Map([one]), channels) === undefined)),
      known,
    ) >= run;
  if (extent % run !== 0 || !isAligned(subPoly(number, lane))) {
    noView(`its columns do not begin at multiples of ${run}`);
  }
  if (multipleOf(channels, known) < run) {
    demands.add(apply("==", apply("%", polyExpr(channels), constant(run)), constant(0)));
  }
  for (const gate of gates) {
    const rest = subPoly(subPoly(gate, lane), polyOf(1));
    const isOfRuns = !changesAlong(gate, axis) || (!changesAlong(rest, axis) && isAligned(rest));
    if (!isOfRuns) noView(`\`${spell(gate)} <= 0\` differs within runs of ${run} columns`);
  }
  return run;
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

/**
 * Demands that what was observed fits its type. Places may be negative as unsigned numbers, which are too large then; they fit
 * an int32 because the driver takes no windows further out.
 */
function demandFit(
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
