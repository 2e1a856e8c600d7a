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
 *
 * Of a launch only what its caller can compute has a polynomial. Of a program also
 *
 * - any scalar, by itself if it does not come apart: `pid / width`, an element of a table;
 * - what a loop carries and changes by the same amount in each iteration: `k -= 32` is `K - 32*iteration`, and pointers likewise.
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
  iterationAtom,
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
  scalarAtom,
  scalePoly,
  subPoly,
} from "./poly.ts";
import { type Carried, carriedValues, changeBy, isInvariant } from "./carried.ts";
import { type LaneMove, laneMove } from "./lane_move.ts";
import type { ContractOperator } from "./types.ts";

/** A value that must fit its integer type for what was derived to be true. */
export interface Observation {
  readonly poly: Poly;
  readonly type: ScalarName;
}

/** Operations between what a loop carries into an iteration and out of it that are followed. */
const MAX_STEPS = 16;
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

/** What polynomials are over: what is known before a launch, or all that a program computes. */
export type AffineScope = "launch" | "program";

/** Answers questions about the values of one function; remembers what it worked out. */
export class AffineAnalysis {
  readonly #ints = new Map<Value, AffineInt | undefined>();
  readonly #pointers = new Map<Value, AffinePointer | undefined>();
  readonly #masks = new Map<Value, readonly Constraint[]>();
  /** Masks whose constraints do not say all. */
  readonly #vagueMasks = new Set<Value>();
  readonly #params: ReadonlySet<Value>;
  /** Of a program: the parameters of the regions of loops. */
  readonly #carried: ReadonlyMap<Value, Carried> | undefined;
  readonly #open = new Set<Value>();

  constructor(func: Func, scope: AffineScope = "launch") {
    this.#params = new Set(func.params);
    if (scope === "program") this.#carried = carriedValues(func);
  }

  /** An integer value as a polynomial; undefined: not affine as far as we see. */
  int(value: Value): AffineInt | undefined {
    const isKnown = (known: Value): boolean => this.#ints.has(known);
    for (const one of sourcesFirst(value, isKnown, (at) => this.#sourcesOf(at, inputsOf(at)))) {
      this.#ints.set(one, this.#ints.get(one) ?? this.#int(one) ?? this.#scalar(one));
    }
    return this.#ints.get(value);
  }

  /** What a value is made of; of a carried one what it begins as. */
  #sourcesOf(value: Value, inputs: readonly Value[]): readonly Value[] {
    const carried = this.#carried?.get(value);
    return carried === undefined ? inputs : [carried.from];
  }

  /** A scalar of the program, by itself. */
  #scalar(value: Value): AffineInt | undefined {
    const { element, shape } = value.type;
    const isScalar = this.#carried !== undefined && shape.length === 0 && !isPointer(element) &&
      SCALARS[element].class === "int" && element !== "bool";
    return isScalar ? exact(polyOfAtom(scalarAtom(value))) : undefined;
  }

  /** The address in a pointer value. */
  pointer(value: Value): AffinePointer | undefined {
    const base = (at: Value): readonly Value[] => this.#sourcesOf(at, inputsOf(at).slice(0, 1));
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

  /** Whether a mask is set wherever all of its constraints hold. */
  isWhole(mask: Value): boolean {
    this.mask(mask);
    return !this.#vagueMasks.has(mask);
  }

  #mask(value: Value): readonly Constraint[] {
    const op = value.def;
    const parts = conjuncts(value);
    const [first, ...others] = parts.map((one) => must(this.#masks.get(one), "part of a mask"));
    if (parts.some((one) => this.#vagueMasks.has(one))) this.#vagueMasks.add(value);
    if (op === undefined || first === undefined) {
      const constraints = op === undefined ? [] : this.#comparison(op);
      if (constraints.length === 0 && irConstant(value) !== 1n) this.#vagueMasks.add(value);
      return constraints;
    }
    const move = laneMove(op);
    if (move === undefined) {
      const all = new Set([...first, ...others.flat()]);
      if (all.size > MAX_CONSTRAINTS) this.#vagueMasks.add(value);
      return [...all].slice(0, MAX_CONSTRAINTS);
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
      const carried = this.#carried?.get(value);
      if (carried !== undefined) return this.#inIterations(value, carried);
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
      const carried = this.#carried?.get(value);
      if (carried !== undefined) return this.#pointerInIterations(value, carried);
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

  /** A carried integer in terms of the iterations. */
  #inIterations(value: Value, carried: Carried): AffineInt | undefined {
    const from = this.int(carried.from);
    if (from === undefined || carried.repeated === undefined) return from;
    const step = this.#step(value, carried, carried.repeated);
    return step &&
      bounded(addPoly(from.poly, step.poly), allObserved(from.observed, step.observed));
  }

  /** A carried pointer in terms of the iterations. */
  #pointerInIterations(value: Value, carried: Carried): AffinePointer | undefined {
    const from = this.pointer(carried.from);
    if (from === undefined || carried.repeated === undefined) return from;
    const step = this.#step(value, carried, carried.repeated);
    const bytes = step && addPoly(from.bytes, step.poly);
    const observed = step && allObserved(from.observed, step.observed);
    if (bytes === undefined || observed === undefined || !isFollowed(bytes)) return undefined;
    return { ...from, bytes, observed };
  }

  /** By how much a value has changed after so many iterations, if each adds the same; for pointers in bytes. */
  #step(value: Value, { loop, number, inside }: Carried, repeated: Value): AffineInt | undefined {
    // A step that is made of the value itself.
    if (this.#open.has(value)) return undefined;
    this.#open.add(value);
    let [poly, observed]: [Poly, readonly Observation[]] = [polyOf(0), []];
    let at = repeated;
    for (let length = 0; at !== value; length++) {
      const entered = this.#carried?.get(at);
      const change = entered?.repeated === undefined ? changeBy(at, inside) : undefined;
      const next = entered !== undefined && entered.repeated === undefined
        ? entered.from
        : change?.from;
      if (next === undefined || length > MAX_STEPS) break;
      at = next;
      if (change === undefined) continue;
      const by = this.int(change.by);
      const type = change.by.type.element;
      if (by === undefined || isPointer(type) || !isInvariant(by.poly, loop, inside)) break;
      const all = allObserved(
        observed,
        by.observed,
        change.isObserved ? [{ poly: by.poly, type }] : [],
      );
      if (all === undefined) break;
      poly = addPoly(poly, scalePoly(by.poly, change.factor));
      observed = all;
    }
    this.#open.delete(value);
    if (at !== value) return undefined;
    return { poly: mulPoly(poly, polyOfAtom(iterationAtom(loop, number))), observed };
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

function moveAll(observed: readonly Observation[], move: LaneMove): readonly Observation[] {
  return observed.map(({ poly, type }) => ({ poly: mapAtoms(poly, move), type }));
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
      value: resultOf(op),
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

/** Whether programs, lanes or iterations have different values. */
export function varies(poly: Poly): boolean {
  return [...poly.values()].some((term) => term.atoms.some((atom) => !INVARIANT.has(atom.kind)));
}

const INVARIANT: ReadonlySet<Atom["kind"]> = new Set(["param", "grid", "opaque"]);
