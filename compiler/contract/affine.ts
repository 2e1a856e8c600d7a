/**
 * What a value of the tile IR is as a polynomial in program ids, lanes and scalar parameters.
 *
 *     rm = splat(pid.0 * 64) + range          64*pid.0 + lane.0
 *     rm[:, newaxis] * ldx + rn[newaxis, :]    64*pid.0*ldx + lane.0*ldx + 32*pid.1 + lane.1
 *
 * Integers of the language wrap, and so does the polynomial's claim: it holds modulo 2^bits. Where the
 * program looks at a whole value (compares it, widens it, adds it to a pointer) the claim is exact only if
 * the value fits its type; these are collected as {@linkcode Observation}s, and the user of the
 * polynomial proves or demands that they fit.
 *
 * Values are worked out operands first, without recursion. What grows beyond the limits is as unknown as a loaded
 * value.
 */
import { must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { constantOf as irConstant, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import type { ComparisonOp, TileOp } from "../ir/ops.ts";
import { inputsOf, sourcesFirst } from "../ir/order.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { apply } from "./expr.ts";
import {
  addPoly,
  type Atom,
  gridAtom,
  isFollowed,
  laneAtom,
  mapAtoms,
  mulPoly,
  paramAtom,
  pidAtom,
  type Poly,
  polyExpr,
  polyKey,
  polyOf,
  polyOfAtom,
  scalePoly,
  subPoly,
} from "./poly.ts";
import type { ContractOperator } from "./types.ts";

/** A value that must fit its integer type for what was derived to be true. */
export interface Observation {
  readonly poly: Poly;
  readonly type: ScalarName;
}

/** Observations that one value may rest on. */
const MAX_OBSERVATIONS = 64;
/** Comparisons of one mask that are looked at; the others bound nothing. */
const MAX_CONSTRAINTS = 32;

/** An integer value; lanes are those of the value's own tile. */
export interface AffineInt {
  readonly poly: Poly;
  readonly observed: readonly Observation[];
}

/** An address: bytes from a pointer parameter. */
export interface AffinePointer {
  readonly param: Value;
  readonly bytes: Poly;
  readonly observed: readonly Observation[];
}

/** What a true mask implies: `poly <= 0`. */
export interface Constraint {
  readonly poly: Poly;
  readonly observed: readonly Observation[];
  /** The comparison. */
  readonly op: Op;
}

/** Answers questions about the values of one function; remembers what it worked out. */
export class AffineAnalysis {
  readonly #ints = new Map<Value, AffineInt | undefined>();
  readonly #pointers = new Map<Value, AffinePointer | undefined>();
  readonly #masks = new Map<Value, readonly Constraint[]>();
  readonly #params: ReadonlySet<Value>;

  constructor(func: Func) {
    this.#params = new Set(func.params);
  }

  /** An integer value as a polynomial; undefined: not affine as far as we see. */
  int(value: Value): AffineInt | undefined {
    for (const one of sourcesFirst(value, (known) => this.#ints.has(known))) {
      this.#ints.set(one, this.#int(one));
    }
    return this.#ints.get(value);
  }

  /** The address in a pointer value. */
  pointer(value: Value): AffinePointer | undefined {
    const base = (at: Value): readonly Value[] => inputsOf(at).slice(0, 1);
    for (const one of sourcesFirst(value, (known) => this.#pointers.has(known), base)) {
      this.#pointers.set(one, this.#pointer(one));
    }
    return this.#pointers.get(value);
  }

  /** What holds on lanes whose mask is set. Fewer than it could be, never more. */
  mask(value: Value): readonly Constraint[] {
    for (const one of sourcesFirst(value, (known) => this.#masks.has(known), conjuncts)) {
      this.#masks.set(one, this.#mask(one));
    }
    return must(this.#masks.get(value), "mask");
  }

  #mask(value: Value): readonly Constraint[] {
    const op = value.def;
    if (op === undefined) return [];
    const [first, ...others] = conjuncts(value).map((one) =>
      must(this.#masks.get(one), "part of a mask")
    );
    if (first === undefined) return this.#comparison(op);
    const move = laneMove(op);
    if (move === undefined) {
      return [...new Set([...first, ...others.flat()])].slice(0, MAX_CONSTRAINTS);
    }
    return first.map((constraint) => {
      const poly = mapAtoms(constraint.poly, move);
      return { ...constraint, poly, observed: moveAll(constraint.observed, move) };
    });
  }

  /** What a comparison bounds; others, and `ne`, bound nothing. */
  #comparison(op: Op): readonly Constraint[] {
    switch (op.name) {
      case "lt":
        return this.#bounds(op, ({ difference }) => [[difference, true]]);
      case "le":
        return this.#bounds(op, ({ difference }) => [[difference, false]]);
      case "gt":
        return this.#bounds(op, ({ reverse }) => [[reverse, true]]);
      case "ge":
        return this.#bounds(op, ({ reverse }) => [[reverse, false]]);
      case "eq":
        return this.#bounds(op, ({ difference, reverse }) => [
          [difference, false],
          [reverse, false],
        ]);
      default:
        return [];
    }
  }

  /** Of `left - right` and its negative, those that are below zero: strictly, or not. */
  #bounds(
    op: OpOf<ComparisonOp>,
    choose: (sides: { readonly difference: Poly; readonly reverse: Poly }) => readonly (
      readonly [poly: Poly, strict: boolean]
    )[],
  ): readonly Constraint[] {
    const { left, right } = operandsOf(op);
    const type = left.type.element;
    const lhs = this.int(left);
    const rhs = this.int(right);
    if (lhs === undefined || rhs === undefined || isPointer(type)) return [];
    const observed = allObserved(lhs.observed, rhs.observed, [
      { poly: lhs.poly, type },
      { poly: rhs.poly, type },
    ]);
    if (observed === undefined) return [];
    const difference = subPoly(lhs.poly, rhs.poly);
    return choose({ difference, reverse: scalePoly(difference, -1n) }).map(([poly, strict]) => ({
      poly: strict ? addPoly(poly, polyOf(1)) : poly,
      observed,
      op,
    }));
  }

  #int(value: Value): AffineInt | undefined {
    const type = value.type.element;
    if (isPointer(type) || SCALARS[type].class !== "int" || type === "bool") return undefined;
    const op = value.def;
    if (op === undefined) {
      if (!this.#params.has(value) || value.name === undefined) return undefined;
      return exact(polyOfAtom(paramAtom(value.name, !SCALARS[type].signed)));
    }
    if (INT_RULES[op.name] !== undefined) return this.#byRule(op, type);
    const move = laneMove(op);
    const source = op.operands[0];
    if (move === undefined || source === undefined) return undefined;
    const inner = this.int(source);
    if (inner === undefined) return undefined;
    return { poly: mapAtoms(inner.poly, move), observed: moveAll(inner.observed, move) };
  }

  #byRule<N extends TileOp>(op: OpOf<N>, type: ScalarName): AffineInt | undefined {
    const rule: IntRule<N> | undefined = INT_RULES[op.name];
    return rule?.(op, type, (operand) => this.int(operand));
  }

  #pointer(value: Value): AffinePointer | undefined {
    const element = value.type.element;
    if (!isPointer(element)) return undefined;
    const op = value.def;
    if (op === undefined) {
      return this.#params.has(value) ? { param: value, bytes: polyOf(0), observed: [] } : undefined;
    }
    if (op.name === "offset") {
      const operands = operandsOf(op);
      const base = this.pointer(operands.pointer);
      const count = this.int(operands.count);
      const type = operands.count.type.element;
      if (base === undefined || count === undefined || isPointer(type)) return undefined;
      const moved = scalePoly(count.poly, BigInt(bytesOf(element.pointee)));
      const observed = allObserved(base.observed, count.observed, [{ poly: count.poly, type }]);
      const bytes = addPoly(base.bytes, moved);
      if (observed === undefined || !isFollowed(bytes)) return undefined;
      return { param: base.param, bytes, observed };
    }
    const source = op.operands[0];
    const move = laneMove(op);
    const sameAddress = op.name === "assume_multiple" || op.name === "convert" ||
      op.name === "bitcast";
    if (source === undefined || (move === undefined && !sameAddress)) return undefined;
    const inner = this.pointer(source);
    if (inner === undefined || move === undefined) return inner;
    return {
      ...inner,
      bytes: mapAtoms(inner.bytes, move),
      observed: moveAll(inner.observed, move),
    };
  }
}

const exact = (poly: Poly): AffineInt => ({ poly, observed: [] });

/** Each once; undefined where there are too many. */
function allObserved(
  ...lists: readonly (readonly Observation[])[]
): readonly Observation[] | undefined {
  const [first = [], ...others] = lists.filter((list) => list.length > 0);
  if (others.length === 0) return first;
  const all = new Set(first);
  for (const list of others) for (const observation of list) all.add(observation);
  return all.size > MAX_OBSERVATIONS ? undefined : [...all];
}

/** The masks that all hold where this one does. */
function conjuncts(mask: Value): readonly Value[] {
  const op = mask.def;
  if (op === undefined) return [];
  if (op.name === "and") {
    const { left, right } = operandsOf(op);
    return [left, right];
  }
  if (op.name === "select") { // c ? a : false
    const { condition, then, otherwise } = operandsOf(op);
    const { shape } = condition.type;
    return irConstant(otherwise) === 0n && mask.type.shape.length === shape.length
      ? [condition, then]
      : [];
  }
  return laneMove(op) === undefined ? [] : op.operands.slice(0, 1);
}

type LaneMove = (atom: Atom) => Atom | undefined;

function moveAll(observed: readonly Observation[], move: LaneMove): readonly Observation[] {
  return observed.map(({ poly, type }) => ({ poly: mapAtoms(poly, move), type }));
}

/** How a shape operation renames lanes: the operand's lane to the result's; undefined atom: that lane is 0. */
function laneMove(op: Op): LaneMove | undefined {
  const lanes = (to: (axis: number) => number | undefined): LaneMove => (atom) => {
    if (atom.kind !== "lane") return atom;
    const axis = to(atom.axis);
    return axis === undefined ? undefined : laneAtom(axis);
  };
  switch (op.name) {
    case "splat":
    case "convert_layout":
      return lanes((axis) => axis);
    case "expand_dims": {
      const inserted = op.attrs.axis;
      return lanes((axis) => axis < inserted ? axis : axis + 1);
    }
    case "broadcast": {
      const { shape } = operandsOf(op).value.type;
      return lanes((axis) => shape[axis] === 1 ? undefined : axis);
    }
    case "permute": {
      const { order } = op.attrs;
      return lanes((axis) => order.indexOf(axis));
    }
    case "reshape":
      return unitReshape(op, lanes);
    default:
      return undefined;
  }
}

/** A reshape that only adds or drops axes of extent 1. */
function unitReshape(
  op: OpOf<"reshape">,
  lanes: (to: (axis: number) => number | undefined) => LaneMove,
): LaneMove | undefined {
  const kept = (shape: readonly number[]): number[] =>
    shape.flatMap((extent, axis) => extent === 1 ? [] : [axis]);
  const from = operandsOf(op).value.type.shape;
  const to = resultOf(op).type.shape;
  const [before, after] = [kept(from), kept(to)];
  if (
    before.length !== after.length || before.some((axis, i) => from[axis] !== to[after[i] ?? -1])
  ) return undefined;
  return lanes((axis) => after[before.indexOf(axis)]);
}

type IntRule<N extends TileOp> = (
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
function bounded(
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
    const expr = apply(operator, polyExpr(a.poly), polyExpr(b.poly));
    const atom: Atom = {
      kind: "opaque",
      key: `<${polyKey(a.poly)} ${operator} ${polyKey(b.poly)}>`,
      expr,
    };
    const observed = allObserved(a.observed, b.observed, [
      { poly: a.poly, type },
      { poly: b.poly, type },
    ]);
    return bounded(polyOfAtom(atom), observed);
  };

const INT_RULES: { readonly [N in TileOp]?: IntRule<N> } = {
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
  div: uniform("/"),
  rem: uniform("%"),
  min: uniform("min"),
  max: uniform("max"),
  assume_multiple: (op, _type, of) => of(operandsOf(op).value),
  convert: (op, type, of) => {
    const operand = operandsOf(op).value;
    const from = operand.type.element;
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

/** Whether programs or lanes see different values. */
export function varies(poly: Poly): boolean {
  return [...poly.values()].some((term) =>
    term.atoms.some((atom) => atom.kind === "pid" || atom.kind === "lane")
  );
}
