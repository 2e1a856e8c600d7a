/** Polynomials of a program taken apart: what all of a launch shares, times what its programs, lanes and iterations differ in. */
import { varies } from "../contract/affine_rules.ts";
import { addPoly, type Atom, type Poly, polyOf, polyOfAtom, product } from "../contract/poly.ts";

/** A product of atoms that vary, and the polynomial that it is multiplied with. */
export interface Varying {
  readonly key: string;
  readonly atoms: readonly Atom[];
  /** Does not vary. */
  readonly coefficient: Poly;
}

/** Products of varying atoms by key, in order of appearance; the key of the part that does not vary is empty. */
export function termsOf(poly: Poly): ReadonlyMap<string, Varying> {
  const found = new Map<string, Varying>();
  for (const { coefficient, atoms } of poly.values()) {
    const varying = atoms.filter((atom) => varies(polyOfAtom(atom)));
    const others = atoms.filter((atom) => !varying.includes(atom));
    const key = varying.map((atom) => atom.key).join("*");
    const part = product(polyOf(coefficient), others);
    const known = found.get(key)?.coefficient ?? polyOf(0);
    found.set(key, { key, atoms: varying, coefficient: addPoly(known, part) });
  }
  return found;
}
