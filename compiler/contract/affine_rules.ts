/** INT_RULES: the polynomials of integers by the operation that makes them, for `affine.ts`. */
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { constantOf as irConstant, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import type { TileOp } from "../ir/ops.ts";
import { isPointer } from "../ir/types.ts";
import { apply } from "./expr.ts";
import {
  addPoly,
  type Atom,
  constantOf,
  gridAtom,
  isFollowed,
  laneAtom,
  mulPoly,
  pidAtom,
  type Poly,
  polyExpr,
  polyKey,
  polyOf,
  polyOfAtom,
  quotientOf,
  scalePoly,
  subPoly,
} from "./poly.ts";
import type { ContractOperator } from "./types.ts";

/** A value that must fit its integer type for what was derived to be true. */
export interface Observation {
  readonly poly: Poly;
  readonly type: ScalarName;
  /** It must also be from 0 up to this, where it wraps around. */
  readonly below?: Poly;
  /** The value is this only where these hold (digits/chosen.ts). */
  readonly where?: readonly Constraint[];
}

/** What a true mask implies: `poly <= 0`. */
export interface Constraint {
  readonly poly: Poly;
  readonly observed: readonly Observation[];
  /** The comparison. */
  readonly op: Op;
}

/** Observations that one value may rest on. */
const MAX_OBSERVATIONS = 64;

/** An integer value; lanes are those of the value's own tile. */
export interface AffineInt {
  readonly poly: Poly;
  readonly observed: readonly Observation[];
}

export const exact = (poly: Poly): AffineInt => ({ poly, observed: [] });

/** Each once; undefined where there are too many. */
export function allObserved(
  ...lists: readonly (readonly Observation[])[]
): readonly Observation[] | undefined {
  const [first = [], ...others] = lists.filter((list) => list.length > 0);
  if (others.length === 0) return first;
  const all = new Set(first);
  for (const list of others) for (const observation of list) all.add(observation);
  return all.size > MAX_OBSERVATIONS ? undefined : [...all];
}

export type IntRule<N extends TileOp> = (
  op: OpOf<N>,
  type: ScalarName,
  of: (value: Value) => AffineInt | undefined,
) => AffineInt | undefined;

const binary =
  (combine: (a: Poly, b: Poly) => Poly): IntRule<"add" | "sub" | "mul"> => (op, _type, of) => {
    const { left, right } = operandsOf(op);
    const [a, b] = [of(left), of(right)];
    if (a === undefined || b === undefined) return undefined;
    return bounded(combine(a.poly, b.poly), allObserved(a.observed, b.observed));
  };

/**
 * Contract expressions are plain numbers, exact to 2^53. A coefficient is multiplied with at most the extent
 * of a tile, 2^20 elements; larger ones are not followed.
 */
export function bounded(
  poly: Poly,
  observed: readonly Observation[] | undefined,
): AffineInt | undefined {
  if (observed === undefined || !isFollowed(poly)) return undefined;
  const limit = 1n << 32n;
  const fits = [...poly.values()].every(({ coefficient }) =>
    coefficient < limit && coefficient > -limit
  );
  return fits ? { poly, observed } : undefined;
}

/** Functions that are no polynomials, of values that all programs and lanes share. */
const uniform =
  (operator: ContractOperator): IntRule<"div" | "rem" | "min" | "max"> => (op, type, of) => {
    const { left, right } = operandsOf(op);
    const [a, b] = [of(left), of(right)];
    if (a === undefined || b === undefined || varies(a.poly) || varies(b.poly)) return undefined;
    return bounded(opaque(operator, a.poly, b.poly, resultOf(op)), bothObserved(a, b, type));
  };

/** A division that leaves nothing, whatever the iteration or program: `k / 2` where a loop counts k in steps of 64. */
const divided: IntRule<"div"> = (op, type, of) => {
  const { left, right } = operandsOf(op);
  const [a, b] = [of(left), of(right)];
  const divisor = b && constantOf(b.poly);
  if (a === undefined || b === undefined || divisor === undefined || divisor <= 0n) {
    return undefined;
  }
  const quotient = varies(a.poly) ? quotientOf(a.poly, b.poly) : undefined;
  return quotient && bounded(quotient, bothObserved(a, b, type));
};

/** A function of numbers of the launch that is no polynomial; `value` of the program, if it has it. */
export function opaque(operator: ContractOperator, a: Poly, b: Poly, value?: Value): Poly {
  const atom: Atom = {
    kind: "opaque",
    key: `<${polyKey(a)} ${operator} ${polyKey(b)}>`,
    expr: apply(operator, polyExpr(a), polyExpr(b)),
    ...(value === undefined ? {} : { value }),
  };
  return polyOfAtom(atom);
}

const bothObserved = (
  a: AffineInt,
  b: AffineInt,
  type: ScalarName,
): readonly Observation[] | undefined =>
  allObserved(a.observed, b.observed, [{ poly: a.poly, type }, { poly: b.poly, type }]);

/** `a % b != 0` as a number: `cdiv(a, b) - a / b`. So `a / b + (a % b != 0)` is `cdiv(a, b)`. */
function hasRemainder(
  { left, right }: { readonly left: Value; readonly right: Value },
  of: (value: Value) => AffineInt | undefined,
): AffineInt | undefined {
  const rem = madeBy(left, "rem");
  const type = left.type.element;
  if (rem === undefined || irConstant(right) !== 0n || isPointer(type)) return undefined;
  const dividend = operandsOf(rem);
  const [a, b] = [of(dividend.left), of(dividend.right)];
  if (a === undefined || b === undefined || varies(a.poly) || varies(b.poly)) return undefined;
  return bounded(
    subPoly(opaque("cdiv", a.poly, b.poly), opaque("/", a.poly, b.poly)),
    bothObserved(a, b, type),
  );
}

/**
 * `rm % M` as `rm`, which it is from 0 up to M. Between there and where the tile ends, kernels without masks load rows that
 * they have no use for.
 */
export function wrapped(
  op: OpOf<"rem">,
  type: ScalarName,
  of: (value: Value) => AffineInt | undefined,
): AffineInt | undefined {
  const { left, right } = operandsOf(op);
  return upTo({ value: left, end: right, more: 0n }, type, of);
}

/** `rm < M ? rm : 0`, which is `rm` where it is below M. */
export function replacedAbove(
  op: OpOf<"select">,
  type: ScalarName,
  of: (value: Value) => AffineInt | undefined,
): AffineInt | undefined {
  const { condition, then } = operandsOf(op);
  const below = madeBy(condition, "lt");
  if (below === undefined) return undefined;
  const { left, right } = operandsOf(below);
  return left === then ? upTo({ value: left, end: right, more: 0n }, type, of) : undefined;
}

/** `min(rm, M - 1)`, which is `rm` where it is below M. */
export function limited(
  op: OpOf<"min">,
  type: ScalarName,
  of: (value: Value) => AffineInt | undefined,
): AffineInt | undefined {
  const { left, right } = operandsOf(op);
  return upTo({ value: left, end: right, more: 1n }, type, of) ??
    upTo({ value: right, end: left, more: 1n }, type, of);
}

/** A tile as a value that it is below `end + more`, a number of the launch. */
function upTo(
  { value, end, more }: { readonly value: Value; readonly end: Value; readonly more: bigint },
  type: ScalarName,
  of: (value: Value) => AffineInt | undefined,
): AffineInt | undefined {
  const [a, b] = [of(value), of(end)];
  if (a === undefined || b === undefined || varies(b.poly) || value.type.shape.length === 0) {
    return undefined;
  }
  const observed = bothObserved(a, b, type);
  const within = [{ poly: a.poly, type, below: addPoly(b.poly, polyOf(more)) }];
  return observed && bounded(a.poly, allObserved(observed, within));
}

export const INT_RULES: { readonly [N in TileOp]?: IntRule<N> } = {
  constant: (op) => bounded(polyOf(BigInt(op.attrs.value)), []),
  program_id: (op) => exact(polyOfAtom(pidAtom(op.attrs.axis))),
  num_programs: (op) => exact(polyOfAtom(gridAtom(op.attrs.axis))),
  range: (op) => {
    // A tile of one element has no lanes: axes of extent 1 come and go without a name to keep.
    const lanes = resultOf(op).type.shape[0] === 1 ? polyOf(0) : polyOfAtom(laneAtom(0));
    return exact(addPoly(lanes, polyOf(BigInt(op.attrs.lo))));
  },
  add: binary(addPoly),
  sub: binary(subPoly),
  mul: binary(mulPoly),
  shl: (op, type, of) => {
    const { left, right } = operandsOf(op);
    const count = irConstant(right) ?? irConstantOfSplat(right);
    const value = of(left);
    if (
      value === undefined || typeof count !== "bigint" || count < 0n || count >= SCALARS[type].bits
    ) return undefined;
    return bounded(scalePoly(value.poly, 1n << count), value.observed);
  },
  neg: (op, _type, of) => {
    const value = of(operandsOf(op).value);
    return value && { poly: scalePoly(value.poly, -1n), observed: value.observed };
  },
  div: (op, type, of) => uniform("/")(op, type, of) ?? divided(op, type, of),
  rem: uniform("%"),
  min: uniform("min"),
  max: uniform("max"),
  assume_multiple: (op, _type, of) => of(operandsOf(op).value),
  convert: (op, type, of) => {
    const operand = operandsOf(op).value;
    const from = operand.type.element;
    const compared = madeBy(operand, "ne");
    if (compared !== undefined) return hasRemainder(operandsOf(compared), of);
    const value = of(operand);
    if (value === undefined || isPointer(from)) return undefined;
    const widens = SCALARS[from].bits < SCALARS[type].bits;
    return widens
      ? bounded(value.poly, allObserved(value.observed, [{ poly: value.poly, type: from }]))
      : value;
  },
};

function irConstantOfSplat(value: Value): ReturnType<typeof irConstant> {
  const splat = madeBy(value, "splat");
  return splat && irConstant(operandsOf(splat).value);
}

/** Whether programs, lanes or iterations have different values. */
export function varies(poly: Poly): boolean {
  return [...poly.values()].some((term) => term.atoms.some((atom) => !INVARIANT.has(atom.kind)));
}

const INVARIANT: ReadonlySet<Atom["kind"]> = new Set(["param", "grid", "opaque"]);
