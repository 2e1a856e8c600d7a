/**
 * The axes that a tile's address may run along. What a lane is multiplied with is the stride of an axis; every other
 * term moves the origin along one of these, or has an axis of its own:
 *
 *     lane.0*lda + lane.1 + 64*%7*lda + 32*iteration + pid.1*batch
 *       lda    origin 64*%7         1    origin 32*iteration         batch    origin pid.1
 *
 * A term may fit several axes, as everything is a multiple of 1. The masks show which was meant, so all readings are
 * given, the likeliest first.
 */
import {
  addPoly,
  type Atom,
  constantOf,
  isNonNegative,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  product,
  quotientOf,
} from "../contract/poly.ts";
import { noView } from "./no_view.ts";
import { termsOf, type Varying } from "./terms.ts";

/** Most axes of a tensor that boxes are copied of. */
export const MOST_AXES = 5;
/** Readings of one address. */
const MAX_READINGS = 64;

/** An axis without its extent. */
export interface Run {
  readonly stride: Poly;
  /** The axis of the tile along it. */
  readonly tile: number | undefined;
  readonly origin: Poly;
}

/** The coordinate along an axis: its origin and the lane. */
export function coordinateOf({ tile, origin }: Run): Poly {
  return tile === undefined ? origin : addPoly(origin, polyOfAtom(lane(tile)));
}

const lane = (axis: number): Atom => ({ kind: "lane", key: `lane.${axis}`, axis });

/** Readings of an address, in elements, for a tile of this shape. */
export function readingsOf(address: Poly, shape: readonly number[]): readonly (readonly Run[])[] {
  const terms = termsOf(address);
  const lanes = shape.map((_, axis) => laneRun(terms.get(lane(axis).key), axis));
  for (const { stride, tile } of lanes) {
    if (lanes.some((other) => other.tile !== tile && polyKey(other.stride) === polyKey(stride))) {
      noView("two axes of the tile have the same stride");
    }
  }
  const inner = lanes.find(({ stride }) => constantOf(stride) === 1n);
  if (inner === undefined) {
    const strides = lanes.map(({ stride }) => spell(stride)).join(" and ");
    return noView(`no axis of the tile is contiguous: the strides are ${strides} elements`);
  }
  const own = [...terms.values()].filter(({ atoms: [atom, ...others] }) =>
    atom?.kind !== "lane" || others.length > 0
  );
  const unclear = own.find(({ atoms }) => atoms.some(({ kind }) => kind === "lane"));
  if (unclear !== undefined) {
    noView(`an axis of the tile has no fixed stride: \`${spellAtoms(unclear.atoms)}\``);
  }
  // Short coefficients first: they open the axes that longer ones are multiples of.
  own.sort((a, b) => degree(a.coefficient) - degree(b.coefficient));
  let readings: (readonly Run[])[] = [[inner, ...lanes.filter((run) => run !== inner)]];
  for (const term of own) {
    readings = readings.flatMap((runs) => withTerm(term, runs)).slice(0, MAX_READINGS);
  }
  const few = readings.filter((runs) => runs.length <= MOST_AXES);
  return few.length > 0 ? few : noView(`it has more than ${MOST_AXES} axes`);
}

function laneRun(term: Varying | undefined, axis: number): Run {
  const stride = term?.coefficient;
  if (stride === undefined || stride.size === 0) {
    return noView(`axis ${axis} of the tile has no fixed stride`);
  }
  const value = constantOf(stride);
  if (value !== undefined && value < 0n) {
    return noView(`axis ${axis} of the tile has a negative stride`);
  }
  return { stride, tile: axis, origin: polyOf(0) };
}

/** The readings with one more term, the likeliest first. */
function withTerm(term: Varying, runs: readonly Run[]): readonly (readonly Run[])[] {
  const { atoms, coefficient } = term;
  const fitting = runs.flatMap((run) => {
    const times = quotientOf(coefficient, run.stride);
    return times === undefined ? [] : [{ run, times, rank: rankOf(run.stride) }];
  }).sort((a, b) => b.rank - a.rank);
  const along = fitting.map(({ run, times, rank }) => ({
    rank,
    runs: runs.map((one) =>
      one === run ? { ...run, origin: addPoly(run.origin, product(times, atoms)) } : one
    ),
  }));
  const opens = atoms.length > 0 && isPlainStride(coefficient);
  const opened: Run = { stride: coefficient, tile: undefined, origin: product(polyOf(1), atoms) };
  // A multiple of 1 that has a name in it was hardly meant as one.
  const isNamed = constantOf(coefficient) === undefined;
  const named = along.filter(({ rank }) => rank > 0).map((one) => one.runs);
  const plain = along.filter(({ rank }) => rank === 0).map((one) => one.runs);
  const alone = opens ? [[...runs, opened]] : [];
  return isNamed ? [...named, ...alone, ...plain] : [...named, ...plain, ...alone];
}

/** Strides that say more come first; 1 says nothing. */
function rankOf(stride: Poly): number {
  const value = constantOf(stride);
  if (value === undefined) return 100 + degree(stride);
  return value === 1n ? 0 : 1 + Math.log2(Number(value)) / 64;
}

const degree = (poly: Poly): number =>
  Math.max(0, ...[...poly.values()].map(({ atoms }) => atoms.length));

/** Whether it can be the stride of an axis of its own: one term, not negative. */
function isPlainStride(poly: Poly): boolean {
  const [term, ...others] = [...poly.values()];
  return term !== undefined && others.length === 0 && term.coefficient > 0n &&
    (term.atoms.length > 0 || isNonNegative(poly));
}

/** A polynomial in words of the source. */
export function spell(poly: Poly): string {
  const terms = [...poly.values()].map(({ coefficient, atoms }) => {
    const names = spellAtoms(atoms);
    if (names === "") return String(coefficient);
    return coefficient === 1n ? names : `${coefficient} * ${names}`;
  });
  return terms.length === 0 ? "0" : terms.join(" + ").replaceAll("+ -", "- ");
}

function spellAtoms(atoms: readonly Atom[]): string {
  return atoms.map((atom) => {
    if (atom.kind === "scalar") return atom.value.name ?? `%${atom.value.id}`;
    if (atom.kind === "run") return `runs of ${atom.value.name ?? `%${atom.value.id}`}`;
    if (atom.kind === "pid") return `program ${atom.axis}`;
    return atom.kind === "iteration" ? "iteration" : atom.key;
  }).join(" * ");
}
