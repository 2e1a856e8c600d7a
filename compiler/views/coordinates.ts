/**
 * Coordinates of views as operations of the program. Each part is computed as far outside of loops as it can be; a
 * coordinate that changes with the iterations of a loop is carried by it, and so are digits (carry.ts).
 */
import {
  addPoly,
  type Atom,
  constantOf,
  type Digit,
  digitAtom,
  mapAtoms,
  type Poly,
  polyKey,
  polyOf,
  polyOfAtom,
  product,
  quotientOf,
  scalarAtom,
  subPoly,
} from "../contract/poly.ts";
import { loopOf } from "../ir/flow.ts";
import { type Func, newOp, type Op, type OpOf, type Region, type Value } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import type { BareOp } from "../ir/ops.ts";
import { type IrType, isPointer, scalarType } from "../ir/types.ts";
import { definedIn } from "../ir/walk.ts";
import { bug, must } from "../support/bug.ts";
import { carry, countDigit, type CountedDigit, type Growth } from "./carry.ts";
import { Elements } from "./run_starts.ts";
import type { TensorView, ViewAxis } from "./view.ts";
import { atIndex } from "./windows/along.ts";
import { times } from "../support/times.ts";

const INT32: IrType = scalarType("int32");
const UINT32: IrType = scalarType("uint32");
const BOOL: IrType = scalarType("bool");

/** An operation, and where it is. */
export interface Site {
  readonly op: Op;
  readonly region: Region;
  /** The loops around it, outermost first. */
  readonly loops: readonly { readonly loop: OpOf<"while">; readonly region: Region }[];
}

/** Makes coordinates for loads of one function. */
export class Coordinates {
  readonly #func: Func;
  readonly #inside = new Map<Op, ReadonlySet<Value>>();
  readonly #carried = new Map<Op, Map<string, Value>>();
  readonly #digits = new Map<Op, Map<string, CountedDigit | undefined>>();
  readonly #elements: Elements;

  constructor(func: Func, sites: ReadonlyMap<Op, Site>) {
    this.#func = func;
    this.#elements = new Elements(func, sites);
  }

  /** The value of a polynomial at an operation; int32, modulo 2^32. */
  at(site: Site, poly: Poly): Value {
    return this.#at(site, poly, site.loops.length);
  }

  /**
   * The coordinates of a box of a tile: along each axis of its first element, or of the first one of each of its runs; then
   * the elements of their windows that runs along axis 0 have.
   */
  ofView(site: Site, { axes, gates = [] }: TensorView, shape: readonly number[]): readonly Value[] {
    const [inner, ...others] = axes;
    if (inner === undefined) return [];
    const starts = startsOf(inner, shape);
    const opened = starts.map((start) => gates.map((gate) => along(gate, inner, start)));
    // Before the first element there are zeros.
    const before = inner.tile === undefined ? 0 : -must(shape[inner.tile], "extent");
    const channels = this.#startsAt(inner, shape)
      .map((at, i) => this.#where(site, opened[i] ?? [], at, before));
    const offsets = axes.flatMap(({ offset }) =>
      offset === undefined
        ? []
        : starts.map((start, i) =>
          this.#where(site, opened[i] ?? [], along(offset, inner, start), 0)
        )
    );
    return [...channels, ...others.flatMap((axis) => this.#ofAxis(site, axis, shape)), ...offsets];
  }

  #ofAxis(site: Site, axis: ViewAxis, shape: readonly number[]): readonly Value[] {
    return this.#startsAt(axis, shape).map((start) => this.at(site, start));
  }

  /** The origins of the runs of an axis: what a tile holds there takes the place of what that is more than the index. */
  #startsAt(axis: ViewAxis, shape: readonly number[]): readonly Poly[] {
    const starts = startsOf(axis, shape).map((index) =>
      mapAtoms(
        along(axis.origin, axis, index),
        (atom) => atom.kind === "run" ? scalarAtom(this.#elements.at(atom.value, index)) : atom,
      )
    );
    // Elements may be in loops.
    this.#inside.clear();
    return starts;
  }

  /** A value where all gates are at most 0, and another one elsewhere. */
  #where(site: Site, gates: readonly Poly[], poly: Poly, otherwise: number): Value {
    if (gates.length === 0) return this.at(site, poly);
    const depth = this.#depthOf(site, [poly, ...gates]);
    const place = (
      name: "le" | "and" | "select",
      operands: readonly Value[],
      type: IrType,
    ): Value => this.#placed(site, depth, newOp(this.#func, name, operands, [type], site.op.span));
    const zero = this.#constant(site, depth, 0n);
    const isOpen = gates.map((gate) => place("le", [this.#at(site, gate, depth), zero], BOOL))
      .reduce((all, one) => place("and", [all, one], BOOL));
    const value = this.#at(site, poly, depth);
    return place("select", [isOpen, value, this.#constant(site, depth, BigInt(otherwise))], INT32);
  }

  /** How many of the loops around an operation some polynomials depend on. */
  #depthOf({ loops }: Site, polys: readonly Poly[]): number {
    return 1 + loops.findLastIndex(({ loop }) => polys.some((poly) => this.#dependsOn(poly, loop)));
  }

  #at(site: Site, poly: Poly, depth: number): Value {
    const around = depth === 0 ? undefined : site.loops[depth - 1];
    if (around === undefined) return this.#sum(site, poly, depth);
    const { loop } = around;
    if (!this.#dependsOn(poly, loop)) return this.#at(site, poly, depth - 1);
    const moving: Poly = new Map(
      [...poly].filter(([, { atoms }]) => atoms.some((atom) => isIterationOf(atom, loop))),
    );
    const counter = [...moving.values()].flatMap(({ atoms }) => atoms)
      .find((atom) => isIterationOf(atom, loop));
    if (counter === undefined) return this.#sum(site, poly, depth);
    const step = must(quotientOf(moving, polyOfAtom(counter)), "step of a coordinate");
    const rest = subPoly(poly, moving);
    const isFixed = !this.#dependsOn(rest, loop);
    const carried = this.#carry(site, depth, isFixed ? rest : polyOf(0), step);
    if (isFixed) return carried;
    return this.#insert(site, depth, "add", [carried, this.#sum(site, rest, depth)]);
  }

  /** A value that a loop carries and that grows by a step in each iteration. */
  #carry(site: Site, depth: number, from: Poly, step: Poly): Value {
    const { loop } = must(site.loops[depth - 1], "loop");
    const known = this.#carried.get(loop) ?? new Map<string, Value>();
    this.#carried.set(loop, known);
    const key = `${polyKey(from)} by ${polyKey(step)}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const initial = this.#at(site, from, depth - 1);
    const by = this.#at(site, step, depth - 1);
    const value = carry(this.#func, loop, initial, (at) => {
      const next = newOp(this.#func, "add", [at, by], [INT32], loop.span);
      loopOf(loop).body.ops.splice(-1, 0, next);
      return resultOf(next);
    });
    known.set(key, value);
    this.#inside.delete(loop);
    return value;
  }

  #sum(site: Site, poly: Poly, depth: number): Value {
    let sum: Value | undefined;
    for (const { coefficient, atoms } of poly.values()) {
      let term: Value | undefined;
      for (const atom of atoms) {
        const value = this.#atom(site, atom, depth);
        term = term === undefined ? value : this.#insert(site, depth, "mul", [term, value]);
      }
      if (term === undefined) term = this.#constant(site, depth, coefficient);
      else if (coefficient !== 1n) {
        const factor = this.#constant(site, depth, coefficient);
        term = this.#insert(site, depth, "mul", [term, factor]);
      }
      sum = sum === undefined ? term : this.#insert(site, depth, "add", [sum, term]);
    }
    return sum ?? this.#constant(site, depth, 0n);
  }

  #atom(site: Site, atom: Atom, depth: number): Value {
    switch (atom.kind) {
      case "param": {
        const param = this.#func.params.find(({ name }) => name === atom.name);
        return this.#int32(site, depth, must(param, "parameter"));
      }
      case "scalar":
        return this.#int32(site, depth, atom.value);
      case "opaque":
        return this.#int32(site, depth, must(atom.value, "value of a quotient"));
      case "pid":
        return this.#placed(
          site,
          depth,
          newOp(this.#func, "program_id", [], [INT32], site.op.span, {
            axis: atom.axis,
          }),
        );
      case "grid":
        return this.#placed(
          site,
          depth,
          newOp(this.#func, "num_programs", [], [INT32], site.op.span, {
            axis: atom.axis,
          }),
        );
      case "digit":
        return this.#quotient(site, atom, depth);
      case "iteration": // of an outer loop
        return this.#at(site, product(polyOf(1), [atom]), depth);
      case "lane":
      case "run":
        return bug("a lane in a coordinate");
    }
  }

  /** A quotient; what a loop changes by the same amount in each iteration is counted along. */
  #quotient(site: Site, digit: Digit, depth: number): Value {
    const at = Math.min(depth, this.#depthOf(site, [digit.dividend, digit.divisor]));
    const counted = this.#counted(site, digit, at);
    const quotient = counted?.quotient ?? this.#divided(site, digit, at).quotient;
    return this.#placed(
      site,
      at,
      newOp(this.#func, "convert", [quotient], [INT32], site.op.span),
    );
  }

  /** Divisions of unsigned numbers are the shorter ones. */
  #divided(site: Site, { dividend, divisor }: Pick<Digit, "dividend" | "divisor">, depth: number): {
    readonly quotient: Value;
    readonly left: Value;
    readonly divisor: Value;
  } {
    const place = (name: "convert" | "div" | "rem", operands: readonly Value[]): Value =>
      this.#placed(site, depth, newOp(this.#func, name, operands, [UINT32], site.op.span));
    const [a, b] = [dividend, divisor].map((poly) =>
      place("convert", [this.#at(site, poly, depth)])
    );
    const operands = [must(a, "dividend"), must(b, "divisor")];
    const quotient = place("div", operands);
    return { quotient, left: place("rem", operands), divisor: must(b, "divisor") };
  }

  /** The digit in the innermost loop around a place, if the loop changes it and can count it along. */
  #counted(site: Site, digit: Digit, depth: number): CountedDigit | undefined {
    const around = site.loops[depth - 1];
    if (around === undefined || this.#dependsOn(digit.divisor, around.loop)) return undefined;
    const { loop } = around;
    const known = this.#digits.get(loop) ?? new Map<string, CountedDigit | undefined>();
    this.#digits.set(loop, known);
    if (!known.has(digit.key)) known.set(digit.key, this.#count(site, digit, loop, depth));
    this.#inside.delete(loop);
    return known.get(digit.key);
  }

  #count(
    site: Site,
    { dividend, divisor }: Digit,
    loop: OpOf<"while">,
    depth: number,
  ): CountedDigit | undefined {
    const start = withoutIterations(dividend, loop);
    const grown = this.#growthOf(site, dividend, loop, depth);
    if (grown === undefined || this.#dependsOn(start, loop)) return undefined;
    const outside = depth - 1;
    const before = this.#divided(site, { dividend: start, divisor }, outside);
    const place = (name: "div" | "rem"): Value =>
      this.#placed(
        site,
        outside,
        newOp(this.#func, name, [grown.by, before.divisor], [UINT32], site.op.span),
      );
    const by = { quotient: place("div"), left: place("rem") };
    return countDigit(this.#func, loop, before, before.divisor, by, grown.carried);
  }

  /** By how much a dividend grows in each iteration: always the same, or as a digit that is counted along. */
  #growthOf(
    site: Site,
    dividend: Poly,
    loop: OpOf<"while">,
    depth: number,
  ): Growth | undefined {
    const [term, ...others] = [...dividend.values()];
    const [atom, ...factors] = term?.atoms ?? [];
    const isDigit = others.length + factors.length === 0 && term?.coefficient === 1n;
    if (isDigit && atom?.kind === "digit") return this.#counted(site, atom, depth)?.growth;
    const moving: Poly = new Map(
      [...dividend].filter(([, { atoms }]) => atoms.some((one) => isIterationOf(one, loop))),
    );
    const counter = [...moving.values()].flatMap(({ atoms }) => atoms)
      .find((one) => isIterationOf(one, loop));
    const step = counter && quotientOf(moving, polyOfAtom(counter));
    const value = step && constantOf(step);
    if (value === undefined || value < 1n || value > MOST_STEP) return undefined;
    const made = newOp(this.#func, "constant", [], [UINT32], site.op.span, { value });
    return { by: this.#placed(site, depth - 1, made), carried: undefined };
  }

  #int32(site: Site, depth: number, value: Value): Value {
    const { element } = value.type;
    if (isPointer(element)) return bug("a pointer in a coordinate");
    return element === "int32" ? value : this.#insert(site, depth, "convert", [value]);
  }

  #constant(site: Site, depth: number, value: bigint): Value {
    const wrapped = BigInt.asIntN(32, value);
    const attrs = { value: wrapped };
    return this.#placed(
      site,
      depth,
      newOp(this.#func, "constant", [], [INT32], site.op.span, attrs),
    );
  }

  #insert(site: Site, depth: number, name: BareOp, operands: readonly Value[]): Value {
    return this.#placed(site, depth, newOp(this.#func, name, operands, [INT32], site.op.span));
  }

  /** Puts an operation in front of the load, or of the loop around it at this depth. */
  #placed({ op, region, loops }: Site, depth: number, made: Op): Value {
    const outer = loops[depth];
    const [into, before] = outer === undefined ? [region, op] : [outer.region, outer.loop];
    into.ops.splice(into.ops.indexOf(before), 0, made);
    return resultOf(made);
  }

  #dependsOn(poly: Poly, loop: OpOf<"while">): boolean {
    const inside = this.#inside.get(loop) ?? definedIn(...loop.regions);
    this.#inside.set(loop, inside);
    return [...poly.values()].some(({ atoms }) =>
      atoms.some((atom) =>
        isIterationOf(atom, loop) ||
        (atom.kind === "digit" && this.#dependsOn(atom.dividend, loop)) ||
        ((atom.kind === "scalar" || atom.kind === "opaque") && atom.value !== undefined &&
          inside.has(atom.value))
      )
    );
  }
}

/** Where the runs of an axis begin along the axis of the tile. */
const startsOf = ({ tile, run }: ViewAxis, shape: readonly number[]): readonly number[] =>
  run === undefined || tile === undefined
    ? [0]
    : times(must(shape[tile], "extent") / run, (i) => i * run);

/** A polynomial where a run of an axis begins. */
const along = (poly: Poly, { tile, run }: ViewAxis, start: number): Poly =>
  tile === undefined || run === undefined ? poly : atIndex(poly, tile, start);

/** What a number is before the first iteration of a loop, and so are the digits that it is made of. */
function withoutIterations(poly: Poly, loop: OpOf<"while">): Poly {
  let sum = polyOf(0);
  for (const { coefficient, atoms } of poly.values()) {
    if (atoms.some((atom) => isIterationOf(atom, loop))) continue;
    const before = atoms.map((atom) => atom.kind === "digit" ? digitBefore(atom, loop) : atom);
    sum = addPoly(sum, product(polyOf(coefficient), before));
  }
  return sum;
}

function digitBefore(digit: Digit, loop: OpOf<"while">): Digit {
  const dividend = withoutIterations(digit.dividend, loop);
  if (polyKey(dividend) === polyKey(digit.dividend)) return digit;
  return digitAtom(
    { ...digit, dividend, name: `${digit.name} of ${polyKey(dividend)}` },
    digit.axis,
  );
}

/** Steps that are counted along. */
const MOST_STEP = 1n << 20n;

const isIterationOf = (atom: Atom, loop: OpOf<"while">): boolean =>
  atom.kind === "iteration" && atom.loop === loop;

/** Whether the program can compute it: a coordinate grows by the same amount in each iteration. */
export function isComputable(poly: Poly): boolean {
  return [...poly.values()].every(({ atoms }) =>
    atoms.filter(({ kind }) => kind === "iteration").length <= 1 &&
    atoms.every((atom) => atom.kind !== "opaque" || atom.value !== undefined)
  );
}

/** Where operations are, by operation. */
export function sitesOf(func: Func): ReadonlyMap<Op, Site> {
  const sites = new Map<Op, Site>();
  const visit = (region: Region, loops: Site["loops"]): void => {
    for (const op of region.ops) {
      sites.set(op, { op, region, loops });
      const inner = op.name === "while" ? [...loops, { loop: op, region }] : loops;
      for (const one of op.regions) visit(one, inner);
    }
  };
  visit(func.body, []);
  return sites;
}
