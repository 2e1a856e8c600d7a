/**
 * Between which numbers values of a program lie, whatever the program: enough to show that an index does not wrap and a
 * coordinate is not negative. Parameters that matter are demanded to lie within 1 and 2^30, the grid within 2^22: no
 * launch that needs more fits into a GPU.
 * Orders of programs: program_groups.ts.
 */
import type { AffineAnalysis } from "../contract/affine.ts";
import type { AffineInt, Constraint, Observation } from "../contract/affine_rules.ts";
import { varies } from "../contract/affine_rules.ts";
import { hull, least, type Limits, limitsOfType, limitsWith, most } from "../contract/magnitude.ts";
import {
  addPoly,
  type Atom,
  constantOf,
  type Poly,
  polyExpr,
  polyOf,
  quotientOf,
  scalePoly,
  subPoly,
  type Term,
} from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import { loopOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { constantOf as irConstant, operandsOf } from "../ir/op.ts";
import type { Demands } from "./demands.ts";
import { INT64, times, typeLimits, within } from "./limits.ts";
import { ProgramGroups } from "./program_groups.ts";
import { termsOf } from "./terms.ts";

const MOST_PARAM = 1n << 30n;
const MOST_PROGRAMS = 1n << 22n;
const MOST_INT = (1n << 31n) - 1n;
/** CUDA's limit on the grid's axes but the first. */
const MOST_OUTER = 65535n;
/** Values that are made of each other and looked at. */
const MAX_DEPTH = 100;

const isOfRun = ({ atoms }: Term): boolean => atoms.some(({ kind }) => kind === "run");
const hasRuns = (poly: Poly): boolean => [...poly.values()].some(isOfRun);

type RunAtom = Extract<Atom, { kind: "run" }>;

/** What a loop tests: `poly <= 0`, where `poly` grows by `by` in each iteration, which is positive. */
interface Test {
  readonly loop: Op;
  readonly poly: Poly;
  readonly by: Poly;
  /** Whether values may be those of the iteration in which the test fails. */
  readonly mayFail: boolean;
}

export class Bounds {
  readonly #analysis: AffineAnalysis;
  readonly #demands: Demands;
  readonly #groups: ProgramGroups;
  readonly #types: ReadonlyMap<string, Limits>;
  #atoms = new Map<Value, Limits>();
  readonly #iterations = new Map<Op, Limits>();
  readonly #tests = new Map<Op, Test>();
  /** Products of parameters that are demanded to be no larger than one, by the keys of their terms. */
  readonly #products = new Map<string, Limits>();
  /** Parameters of which something is demanded. */
  readonly #asked = new Set<string>();
  /** Parameters that the condition of a selection shows to be positive where a value is looked at. */
  #positive: ReadonlySet<string> = new Set();
  #depth = 0;

  constructor(func: Func, analysis: AffineAnalysis, demands: Demands) {
    this.#analysis = analysis;
    this.#demands = demands;
    this.#groups = new ProgramGroups(analysis, demands, {
      poly: (poly) => this.poly(poly),
      value: (value) => this.#value(value),
      end: (poly) => this.#endOf(poly),
    });
    this.#types = new Map(
      func.params.map((param) => [param.name ?? "", typeLimits(param)]),
    );
  }

  /** The limits of a polynomial over lanes of a tile of this shape. */
  poly(poly: Poly, shape: readonly number[] = []): Limits {
    const { min, max } = this.#inLoops(poly, this.#sum(poly, shape), shape);
    return { min: min < 1n && this.#groups.isPositive(poly) ? 1n : min, max };
  }

  /** The limits of where the runs of an axis begin: its origin, and for each run what its tile holds there. */
  starts(origin: Poly): Limits {
    if (!hasRuns(origin)) return this.poly(origin);
    const terms = [...origin];
    const rest = this.poly(new Map(terms.filter(([, term]) => !isOfRun(term))));
    const runs = new Map(terms.filter(([, term]) => isOfRun(term)));
    const { min, max } = this.#sum(runs, [], ({ value }) => this.#element(value));
    return { min: rest.min + min, max: rest.max + max };
  }

  /** The limits where atoms do not depend on each other. */
  #sum(poly: Poly, shape: readonly number[], ofRun = this.#beforeLane): Limits {
    let [min, max] = [0n, 0n];
    for (const [key, { coefficient, atoms }] of poly) {
      const own: Limits = { min: coefficient, max: coefficient };
      const product = this.#products.get(key);
      const limits = product !== undefined
        ? times(own, product)
        : atoms.map((atom) => atom.kind === "run" ? ofRun(atom) : this.#atom(atom, shape))
          .reduce(times, own);
      min += limits.min;
      max += limits.max;
    }
    return { min, max };
  }

  /** Narrower limits, if the test of a loop bounds what changes: `first + 64 * iteration < end` does, whatever `first` is. */
  #inLoops(poly: Poly, limits: Limits, shape: readonly number[]): Limits {
    let { min, max } = limits;
    for (const { coefficient, atoms: [atom, ...others] } of termsOf(poly).values()) {
      const test = atom?.kind === "iteration" ? this.#tests.get(atom.loop) : undefined;
      const quotient = test && others.length === 0 ? quotientOf(coefficient, test.by) : undefined;
      const times = quotient && constantOf(quotient);
      if (test === undefined || times === undefined || times === 0n) continue;
      const passed = this.#sum(subPoly(poly, scalePoly(test.poly, times)), shape);
      const first = this.#sum(withoutLoop(poly, test.loop), shape);
      const step = this.#sum(coefficient, []);
      if (times > 0n) {
        const end = test.mayFail ? most([first.max, passed.max + step.max]) : passed.max;
        max = least([max, end]);
      } else {
        const end = test.mayFail ? least([first.min, passed.min + step.min]) : passed.min;
        min = most([min, end]);
      }
    }
    return { min, max };
  }

  /** What a number is below by the test of a loop, if that is a number of the launch: `first + step * iteration < end`. */
  #endOf(poly: Poly): Poly | undefined {
    for (const { atoms: [atom] } of termsOf(poly).values()) {
      const test = atom?.kind === "iteration" ? this.testOf(atom.loop) : undefined;
      const end = test && addPoly(subPoly(poly, test.poly), polyOf(1));
      if (end !== undefined && !varies(end)) return end;
    }
    return undefined;
  }

  /** Whether all values fit a type. */
  fits(poly: Poly, type: Limits, shape: readonly number[] = []): boolean {
    return within(this.poly(poly, shape), type);
  }

  /** The same; of a positive number of the launch, such as its pixels, it is demanded. */
  demandFits(poly: Poly, type: Limits, shape: readonly number[] = []): boolean {
    const { min, max } = this.poly(poly, shape);
    if (within({ min, max }, type)) return true;
    if (varies(poly) || min < 1n) return false;
    this.#demands.atMost(polyExpr(poly), type.max);
    return true;
  }

  /** Whether what was observed is so on all lanes. */
  #isObserved({ poly, type, below }: Observation, shape: readonly number[] = []): boolean {
    return below === undefined && this.fits(poly, limitsOfType(type), shape);
  }

  /** The same; of a positive number of the launch it is demanded. */
  demandObserved({ poly, type, below }: Observation, shape: readonly number[] = []): boolean {
    return below === undefined && this.demandFits(poly, limitsOfType(type), shape);
  }

  /** Whether an expression stays below, whatever its names are, as far as demanded. */
  isAtMost(expr: ContractExpr, most: bigint): boolean {
    const limits = limitsWith(
      expr,
      (leaf) =>
        leaf.op === "grid" || this.#asked.has(leaf.name)
          ? this.#leaf(leaf)
          : this.#types.get(leaf.name),
    );
    return limits !== undefined && limits.max <= most;
  }

  /** What an element of a tile of runs is more than its index. */
  readonly #beforeLane = ({ value }: RunAtom): Limits => {
    const { min, max } = this.#element(value);
    return { min: min - BigInt(value.type.shape[0] ?? 1) + 1n, max };
  };

  /** The limits of the elements of a tile of runs, from its operation. */
  #element(value: Value): Limits {
    const { def } = value;
    if (def?.name !== "add" && def?.name !== "convert") return this.#scalar(value);
    const parts = def.operands.map((operand) => this.#value(operand));
    const sum = parts.reduce((a, b) => ({ min: a.min + b.min, max: a.max + b.max }));
    const type = typeLimits(value);
    return within(sum, type) ? sum : type;
  }

  #atom(atom: Exclude<Atom, RunAtom>, shape: readonly number[]): Limits {
    switch (atom.kind) {
      case "lane":
        return { min: 0n, max: BigInt(shape[atom.axis] ?? 1) - 1n };
      case "pid": {
        const { max } = this.#leaf({ op: "grid", axis: atom.axis }) ?? INT64;
        return { min: 0n, max: max - 1n };
      }
      case "param":
        return this.#leaf({ op: "param", name: atom.name }) ?? INT64;
      case "grid":
        return this.#leaf({ op: "grid", axis: atom.axis }) ?? INT64;
      case "opaque":
        return limitsWith(atom.expr, (leaf) => this.#leaf(leaf)) ?? INT64;
      case "scalar":
        return this.#scalar(atom.value);
      case "iteration":
        return this.#roundsOf(atom.loop);
      case "digit": {
        const { min, max } = this.poly(atom.dividend, [shape[atom.axis] ?? 1]);
        const by = this.poly(atom.divisor);
        return min < 0n || by.min < 1n ? INT64 : { min: min / by.max, max: max / by.min };
      }
    }
  }

  #leaf(leaf: Extract<ContractExpr, { op: "param" | "grid" }>): Limits | undefined {
    if (leaf.op === "grid") {
      if (leaf.axis > 0) return { min: 1n, max: MOST_OUTER };
      this.#demands.atMost(leaf, MOST_PROGRAMS);
      return { min: 1n, max: MOST_PROGRAMS };
    }
    const type = this.#types.get(leaf.name);
    if (type === undefined || type.max <= MOST_OUTER) return type;
    if (!this.#positive.has(leaf.name)) {
      this.#asked.add(leaf.name);
      this.#demands.atLeast(leaf, 1n);
    }
    this.#demands.atMost(leaf, MOST_PARAM);
    return { min: 1n, max: MOST_PARAM };
  }

  /** The limits of an integer of the program. */
  #value(value: Value): Limits {
    const type = typeLimits(value);
    const int = this.#analysis.int(value);
    if (int === undefined) return this.#scalar(value);
    if (hasRuns(int.poly)) return this.#element(value);
    const limits = this.poly(int.poly, value.type.shape);
    const isExact = within(limits, type) &&
      int.observed.every((one) => this.#isObserved(one, value.type.shape));
    return isExact ? limits : this.#demanded(value, int) ?? type;
  }

  /** The limits of a positive number of the launch, such as its tiles, which is demanded to fit its type. */
  #demanded(value: Value, { poly, observed }: AffineInt): Limits | undefined {
    const type = typeLimits(value);
    const { min } = this.poly(poly);
    if (min < 1n || varies(poly) || type.max > MOST_INT) return undefined;
    const isFit = observed.every((one) => this.demandObserved(one));
    if (!isFit) return undefined;
    this.#demands.atMost(polyExpr(poly), type.max);
    return { min, max: type.max };
  }

  /** The limits of what has no polynomial, from its operation. */
  #scalar(value: Value): Limits {
    const known = this.#atoms.get(value);
    if (known !== undefined) return known;
    const type = typeLimits(value);
    this.#atoms.set(value, type);
    if (this.#depth >= MAX_DEPTH) return type;
    this.#depth++;
    const limits = value.def === undefined ? undefined : this.#byOperation(value.def);
    this.#depth--;
    const found = limits !== undefined && within(limits, type) ? limits : type;
    this.#atoms.set(value, found);
    return found;
  }

  #byOperation(op: Op): Limits | undefined {
    switch (op.name) {
      case "div":
      case "rem": {
        const { left, right } = operandsOf(op);
        const [a, b] = [this.#value(left), this.#divisor(right)];
        // What a division by zero gives is not specified.
        if (b.min < 1n) return undefined;
        if (op.name === "div") {
          return hull([a.min / b.min, a.min / b.max, a.max / b.min, a.max / b.max]);
        }
        const last = b.max - 1n;
        return {
          min: a.min < 0n ? most([a.min, -last]) : 0n,
          max: a.max > 0n ? least([a.max, last]) : 0n,
        };
      }
      case "min":
      case "max": {
        const { left, right } = operandsOf(op);
        const [a, b] = [this.#value(left), this.#value(right)];
        const of = op.name === "min" ? least : most;
        return { min: of([a.min, b.min]), max: of([a.max, b.max]) };
      }
      case "select": {
        const { condition, then, otherwise } = operandsOf(op);
        const [a, b] = [this.#where(condition, then), this.#value(otherwise)];
        return hull([a.min, a.max, b.min, b.max]);
      }
      case "shr": {
        const { left, right } = operandsOf(op);
        const by = irConstant(right);
        const a = this.#value(left);
        return typeof by === "bigint" && by >= 0n && by < 64n
          ? { min: a.min >> by, max: a.max >> by }
          : undefined;
      }
      default:
        return undefined;
    }
  }

  /** The limits of what is divided by. Of a number of the launch, as heads for each head of keys, it is demanded not to be 0. */
  #divisor(value: Value): Limits {
    const limits = this.#value(value);
    const poly = this.int(value);
    if (limits.min !== 0n || limits.max < 1n || poly === undefined || varies(poly)) return limits;
    this.#demands.atLeast(polyExpr(poly), 1n);
    return { ...limits, min: 1n };
  }

  /** The limits of a value where a condition holds: `window > 0` needs no demand that it be positive. */
  #where(condition: Value, value: Value): Limits {
    const [atoms, positive] = [this.#atoms, this.#positive];
    this.#atoms = new Map(atoms);
    this.#positive = new Set([...positive, ...this.#analysis.mask(condition).flatMap(aboveZero)]);
    const limits = this.#value(value);
    [this.#atoms, this.#positive] = [atoms, positive];
    return limits;
  }

  /** Iterations that a loop can have completed in its body: while a test bounds what grows from one to the next. */
  #roundsOf(loop: OpOf<"while">): Limits {
    const known = this.#iterations.get(loop);
    if (known !== undefined) return known;
    this.#iterations.set(loop, INT64);
    const limits = this.#tested(loop) ?? INT64;
    this.#iterations.set(loop, limits);
    return limits;
  }

  /** What the test of a loop bounds, if it surely does in all iterations. */
  testOf(loop: OpOf<"while">): Pick<Test, "poly" | "by"> | undefined {
    this.#roundsOf(loop);
    const test = this.#tests.get(loop);
    return test?.mayFail === false ? test : undefined;
  }

  readonly int = (value: Value): Poly | undefined => this.#analysis.int(value)?.poly;

  /**
   * The least value of what a loop tests before its first iteration, `first - end`: of a product of positive parameters,
   * as `r * s * c` in `k < r * s * c`, it is demanded that the loop ends as early as that of one parameter does, or, where
   * programs take turns with tiles, as a grid of these.
   */
  #leastOf(tested: Poly, rounds: bigint): bigint {
    const { min } = this.poly(tested);
    if (min >= -rounds) return min;
    const [product, ...others] = [...scalePoly(tested, -1n)]
      .filter(([key, term]) => key !== "" && !varies(new Map([[key, term]])));
    if (product === undefined || others.length > 0) return min;
    const [key, { coefficient }] = product;
    const limits = this.#sum(new Map([product]), []);
    if (coefficient !== 1n || limits.min < 0n) return min;
    this.#demands.atMost(polyExpr(new Map([product])), rounds);
    this.#products.set(key, { min: limits.min, max: rounds });
    return this.poly(tested).min;
  }

  #tested(loop: OpOf<"while">): Limits | undefined {
    const { continues } = loopOf(loop);
    for (const { poly, observed } of this.#analysis.mask(continues)) {
      const terms = termsOf(poly);
      const own = [...terms.values()].find(({ atoms: [atom, ...others] }) =>
        others.length === 0 && atom?.kind === "iteration" && atom.loop === loop
      );
      const by = own?.coefficient;
      const step = by && this.poly(by).min;
      if (by === undefined || step === undefined || step < 1n) continue;
      const rounds = isOfGrid(by) ? MOST_PROGRAMS : MOST_PARAM;
      const max = -this.#leastOf(withoutLoop(poly, loop), rounds) / step;
      // Until the first iteration in which the test fails, nothing it reads has wrapped.
      this.#iterations.set(loop, { min: 0n, max: max + 1n });
      this.#tests.set(loop, { loop, poly, by, mayFail: true });
      const isExact = observed.every((one) => this.demandObserved(one));
      if (isExact) {
        this.#tests.set(loop, { loop, poly, by, mayFail: false });
        return { min: 0n, max: most([max, 0n]) };
      }
      this.#iterations.set(loop, INT64);
      this.#tests.delete(loop);
    }
    return undefined;
  }
}

/** Whether it is the number of programs along an axis. */
function isOfGrid(poly: Poly): boolean {
  const [term, ...others] = [...poly.values()];
  const [atom, ...factors] = term?.atoms ?? [];
  return others.length + factors.length === 0 && term?.coefficient === 1n && atom?.kind === "grid";
}

/** The parameter that is positive where `poly <= 0`: `c - p` with a positive c. */
function aboveZero({ poly }: Constraint): string[] {
  const terms = [...poly.values()];
  const [term, ...others] = terms.filter(({ atoms }) => atoms.length > 0);
  const [atom, ...factors] = term?.atoms ?? [];
  const rest = terms.find(({ atoms }) => atoms.length === 0)?.coefficient ?? 0n;
  const isAlone = others.length === 0 && factors.length === 0 && term?.coefficient === -1n;
  return isAlone && atom?.kind === "param" && rest >= 1n ? [atom.name] : [];
}

/** What a polynomial is before the first iteration of a loop. */
function withoutLoop(poly: Poly, loop: Op): Poly {
  return new Map(
    [...poly].filter(([, { atoms }]) =>
      !atoms.some((atom) => atom.kind === "iteration" && atom.loop === loop)
    ),
  );
}
