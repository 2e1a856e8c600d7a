/**
 * When are two contract expressions equal? When their normal forms are: polynomials over parameters and
 * over what no rule opens, with `a / b`, `cdiv(a, b)` and `a % b` reduced to one floor division. So
 * `(M + TM - 1) / TM`, `cdiv(M, TM)` and `(M - 1) / TM + 1` are the same. C's division towards zero
 * differs from the floor for negative dividends; extents, strides and grids are not negative.
 */
import { bug } from "../support/bug.ts";
import {
  addPoly,
  type Atom,
  constantOf,
  gridAtom,
  isFollowed,
  mulPoly,
  paramAtom,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  scalePoly,
  subPoly,
  type Term,
} from "./poly.ts";
import { constant, constantValue, type Operation, printExpr } from "./expr.ts";
import type { ContractExpr } from "./types.ts";

/** Whether two expressions have the same value for all extents; names of compile-time parameters do not matter. */
export function sameExpr(a: ContractExpr, b: ContractExpr): boolean {
  return normalKey(a) === normalKey(b);
}

/** The same text for equal expressions. */
export function normalKey(expr: ContractExpr): string {
  return polyKey(normalForm(expr));
}

/**
 * The expression as a polynomial; functions that are no polynomials become opaque atoms. So does what grows beyond
 * the limits of polynomials: then only the same text is equal.
 */
export function normalForm(expr: ContractExpr): Poly {
  switch (expr.op) {
    case "const":
      return polyOf(expr.value);
    case "param":
      return polyOfAtom(paramAtom(expr.name));
    case "grid":
      return polyOfAtom(gridAtom(expr.axis));
  }
  const poly = ofOperation(expr);
  return isFollowed(poly) ? poly : opaque(printExpr(expr), expr);
}

function ofOperation(expr: Operation): Poly {
  const parts = expr.args.map(normalForm);
  const part = (index: number): Poly => parts[index] ?? bug(`no argument ${index}`);
  const value = valueOf(expr, parts);
  if (value !== undefined) return polyOf(value);
  switch (expr.op) {
    case "+":
      return addPoly(part(0), part(1));
    case "-":
      return subPoly(part(0), part(1));
    case "*":
      return mulPoly(part(0), part(1));
    case "neg":
      return scalePoly(part(0), -1n);
    case "/":
      return floorDivision(part(0), part(1), expr);
    case "cdiv":
      return floorDivision(addPoly(part(0), subPoly(part(1), polyOf(1))), part(1), expr);
    case "%":
      return subPoly(part(0), mulPoly(part(1), floorDivision(part(0), part(1), expr)));
    case "<":
      return sign("<=0", addPoly(subPoly(part(0), part(1)), polyOf(1)), expr);
    case "<=":
      return sign("<=0", subPoly(part(0), part(1)), expr);
    case ">":
      return sign("<=0", addPoly(subPoly(part(1), part(0)), polyOf(1)), expr);
    case ">=":
      return sign("<=0", subPoly(part(1), part(0)), expr);
    case "==":
    case "!=":
      return equality(expr.op, subPoly(part(0), part(1)), expr);
    case "min":
    case "max":
    case "&&":
    case "||":
      return unordered(expr.op, parts, expr);
    case "?:": {
      const test = constantOf(part(0));
      if (test !== undefined) return test === 0n ? part(2) : part(1);
      return opaque(`?:(${parts.map(polyKey).join(", ")})`, expr);
    }
    case "next_pow2":
    case "!":
      return opaque(`${expr.op}(${parts.map(polyKey).join(", ")})`, expr);
  }
}

/** Of an operation on constants, where all of them are exact. */
function valueOf({ op }: Operation, parts: readonly Poly[]): number | undefined {
  const known = parts.flatMap((poly) => constantOf(poly) ?? []).map(Number);
  if (known.length < parts.length || !known.every(Number.isSafeInteger)) return undefined;
  return constantValue({ op, args: known.map((value) => constant(value)) });
}

function opaque(key: string, expr: ContractExpr): Poly {
  const atom: Atom = { kind: "opaque", key: `<${key}>`, expr };
  return polyOfAtom(atom);
}

/**
 * Moves multiples of a constant divisor out of the quotient: `(4 * M + 5) / 4` is `M + 1 + 1 / 4`. A quotient of a quotient is one:
 * `(M / 4 + 1) / 8` is `(M + 4) / 32`. So is one by a common factor: `(2 * M + 5) / 8` is `(M + 2) / 4`.
 */
function floorDivision(given: Poly, divisor: Poly, expr: Operation): Poly {
  const number = constantOf(divisor);
  if (number === undefined || number <= 0n) {
    return opaque(`${polyKey(given)} / ${polyKey(divisor)}`, expr);
  }
  const factor = commonFactor(given, number);
  const by = number / factor;
  const dividend = factor === 1n ? given : dividedBy(given, factor);
  let whole: Poly = polyOf(0);
  let rest: Poly = polyOf(0);
  for (const term of dividend.values()) {
    const remainder = ((term.coefficient % by) + by) % by;
    whole = addPoly(whole, single(term, (term.coefficient - remainder) / by));
    rest = addPoly(rest, single(term, remainder));
  }
  if (constantOf(rest) !== undefined) return whole; // 0 <= rest < divisor
  const inner = quotientIn(rest);
  const outer = inner && floorDivision(inner.dividend, polyOf(inner.divisor * by), expr);
  return addPoly(whole, outer ?? quotientOf(rest, by, expr));
}

/** What divides a number and all coefficients of what varies. */
function commonFactor(poly: Poly, number: bigint): bigint {
  return [...poly.values()].reduce(
    (factor, { atoms, coefficient }) => atoms.length === 0 ? factor : gcd(factor, coefficient),
    number,
  );
}

function gcd(a: bigint, b: bigint): bigint {
  for (let [x, y] = [a, b < 0n ? -b : b];; [x, y] = [y, x % y]) if (y === 0n) return x;
}

/** By a factor of all that varies; what is constant rounds down. */
function dividedBy(poly: Poly, factor: bigint): Poly {
  return [...poly.values()].reduce<Poly>((sum, term) => {
    const remainder = ((term.coefficient % factor) + factor) % factor;
    return addPoly(sum, single(term, (term.coefficient - remainder) / factor));
  }, polyOf(0));
}

function quotientOf(dividend: Poly, divisor: bigint, expr: ContractExpr): Poly {
  const key = `<${polyKey(dividend)} / ${divisor}>`;
  return polyOfAtom({ kind: "opaque", key, expr, quotient: { dividend, divisor } });
}

/** The quotient of which all that varies in a polynomial is one, with what is added to it drawn in. */
function quotientIn(poly: Poly): Extract<Atom, { kind: "opaque" }>["quotient"] {
  const [term, ...others] = [...poly.values()].filter(({ atoms }) => atoms.length > 0);
  const [atom, ...factors] = term?.atoms ?? [];
  if (atom?.kind !== "opaque" || atom.quotient === undefined) return undefined;
  if (term?.coefficient !== 1n || factors.length > 0 || others.length > 0) return undefined;
  const added = poly.get("")?.coefficient ?? 0n;
  const { dividend, divisor } = atom.quotient;
  return { dividend: addPoly(dividend, polyOf(added * divisor)), divisor };
}

function single(term: Term, coefficient: bigint): Poly {
  return scalePoly(
    new Map([[term.atoms.map((atom) => atom.key).join("*"), { ...term, coefficient: 1n }]]),
    coefficient,
  );
}

function sign(relation: string, difference: Poly, expr: ContractExpr): Poly {
  return opaque(`${polyKey(difference)} ${relation}`, expr);
}

/** `a == b` and `b == a` are one. */
function equality(op: string, difference: Poly, expr: ContractExpr): Poly {
  const keys = [polyKey(difference), polyKey(scalePoly(difference, -1n))].sort();
  return opaque(`${keys.join(" ~ ")} ${op} 0`, expr);
}

function unordered(op: string, parts: readonly Poly[], expr: ContractExpr): Poly {
  const keys = [...new Set(parts.map(polyKey))].sort();
  const only = parts[0];
  if (keys.length === 1 && only !== undefined && (op === "min" || op === "max")) return only;
  return opaque(`${op}(${keys.join(", ")})`, expr);
}
