/**
 * The view of a load whose columns are the channels of several places, one place after the other, of rows that the place
 * shifts: what a convolution along one axis multiplies by one index over places and channels.
 *
 *     t = row + k / C - pad          inside from 0 up to T
 *     address t * C + k % C
 *
 * Where all columns of a tile have one place, as C is a multiple of them, it is a box: from the row that the place says, and from
 * the channel on that the first column has.
 */
import { type Constraint, type Observation, varies } from "../../contract/affine_rules.ts";
import { apply, constant } from "../../contract/expr.ts";
import {
  addPoly,
  constantOf,
  type Digit,
  laneAtom,
  mapAtoms,
  mulPoly,
  type Poly,
  polyExpr,
  polyOf,
  polyOfAtom,
  product,
  quotientOf,
  subPoly,
} from "../../contract/poly.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import { must } from "../../support/bug.ts";
import { MOST_AXES, type Run, spell } from "../axes.ts";
import { Bounds } from "../bounds.ts";
import { isComputable } from "../coordinates.ts";
import { Demands } from "../demands.ts";
import { type BoundedRun, demandFit } from "../exactness.ts";
import { extentsOf, smallest } from "../extents.ts";
import { demandExact, type Known, multipleOf } from "../find_view.ts";
import { loadedTile } from "../loaded_tile.ts";
import { partsOfMask } from "../masks.ts";
import { noView } from "../no_view.ts";
import { termsOf } from "../terms.ts";
import type { TensorView } from "../view.ts";
import { atIndex, changesAlong, digitAt } from "./along.ts";
import { MOST } from "./scene.ts";

/** Bytes of a line of a box that is swizzled: at least, and at most. */
const LEAST_LINE = 32;
const MOST_LINE = 128;

/** The view of a load of places; undefined: it divides no columns, or otherwise. Throws {@linkcode NoView}. */
export function placesViewOf(load: OpOf<"load">, known: Known): TensorView | undefined {
  const { func, analysis } = known;
  if (analysis.pointer(operandsOf(load).pointer) === undefined) return undefined;
  const tile = loadedTile(load, analysis);
  const { constraints, always } = partsOfMask(tile.mask, analysis);
  const all = [...tile.observed, ...constraints.flatMap(({ observed }) => observed)];
  const place = onlyDigit([tile.elements, ...[...constraints, ...all].map(({ poly }) => poly)]);
  const isPlain = place !== undefined && tile.shape.length === 2 && always.length === 0 &&
    all.every(({ where, below }) => where === undefined && below === undefined);
  if (!isPlain) return undefined;
  const { axis, divisor: channels } = place;
  const rowAxis = 1 - axis;
  const lane = polyOfAtom(laneAtom(axis));
  const number = mapAtoms(place.dividend, (atom) => atom.kind === "lane" ? laneAtom(axis) : atom);
  const first = subPoly(number, lane);
  const columns = must(tile.shape[axis], "extent");
  const line = columns * bytesOf(tile.element);
  const isLine = line >= LEAST_LINE && line <= MOST_LINE && !changesAlong(first, axis);
  if (!isLine || alignedTo(first, channels, known) < columns) return undefined;
  const count = constantOf(channels);
  if (count !== undefined && (count < 1n || count % BigInt(columns) !== 0n)) return undefined;
  const demands = new Demands();
  const bounds = new Bounds(func, analysis, demands);
  const { min, max } = bounds.poly(number, tile.shape);
  if (min < 0n) noView(`\`${spell(number)}\` may be negative`);
  if (max > MOST) noView(`\`${spell(number)}\` may be too large for an int32`);
  demands.atLeast(polyExpr(channels), 1n);
  if (multipleOf(channels, known) < columns) {
    demands.add(apply("==", apply("%", polyExpr(channels), constant(columns)), constant(0)));
  }
  // All columns have the place of the first one.
  const there = digitAt(place, 0);
  const atPlace = (poly: Poly): Poly =>
    mapAtoms(poly, (atom) => atom.key === place.key ? there : atom);
  const seen = (one: Observation): Observation => ({ ...one, poly: atPlace(one.poly) });
  const compared = constraints.map((one): Constraint => ({
    ...one,
    poly: atPlace(one.poly),
    observed: one.observed.map(seen),
  }));
  const channel = subPoly(first, mulPoly(channels, polyOfAtom(there)));
  const inner: BoundedRun = {
    stride: polyOf(1),
    tile: axis,
    origin: channel,
    extent: polyExpr(channels),
  };
  const address = subPoly(atPlace(tile.elements), addPoly(channel, lane));
  if (changesAlong(address, axis)) return undefined;
  const others = otherRuns(address, rowAxis);
  const isGate = ({ poly }: Constraint): boolean =>
    varies(poly) && !changesAlong(poly, rowAxis) &&
    (changesAlong(poly, axis) || holdsPlace(poly, there));
  const gates = compared.filter(isGate).map(({ poly }) => {
    const rest = subPoly(subPoly(poly, lane), polyOf(1));
    const isOfAll = !changesAlong(poly, axis) ||
      (!changesAlong(rest, axis) && alignedTo(rest, channels, known) >= columns);
    if (!isOfAll) noView(`\`${spell(poly)} <= 0\` differs within ${columns} columns`);
    return atIndex(poly, axis, 0);
  });
  const masked = extentsOf(others, compared.filter((one) => !isGate(one)), demands);
  const axes = [
    inner,
    ...others.map((run, i): BoundedRun => {
      const { extents = [], ends = [], isFromZero = false } = masked[i] ?? {};
      const extent = smallest(extents);
      const isBound = run.tile === undefined || (extent !== undefined && ends.length === 0);
      if (!isBound) noView(`nothing bounds \`${spell(run.origin)}\`, its rows`);
      if (!isComputable(run.origin)) {
        noView(`\`${spell(run.origin)}\` does not change by a constant step`);
      }
      const limits = bounds.starts(run.origin);
      if (limits.min < (isFromZero ? -MOST : 0n)) {
        noView(`\`${spell(run.origin)}\` may be negative`);
      }
      const span = BigInt(run.tile === undefined ? 1 : tile.shape[run.tile] ?? 1);
      if (limits.max + span > MOST) {
        noView(`\`${spell(run.origin)}\` may be too large for an int32`);
      }
      return { ...run, extent };
    }),
  ];
  if (!isComputable(channel)) noView(`\`${spell(channel)}\` does not change by a constant step`);
  if (axes.length > MOST_AXES) noView(`it has more than ${MOST_AXES} axes`);
  for (const one of compared) demandExact(one, tile.shape, bounds);
  for (const one of tile.observed.map(seen)) demandFit(one, axes, tile.shape, bounds, demands);
  return {
    param: tile.param,
    element: tile.element,
    axes: axes.map(({ stride, extent, tile: along, origin }) => ({
      stride: polyExpr(stride),
      extent: extent ?? constant(MOST),
      tile: along,
      origin,
    })),
    when: demands.list(),
    gates,
  };
}

/** The only digit in polynomials. */
function onlyDigit(polys: readonly Poly[]): Digit | undefined {
  const found = new Map<string, Digit>();
  for (const { atoms } of polys.flatMap((poly) => [...poly.values()])) {
    for (const atom of atoms) if (atom.kind === "digit") found.set(atom.key, atom);
  }
  const [digit, ...others] = found.values();
  return others.length === 0 ? digit : undefined;
}

/** A power of two that a number is a multiple of, but for multiples of another one. */
const alignedTo = (poly: Poly, of: Poly, known: Known): number =>
  multipleOf(
    new Map([...poly].filter((one) => quotientOf(new Map([one]), of) === undefined)),
    known,
  );

/** The rows of a box, and what else its address moves along. */
function otherRuns(address: Poly, rowAxis: number): readonly Run[] {
  const terms = termsOf(address);
  const row = terms.get(laneAtom(rowAxis).key);
  if (row === undefined) return noView(`axis ${rowAxis} of the tile has no fixed stride`);
  const stride = row.coefficient;
  let origin = polyOf(0);
  const others: Run[] = [];
  for (const term of terms.values()) {
    if (term === row) continue;
    const times = quotientOf(term.coefficient, stride);
    const [single, ...more] = term.coefficient.values();
    // As many rows as have a name are those of a batch.
    const isAlong = times !== undefined &&
      (term.atoms.length === 0 || constantOf(times) !== undefined);
    if (isAlong) origin = addPoly(origin, product(times, term.atoms));
    else if (term.atoms.length === 0 || more.length > 0 || (single?.coefficient ?? 0n) <= 0n) {
      noView(`\`${spell(product(term.coefficient, term.atoms))}\` is along no axis`);
    } else {
      const own = product(polyOf(1), term.atoms);
      others.push({ stride: term.coefficient, tile: undefined, origin: own });
    }
  }
  return [{ stride, tile: rowAxis, origin }, ...others];
}

const holdsPlace = (poly: Poly, { key }: Digit): boolean =>
  [...poly.values()].some(({ atoms }) => atoms.some((atom) => atom.key === key));
