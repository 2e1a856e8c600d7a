/**
 * Indices along one axis of a tile, taken apart. Pixels are counted through rows and pictures, and columns of filters through
 * channels and places of a window:
 *
 *     number  x, which has the lane        inner = x - Q * (x / Q)
 *     above   y = x / Q                    middle = y - P * (y / P),  outer = y / P
 *
 * Without digits the lane itself is `inner`.
 */
import { varies } from "../../contract/affine_rules.ts";
import {
  type Atom,
  constantOf,
  type Digit,
  digitAtom,
  laneAtom,
  mapAtoms,
  mulPoly,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  product,
  scalePoly,
  subPoly,
} from "../../contract/poly.ts";
import { termsOf } from "../terms.ts";

/** Digits along an axis. */
export interface Digits {
  /** What is counted, on this axis. */
  readonly number: Poly;
  readonly above: Digit;
  readonly outer: Digit;
}

/** An axis of a tile. */
export interface Along {
  readonly axis: number;
  readonly digits: Digits | undefined;
}

/** The factors of what indices are made of, and what is the same along the axis. */
export interface Parts {
  readonly inner: Poly;
  readonly middle: Poly;
  readonly outer: Poly;
  readonly rest: Poly;
}

/**
 * The digits along an axis, if they are two quotients, one of the other: those in an address, or those in what its mask
 * compares too. In the address of a dense tensor `w * C + c` is without them where `w` is `x / C` and `c` is `x % C`.
 */
export function alongOf(address: Poly, compared: readonly Poly[], axis: number): Along {
  const own = digitsIn([address], axis);
  return own.digits === undefined ? digitsIn([address, ...compared], axis) : own;
}

function digitsIn(polys: readonly Poly[], axis: number): Along {
  const found = new Map<string, Digit>();
  for (const atom of polys.flatMap((poly) => [...poly.values()]).flatMap(({ atoms }) => atoms)) {
    if (atom.kind === "digit" && atom.axis === axis) found.set(atom.key, atom);
  }
  const all = [...found.values()];
  const outer = all.find(({ dividend }) =>
    all.some((one) => polyKey(dividend) === polyKey(polyOfAtom(digitAtom(one, 0))))
  );
  const above = all.find((one) => one !== outer);
  const isPair = outer !== undefined && above !== undefined && all.length === 2;
  const lane = isPair ? termsOf(above.dividend).get("lane.0")?.coefficient : undefined;
  if (!isPair || lane === undefined || constantOf(lane) !== 1n) return { axis, digits: undefined };
  return { axis, digits: { number: onAxis(above.dividend, axis), above, outer } };
}

/** What is counted along an axis of its own, as along this one. */
const onAxis = (poly: Poly, axis: number): Poly =>
  mapAtoms(poly, (atom) => {
    if (atom.kind === "lane") return laneAtom(axis);
    return atom.kind === "digit" ? digitAtom(atom, axis) : atom;
  });

/** Takes a polynomial apart along an axis. */
export function partsOf(poly: Poly, { axis, digits }: Along): Parts {
  const lane = laneAtom(axis);
  const inner = factorOf(poly, lane);
  if (digits === undefined) {
    const rest = subPoly(poly, mulPoly(inner, polyOfAtom(lane)));
    return { inner, middle: polyOf(0), outer: polyOf(0), rest };
  }
  const { number, above, outer: last } = digits;
  const [y, z] = [polyOfAtom(above), polyOfAtom(last)];
  const withoutInner = subPoly(
    poly,
    mulPoly(inner, subPoly(number, mulPoly(above.divisor, y))),
  );
  const middle = factorOf(withoutInner, above);
  const withoutMiddle = subPoly(
    withoutInner,
    mulPoly(middle, subPoly(y, mulPoly(last.divisor, z))),
  );
  const outer = factorOf(withoutMiddle, last);
  return { inner, middle, outer, rest: subPoly(withoutMiddle, mulPoly(outer, z)) };
}

const factorOf = (poly: Poly, { key }: Atom): Poly =>
  termsOf(poly).get(key)?.coefficient ?? polyOf(0);

/** Whether it differs along an axis. */
export const changesAlong = (poly: Poly, axis: number): boolean =>
  [...poly.values()].some(({ atoms }) =>
    atoms.some((atom) => (atom.kind === "lane" || atom.kind === "digit") && atom.axis === axis)
  );

/** A polynomial at an index along an axis. */
export function atIndex(poly: Poly, axis: number, index: number): Poly {
  let sum = polyOf(0);
  for (const { coefficient, atoms } of poly.values()) {
    let factor = coefficient;
    const others: Atom[] = [];
    for (const atom of atoms) {
      if (atom.kind === "lane" && atom.axis === axis) factor *= BigInt(index);
      else others.push(atom.kind === "digit" && atom.axis === axis ? digitAt(atom, index) : atom);
    }
    sum = subPoly(sum, scalePoly(product(polyOf(1), others), -factor));
  }
  return sum;
}

/** A digit at an index along its axis. */
export function digitAt({ dividend, divisor, name }: Digit, index: number): Digit {
  const there = atIndex(dividend, 0, index);
  // It differs along no axis.
  return digitAtom({ dividend: there, divisor, name: `${name}@${index}` }, -1);
}

/** The terms that differ between programs, lanes or iterations, and the others. */
export function varyingPart(poly: Poly): { readonly varying: Poly; readonly fixed: Poly } {
  const terms = [...poly];
  const isVarying = ([key, term]: typeof terms[number]): boolean => varies(new Map([[key, term]]));
  return {
    varying: new Map(terms.filter(isVarying)),
    fixed: new Map(terms.filter((one) => !isVarying(one))),
  };
}
