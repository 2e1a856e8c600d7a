/** Polynomials of a program taken apart: what all of a launch shares, times what its programs, lanes and iterations differ in. */
import { varies } from "../contract/affine_rules.ts";
import { addPoly, type Atom, mulPoly, type Poly, polyOf, polyOfAtom } from "../contract/poly.ts";

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
