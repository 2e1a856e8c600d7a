/** The channels that a load of windows takes of each pixel: how many there are, where they begin, and which columns are a run. */
import { varies } from "../../contract/affine_rules.ts";
import { apply, constant } from "../../contract/expr.ts";
import {
  addPoly,
  laneAtom,
  mulPoly,
  type Poly,
  polyExpr,
  polyKey,
  polyOf,
  polyOfAtom,
  quotientOf,
  subPoly,
} from "../../contract/poly.ts";
import { bytesOf } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import { spell } from "../axes.ts";
import { isComputable } from "../coordinates.ts";
import { ALIGN, multipleOf } from "../find_view.ts";
import { noView } from "../no_view.ts";
import { type Along, changesAlong, type Digits, partsOf } from "./along.ts";
import { MOST, type Scene } from "./scene.ts";

/** Most bytes of a run: the widest line of a swizzle. */
const RUN_BYTES = 128;

/** The channel or column itself. */
export function innerOf({ axis, digits }: Along): Poly {
  if (digits === undefined) return polyOfAtom(laneAtom(axis));
  const { number, above } = digits;
  return subPoly(number, mulPoly(above.divisor, polyOfAtom(above)));
}

/** How many channels there are, and comparisons that are the same for the channels of a run. */
export function channelsOf(
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
export function firstChannel({ tile, bounds, known }: Scene, first: Poly): undefined {
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
export function runOf(
  { tile, columns, known, demands }: Scene,
  { number, above: { divisor: channels } }: Digits,
  gates: readonly Poly[],
): number {
  const { axis } = columns;
  const extent = must(tile.shape[axis], "extent");
  const run = Math.min(RUN_BYTES / bytesOf(tile.element), extent);
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
    const isOfRuns = !changesAlong(rest, axis) && isAligned(rest);
    if (!isOfRuns && !isOfPlaces(gate, columns)) {
      noView(`\`${spell(gate)} <= 0\` differs within runs of ${run} columns`);
    }
  }
  return run;
}

/** Whether it is the same for all channels of a place: it compares places, as `r < R` does. */
function isOfPlaces(gate: Poly, columns: Along): boolean {
  const { inner, rest } = partsOf(gate, columns);
  return inner.size === 0 && !changesAlong(rest, columns.axis);
}
