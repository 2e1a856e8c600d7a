/**
 * Polynomials with exact integer coefficients over named atoms. The common ground of two questions: are
 * two contract expressions equal (`normal.ts`), and which elements does a pointer tile address
 * (`affine.ts`), where `pid` and `lane` atoms are the program's index and the element's. Within one program there are
 * more: a scalar that all its elements share, the number of completed iterations of a loop, and quotients of tiles.
 */
import { apply, constant, grid, param } from "./expr.ts";
import { bug } from "../support/bug.ts";
import type { OpOf, Value } from "../ir/func.ts";
import type { ContractExpr } from "./types.ts";

/** Something that a polynomial is over. Equal keys mean equal atoms. */
export type Atom =
  | {
    readonly kind: "param";
    readonly key: string;
    readonly name: string;
    readonly unsigned: boolean;
  }
  | { readonly kind: "grid"; readonly key: string; readonly axis: number }
  | { readonly kind: "pid"; readonly key: string; readonly axis: number }
  /** Index along an axis of the tile that the polynomial describes. */
  | { readonly kind: "lane"; readonly key: string; readonly axis: number }
  | {
    readonly kind: "opaque";
    readonly key: string;
    readonly expr: ContractExpr;
    /** In a function, a value that is it. */
    readonly value?: Value;
    /** In a normal form, what it divides and by what. */
    readonly quotient?: { readonly dividend: Poly; readonly divisor: bigint };
  }
  /** A scalar of the program that does not come apart. */
  | { readonly kind: "scalar"; readonly key: string; readonly value: Value }
  /** By how much a tile of integers differs from the index along its axis, which is the same in each aligned run. */
  | {
    readonly kind: "run";
    readonly key: string;
    readonly value: Value;
    /** The axis of the tile that the polynomial describes. */
    readonly axis: number;
    readonly length: number;
  }
  /** What a tile of numbers that are not negative holds many times a number of the launch: the quotient, rounded down. */
  | {
    readonly kind: "digit";
    readonly key: string;
    /** The axis of the tile that the polynomial describes. */
    readonly axis: number;
    /** Of a tile of one axis: its lanes, and those of digits in it, are of axis 0. */
    readonly dividend: Poly;
    readonly divisor: Poly;
    /** The same for equal dividends and divisors. */
    readonly name: string;
  }
  /** Completed iterations of a loop: 0 in the first one. */
  | { readonly kind: "iteration"; readonly key: string; readonly loop: OpOf<"while"> };

/** A product of atoms, sorted by key, times a coefficient that is not zero. */
export interface Term {
  readonly coefficient: bigint;
  readonly atoms: readonly Atom[];
}

/** Terms by the joined keys of their atoms. */
export type Poly = ReadonlyMap<string, Term>;

const ZERO: Poly = new Map();

/** Terms of a polynomial that is followed. An index into a tensor of five axes has about ten. */
const MAX_TERMS = 64;
/** Atoms of a term that is followed: a stride that is a product of extents has as many as there are axes. */
const MAX_DEGREE = 16;
/** Characters of the keys of its atoms: quotients of quotients spell out all that they are made of. */
const MAX_KEY_LENGTH = 2000;

/** Whether a polynomial is small enough to be followed. */
export function isFollowed(poly: Poly): boolean {
  if (poly.size > MAX_TERMS) return false;
  let length = 0;
  for (const [key, { atoms }] of poly) {
    length += key.length;
    if (atoms.length > MAX_DEGREE || length > MAX_KEY_LENGTH) return false;
  }
  return true;
}

export const paramAtom = (name: string, unsigned = false): Atom => ({
  kind: "param",
  key: name,
  name,
  unsigned,
});
export const gridAtom = (axis: number): Atom => ({ kind: "grid", key: `grid.${axis}`, axis });
export const pidAtom = (axis: number): Atom => ({ kind: "pid", key: `pid.${axis}`, axis });
export const laneAtom = (axis: number): Atom => ({ kind: "lane", key: `lane.${axis}`, axis });
export const scalarAtom = (value: Value): Atom => ({
  kind: "scalar",
  key: `%${value.id}`,
  value,
});
export const runAtom = (value: Value, length: number, axis: number): Atom => ({
  kind: "run",
  key: `run.${axis}.%${value.id}`,
  value,
  axis,
  length,
});
/** Along an axis of the tile that the polynomial describes. */
export type TileAtom = Extract<Atom, { readonly kind: "lane" | "run" | "digit" }>;
export const isOfTile = (atom: Atom): atom is TileAtom =>
  atom.kind === "lane" || atom.kind === "run" || atom.kind === "digit";

export type Digit = Extract<Atom, { kind: "digit" }>;

export const digitAtom = (
  { dividend, divisor, name }: Pick<Digit, "dividend" | "divisor" | "name">,
  axis: number,
): Digit => ({ kind: "digit", key: `digit.${axis}.${name}`, axis, dividend, divisor, name });
export const iterationAtom = (loop: OpOf<"while">, number: number): Atom => ({
  kind: "iteration",
  key: `iteration.${number}`,
  loop,
});

/** The polynomial that is one constant. */
export function polyOf(value: bigint | number): Poly {
  const coefficient = BigInt(value);
  return coefficient === 0n ? ZERO : new Map([["", { coefficient, atoms: [] }]]);
}

/** The polynomial that is one atom. */
export function polyOfAtom(atom: Atom): Poly {
  return new Map([[atom.key, { coefficient: 1n, atoms: [atom] }]]);
}

function fromTerms(terms: Iterable<Term>): Poly {
  const sum = new Map<string, Term>();
  for (const term of terms) {
    const key = term.atoms.map((atom) => atom.key).join("*");
    const coefficient = term.coefficient + (sum.get(key)?.coefficient ?? 0n);
    if (coefficient === 0n) sum.delete(key);
    else sum.set(key, { coefficient, atoms: term.atoms });
  }
  return sum;
}

export function addPoly(a: Poly, b: Poly): Poly {
  return fromTerms([...a.values(), ...b.values()]);
}

export function scalePoly(a: Poly, factor: bigint): Poly {
  return fromTerms(
    [...a.values()].map((term) => ({ ...term, coefficient: term.coefficient * factor })),
  );
}

export function subPoly(a: Poly, b: Poly): Poly {
  return addPoly(a, scalePoly(b, -1n));
}

/** Both must be small enough to be followed; their product may not be. */
export function mulPoly(a: Poly, b: Poly): Poly {
  const terms: Term[] = [];
  for (const x of a.values()) {
    for (const y of b.values()) {
      const atoms = [...x.atoms, ...y.atoms].sort((p, q) =>
        p.key < q.key ? -1 : p.key > q.key ? 1 : 0
      );
      terms.push({ coefficient: x.coefficient * y.coefficient, atoms });
    }
  }
  return fromTerms(terms);
}

/** The polynomial times atoms. */
export function product(poly: Poly, atoms: readonly Atom[]): Poly {
  return atoms.reduce((all, atom) => mulPoly(all, polyOfAtom(atom)), poly);
}

/** The quotient of a division that leaves nothing; undefined otherwise. Divisors have one term, or are a whole multiple. */
export function quotientOf(poly: Poly, by: Poly): Poly | undefined {
  const [divisor, ...others] = [...by.values()];
  if (divisor === undefined) return undefined;
  let quotient = polyOf(0);
  if (others.length === 0) {
    for (const term of poly.values()) {
      const left = [...term.atoms];
      for (const { key } of divisor.atoms) {
        const at = left.findIndex((atom) => atom.key === key);
        if (at < 0) return undefined;
        left.splice(at, 1);
      }
      if (term.coefficient % divisor.coefficient !== 0n) return undefined;
      quotient = addPoly(quotient, product(polyOf(term.coefficient / divisor.coefficient), left));
    }
    return quotient;
  }
  const [key] = by.keys();
  const over = poly.get(key ?? "")?.coefficient ?? 0n;
  if (over % divisor.coefficient !== 0n) return undefined;
  quotient = polyOf(over / divisor.coefficient);
  const back = mulPoly(by, quotient);
  return back.size === poly.size &&
      [...back].every(([at, { coefficient }]) => poly.get(at)?.coefficient === coefficient)
    ? quotient
    : undefined;
}

/** The value of a polynomial without atoms. */
export function constantOf(poly: Poly): bigint | undefined {
  if (poly.size === 0) return 0n;
  return poly.size === 1 ? poly.get("")?.coefficient : undefined;
}

/** Same text for equal polynomials. */
export function polyKey(poly: Poly): string {
  const parts = [...poly].map(([key, term]) => `${term.coefficient}${key === "" ? "" : `*${key}`}`);
  return parts.length === 0 ? "0" : parts.sort().join(" + ");
}

/** The polynomial with other atoms: `undefined` drops every term with the atom (the atom is 0). */
export function mapAtoms(poly: Poly, change: (atom: Atom) => Atom | undefined): Poly {
  const terms: Term[] = [];
  for (const term of poly.values()) {
    const atoms = term.atoms.map(change);
    if (atoms.some((atom) => atom === undefined)) continue;
    const kept = atoms.filter((atom) => atom !== undefined);
    terms.push({
      coefficient: term.coefficient,
      atoms: kept.sort((p, q) => p.key < q.key ? -1 : p.key > q.key ? 1 : 0),
    });
  }
  return fromTerms(terms);
}

/** Whether no value of the atoms makes it negative, as far as their signs show. */
export function isNonNegative(poly: Poly): boolean {
  return [...poly.values()].every((term) =>
    term.coefficient > 0n &&
    term.atoms.every((atom) => atom.kind === "param" ? atom.unsigned : !ANY_SIGN.has(atom.kind))
  );
}

const ANY_SIGN: ReadonlySet<Atom["kind"]> = new Set(["opaque", "scalar", "run", "digit"]);

/** As a contract expression: positive terms first, so that `M - 1` and not `-1 + M` comes out. */
export function polyExpr(poly: Poly): ContractExpr {
  const terms = [...poly.values()].sort((a, b) => order(a) - order(b));
  let sum: ContractExpr | undefined;
  for (const term of terms) {
    const negative = term.coefficient < 0n && sum !== undefined;
    const factor = negative ? -term.coefficient : term.coefficient;
    const product = term.atoms.reduce<ContractExpr>(
      (left, atom) => apply("*", left, atomExpr(atom)),
      constant(factor),
    );
    sum = sum === undefined ? product : apply(negative ? "-" : "+", sum, product);
  }
  return sum ?? constant(0);
}

const order = (term: Term): number =>
  (term.atoms.length === 0 ? 2 : 0) + (term.coefficient < 0n ? 1 : 0);

function atomExpr(atom: Atom): ContractExpr {
  switch (atom.kind) {
    case "param":
      return param(atom.name);
    case "grid":
      return grid(atom.axis);
    case "opaque":
      return atom.expr;
    case "pid":
    case "lane":
    case "scalar":
    case "run":
    case "digit":
    case "iteration":
      return bug(`${atom.key} in a contract expression`);
  }
}
