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
 * - what a loop carries and changes by the same amount in each iteration: `k -= 32` is `K - 32*iteration`, and pointers likewise;
 * - with facts about axes, a tile in whose aligned runs elements grow by one: `*(Rows + i / 64) * 64 + i % 64` is
 *   `lane.0 + run`, where the atom is the same within each run of 64.
 *
 * Of programs with windows also tiles that are divided, and digits that loops count along (digits/).
 */
import { must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { constantOf as irConstant, operandsOf } from "../ir/op.ts";
import type { ComparisonOp, TileOp } from "../ir/ops.ts";
import { inputsOf, sourcesFirst } from "../ir/order.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import type { AxisFacts } from "../tile/axis.ts";
import {
  addPoly,
  isFollowed,
  iterationAtom,
  laneAtom,
  mapAtoms,
  mulPoly,
  paramAtom,
  type Poly,
  polyOf,
  polyOfAtom,
  runAtom,
  scalarAtom,
  scalePoly,
  subPoly,
} from "./poly.ts";
import { digitsOf, type DigitSources } from "./digits/odometer.ts";
import { chosenAmong, chosenBounds } from "./digits/chosen.ts";
import { type Carried, carriedValues, changeBy, isInvariant } from "./carried.ts";
import { laneMove, moveAll, moveConstraint } from "./lane_move.ts";
import {
  type AffineInt,
  allObserved,
  bounded,
  type Constraint,
  exact,
  INT_RULES,
  type IntRule,
  limited,
  type Observation,
  replacedAbove,
  wrapped,
} from "./affine_rules.ts";

/** Operations between what a loop carries into an iteration and out of it that are followed. */
const MAX_STEPS = 16;

/** Comparisons of one mask that are looked at; the others bound nothing. */
const MAX_CONSTRAINTS = 32;

/** An address: bytes from a pointer parameter. */
export interface AffinePointer {
  readonly param: Value;
  readonly bytes: Poly;
  readonly observed: readonly Observation[];
}

/** The shortest runs of a tile that are looked at: rows after which swizzles repeat. */
const LEAST_RUN = 8;

/**
 * What polynomials are over: what is known before a launch, or all that a program computes. `boxes`: the same, and indices
 * that wrap around (`rm % M`) are what they are before that, as is observed of them. `windows`: the same as of a program, and
 * digits of indices. `strides`: the same as of boxes, and an index of any
 * other elements is an atom.
 */
export type AffineScope = "launch" | "program" | "boxes" | "windows" | "strides";

const isConstant = ({ def }: Value): boolean =>
  def?.name === "constant" || (isOp(def, "splat") && isConstant(operandsOf(def).value));

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
  readonly #axisInfo: AxisFacts | undefined;
  readonly #mayWrap: boolean;
  readonly #hasIndices: boolean;
  readonly #digits: DigitSources | undefined;

  constructor(func: Func, scope: AffineScope = "launch", axisInfo?: AxisFacts) {
    this.#axisInfo = axisInfo;
    this.#params = new Set(func.params);
    if (scope !== "launch") this.#carried = carriedValues(func);
    this.#mayWrap = scope === "boxes" || scope === "strides";
    this.#hasIndices = scope === "strides";
    if (scope === "windows" && this.#carried !== undefined) {
      this.#digits = digitsOf(func, (value) => this.int(value), this.#carried);
    }
  }

  /** An integer value as a polynomial; undefined: not affine as far as we see. */
  int(value: Value): AffineInt | undefined {
    const isKnown = (known: Value): boolean => this.#ints.has(known);
    for (const one of sourcesFirst(value, isKnown, (at) => this.#sourcesOf(at, inputsOf(at)))) {
      this.#ints.set(one, this.#ints.get(one) ?? this.#int(one) ?? this.#alone(one));
    }
    return this.#ints.get(value);
  }

  /** What a value is made of; of a carried one what it begins as. */
  #sourcesOf(value: Value, inputs: readonly Value[]): readonly Value[] {
    const carried = this.#carried?.get(value);
    return carried === undefined ? inputs : [carried.from];
  }

  /** An integer of the program that does not come apart, by itself. */
  #alone(value: Value): AffineInt | undefined {
    const { element, shape } = value.type;
    const isInt = this.#carried !== undefined && !isPointer(element) &&
      SCALARS[element].class === "int" && element !== "bool";
    if (!isInt) return undefined;
    if (shape.length === 0) return exact(polyOfAtom(scalarAtom(value)));
    if (this.#digits !== undefined) return this.#digit(value, this.#digits);
    // What is known of M gives `rm % M` runs, which one box serves better than a box for each.
    return this.#wrapped(value, element) ?? this.#inRuns(value);
  }

  /** A tile of digits. */
  #digit(value: Value, { divided, counted }: DigitSources): AffineInt | undefined {
    const { def } = value;
    if (isOp(def, "select")) return this.#chosen(def);
    return isOp(def, "div") || isOp(def, "rem")
      ? divided.ofDivision(def, (operand) => this.int(operand))
      : counted.int(value);
  }

  /** A tile of numbers with another one where a condition does not hold. */
  #chosen(op: OpOf<"select">): AffineInt | undefined {
    const { condition, then, otherwise } = operandsOf(op);
    const value = this.int(then);
    const type = then.type.element;
    const isChosen = value !== undefined && !isPointer(type) &&
      irConstant(otherwise) !== undefined && this.isWhole(condition);
    if (!isChosen) return undefined;
    const where = this.mask(condition);
    const observed = allObserved(value.observed, [{ poly: value.poly, type, where }]);
    return observed && { poly: value.poly, observed };
  }

  /** A tile of numbers that wrap around, or are others where they would be too large. */
  #wrapped({ def }: Value, type: ScalarName): AffineInt | undefined {
    if (!this.#mayWrap) return undefined;
    const of = (operand: Value): AffineInt | undefined => this.int(operand);
    if (isOp(def, "rem") && !isConstant(operandsOf(def).right)) return wrapped(def, type, of);
    if (isOp(def, "select")) return replacedAbove(def, type, of);
    return isOp(def, "min") ? limited(def, type, of) : undefined;
  }

  /** A tile that falls into several runs, or, as an index, into any. */
  #inRuns(value: Value): AffineInt | undefined {
    const [extent = 1, ...others] = value.type.shape;
    if (others.length > 0) return undefined;
    if (this.#hasIndices) return exact(polyOfAtom(runAtom(value, 1, 0)));
    if (this.#axisInfo === undefined) return undefined;
    const [length = 1] = this.#axisInfo(value).contiguity;
    if (length < LEAST_RUN || length >= extent) return undefined;
    return exact(addPoly(polyOfAtom(laneAtom(0)), polyOfAtom(runAtom(value, length, 0))));
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
    return first.map((constraint) => moveConstraint(constraint, move));
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
    if (chosenAmong([...lhs.observed, ...rhs.observed]).length > 0) {
      return isOp(op, "lt") ? chosenBounds(op, lhs, rhs) ?? [] : [];
    }
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
