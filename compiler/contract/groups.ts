/**
 * Takes an affine offset apart into index groups, the way the programmer thought of it:
 *
 *     64*pid.0*ldx + lane.0*ldx + 32*pid.1 + lane.1 + 3
 *       = ldx * (64*pid.0 + lane.0)  +  1 * (32*pid.1 + lane.1)  +  3
 *
 * A group is an index with integer coefficients (a {@linkcode Form}) and what it is multiplied with. Masks
 * bound forms: `rm < M` says `64*pid.0 + lane.0 <= M - 1`.
 */
import type { Constraint } from "./affine_rules.ts";
import {
  addPoly,
  type Atom,
  constantOf,
  gridAtom,
  isNonNegative,
  type Poly,
  polyOf,
  polyOfAtom,
  scalePoly,
  subPoly,
  type Term,
} from "./poly.ts";

/** Integer coefficients of pids, lanes and iterations: sorted by key, without a common divisor, the first positive. */
export interface Form {
  readonly key: string;
  readonly parts: readonly Part[];
}

/**
 * An atom times its coefficient; of an iteration of a loop that strides by what the launch decides also times these atoms:
 * `first += 64 * parts` makes `64*(iteration.0*parts)`.
 */
interface Part {
  readonly atom: Atom;
  readonly coefficient: bigint;
  readonly stride?: readonly Atom[];
}

/** A bound on a form: `form <= limit / divisor` (an upper one) or `form >= limit / divisor`. */
export interface Bound {
  readonly form: Form;
  readonly upper: boolean;
  readonly limit: Poly;
  readonly divisor: bigint;
  readonly constraint: Constraint;
}

/** One index of an offset and its coefficient. */
export interface Group {
  readonly form: Form;
  readonly coefficient: Poly;
  readonly bounds: readonly Bound[];
}

export interface Offset {
  readonly groups: readonly Group[];
  /** Without pids, lanes and iterations. */
  readonly rest: Poly;
}

/** Splits a polynomial by its pids, lanes and iterations; undefined when two of them are multiplied. */
function splitByVariable(
  poly: Poly,
): { readonly coefficients: Map<string, Variable>; readonly rest: Poly } | undefined {
  const coefficients = new Map<string, Variable>();
  let rest: Poly = polyOf(0);
  for (const term of poly.values()) {
    const variables = term.atoms.filter(isVariable);
    const others: Term = {
      coefficient: term.coefficient,
      atoms: term.atoms.filter((atom) => !isVariable(atom)),
    };
    const part: Poly = new Map([[others.atoms.map((atom) => atom.key).join("*"), others]]);
    const [atom] = variables;
    if (variables.length > 1) return undefined;
    if (atom === undefined) rest = addPoly(rest, part);
    else {coefficients.set(atom.key, {
        atom,
        coefficient: addPoly(coefficients.get(atom.key)?.coefficient ?? polyOf(0), part),
      });}
  }
  return { coefficients, rest };
}

interface Variable {
  readonly atom: Atom;
  readonly coefficient: Poly;
}

const isVariable = ({ kind }: Atom): boolean =>
  kind === "pid" || kind === "lane" || kind === "iteration";

const gcd = (a: bigint, b: bigint): bigint => b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b);

/** The form of a set of integer coefficients, and the factor that was taken out. */
function makeForm(
  parts: readonly Part[],
): { form: Form; factor: bigint } | undefined {
  const sorted = [...parts].sort((a, b) => a.atom.key < b.atom.key ? -1 : 1);
  const [first] = sorted;
  if (first === undefined) return undefined;
  const divisor = sorted.reduce((all, part) => gcd(all, part.coefficient), 0n);
  const factor = first.coefficient < 0n ? -divisor : divisor;
  const scaled = sorted.map((part) => ({ ...part, coefficient: part.coefficient / factor }));
  const key = scaled.map(({ atom, coefficient, stride = [] }) =>
    `${coefficient}*${[atom, ...stride].map(({ key }) => key).join("*")}`
  ).join("+");
  return { form: { key, parts: scaled }, factor };
}

/** The bounds that constraints put on forms; what has no such shape bounds nothing. */
export function boundsOf(constraints: readonly Constraint[]): readonly Bound[] {
  return constraints.flatMap((constraint) => {
    const split = splitByVariable(constraint.poly);
    if (split === undefined) return [];
    const parts = [...split.coefficients.values()].map(partOf);
    const known = parts.filter((part) => part !== undefined);
    if (known.length < parts.length) return [];
    const made = makeForm(known);
    if (made === undefined) return [];
    const { form, factor } = made; // factor * form + rest <= 0
    const upper = factor > 0n;
    const limit = upper ? scalePoly(split.rest, -1n) : split.rest;
    return [{ form, upper, limit, divisor: upper ? factor : -factor, constraint }];
  });
}

function partOf({ atom, coefficient }: Variable): Part | undefined {
  const value = constantOf(coefficient);
  if (value !== undefined) return { atom, coefficient: value };
  const [only, ...others] = coefficient.values();
  if (atom.kind !== "iteration" || only === undefined || others.length > 0) return undefined;
  return { atom, coefficient: only.coefficient, stride: only.atoms };
}

/** Whether each index that differs between lanes is bounded: below too, where an offset may be before the first element. */
export function areLanesBounded(poly: Poly, bounds: readonly Bound[]): boolean {
  const offset = groupOffset(poly, bounds);
  if (offset === undefined) return false;
  const { groups, rest } = offset;
  const isBounded = ({ bounds }: Group): boolean =>
    bounds.some(({ upper }) => upper) &&
    (isNonNegative(rest) || bounds.some(({ upper }) => !upper));
  return groups.every((group) =>
    group.form.parts.every(({ atom }) => atom.kind !== "lane") || isBounded(group)
  );
}

/** Takes an offset apart; groups follow the masks' forms first, then each program id with its lanes. */
export function groupOffset(offset: Poly, bounds: readonly Bound[]): Offset | undefined {
  const split = splitByVariable(offset);
  if (split === undefined) return undefined;
  const left = split.coefficients;
  const groups: Group[] = [];
  const take = (form: Form): void => {
    const coefficient = commonCoefficient(form, left);
    if (coefficient === undefined) return;
    for (const { atom } of form.parts) left.delete(atom.key);
    groups.push({
      form,
      coefficient,
      bounds: bounds.filter((bound) => bound.form.key === form.key),
    });
  };
  const forms = [...new Map(bounds.map((bound) => [bound.form.key, bound.form])).values()];
  for (const form of forms.sort((a, b) => b.parts.length - a.parts.length)) take(form);
  for (const variable of [...left.values()]) {
    if (variable.atom.kind === "pid") take(naturalForm(variable, left));
  }
  for (const { atom } of [...left.values()]) {
    take(single(atom));
  }
  return { groups, rest: split.rest };
}

/** The polynomial that the form is multiplied with, if there is one for all its parts. */
function commonCoefficient(form: Form, left: ReadonlyMap<string, Variable>): Poly | undefined {
  let common: Poly | undefined;
  for (const part of form.parts) {
    const variable = left.get(part.atom.key);
    const quotient = variable && divide(variable.coefficient, part);
    if (quotient === undefined) return undefined;
    if (common !== undefined && subPoly(common, quotient).size > 0) return undefined;
    common = quotient;
  }
  return common;
}

function divide(poly: Poly, { coefficient: by, stride = [] }: Part): Poly | undefined {
  const terms: [string, Term][] = [];
  for (const { coefficient, atoms } of poly.values()) {
    const left = [...atoms];
    for (const { key } of stride) {
      const at = left.findIndex((atom) => atom.key === key);
      if (at < 0) return undefined;
      left.splice(at, 1);
    }
    if (coefficient % by !== 0n) return undefined;
    const key = left.map((atom) => atom.key).join("*");
    terms.push([key, { coefficient: coefficient / by, atoms: left }]);
  }
  return new Map(terms);
}

/** A program id with the lane that moves along the same stride: `64*pid.0 + lane.0`. */
function naturalForm(pid: Variable, left: ReadonlyMap<string, Variable>): Form {
  for (const { atom, coefficient } of left.values()) {
    const tile = atom.kind === "lane" ? ratioOf(pid.coefficient, coefficient) : undefined;
    const parts = [{ atom, coefficient: 1n }, { atom: pid.atom, coefficient: tile ?? 1n }];
    const made = tile === undefined ? undefined : makeForm(parts);
    if (made !== undefined) return made.form;
  }
  return single(pid.atom);
}

const single = (atom: Atom): Form => ({ key: `1*${atom.key}`, parts: [{ atom, coefficient: 1n }] });

/** The positive integer n with `a = n * b`, if there is one. */
function ratioOf(a: Poly, b: Poly): bigint | undefined {
  const [first] = [...b];
  if (first === undefined) return undefined;
  const [key, term] = first;
  const over = a.get(key)?.coefficient;
  if (over === undefined || over % term.coefficient !== 0n) return undefined;
  const ratio = over / term.coefficient;
  return ratio > 0n && subPoly(a, scalePoly(b, ratio)).size === 0 ? ratio : undefined;
}

/** Smallest and largest value over the grid and a tile of this shape, both exact. */
export function naturalInterval(
  form: Form,
  shape: readonly number[],
): { readonly lo: Poly; readonly hi: Poly } {
  let [lo, hi]: [Poly, Poly] = [polyOf(0), polyOf(0)];
  for (const { atom, coefficient } of form.parts) {
    const most = atom.kind === "pid"
      ? subPoly(polyOfAtom(gridAtom(atom.axis)), polyOf(1))
      : polyOf(atom.kind === "lane" ? (shape[atom.axis] ?? 1) - 1 : 0);
    if (coefficient > 0n) hi = addPoly(hi, scalePoly(most, coefficient));
    else lo = addPoly(lo, scalePoly(most, coefficient));
  }
  return { lo, hi };
}

/** A form `tile * pid + lanes` whose lanes stay inside one tile: what a tiled loop over an extent looks like. */
export interface Tiling {
  readonly axis: number;
  readonly tile: bigint;
}

/** Reads a form as a tiling. */
export function tilingOf(form: Form, shape: readonly number[]): Tiling | undefined {
  const pids = form.parts.filter((part) => part.atom.kind === "pid");
  const [pid] = pids;
  if (form.parts.some(({ atom }) => atom.kind === "iteration")) return undefined;
  if (pids.length !== 1 || pid === undefined || pid.atom.kind !== "pid") return undefined;
  const lanes: Form = { key: "", parts: form.parts.filter((part) => part !== pid) };
  if (pid.coefficient < 1n || lanes.parts.some((part) => part.coefficient < 0n)) return undefined;
  const span = constantOf(naturalInterval(lanes, shape).hi);
  if (span === undefined || span >= pid.coefficient) return undefined;
  return { axis: pid.atom.axis, tile: pid.coefficient };
}
