/**
 * What a launch touches and what it must not exceed.
 *
 * Index arithmetic wraps at the width of its type (language.md 9.1). A range is true only while nothing
 * that it, or a mask, relies on has wrapped: `rm * ldx` in 32 bits, on lanes that access memory, and
 * `rm < M` on all lanes. What the types of the parameters do not rule out becomes a requirement.
 */
import { type ScalarName, SCALARS } from "../support/scalar.ts";
import type { Func, Value } from "../ir/func.ts";
import type { Span } from "../support/source.ts";
import { isPointer, pointeeBytes } from "../ir/types.ts";
import { type MemoryAccess, nameOf, wholeElements } from "./accesses.ts";
import { type Observation, varies } from "./affine_rules.ts";
import { apply, constant, printExpr, substitute } from "./expr.ts";
import type { Dividend } from "./dividends.ts";
import { areLanesBounded, type Bound } from "./groups.ts";
import { type GridExtents, type Interval, intervalOf, unite } from "./interval.ts";
import { limitsOf, limitsOfType } from "./magnitude.ts";
import { normalKey } from "./normal.ts";
import type { Poly } from "./poly.ts";
import type { AccessRange, ContractExpr, Requirement } from "./types.ts";

/** Different ends of a parameter's range that are compared; a parameter with more of them has no range. */
const MAX_ENDS = 32;

/** The ranges of all parameters whose accesses are affine and happen in every launch. */
export function rangesOf(
  byParam: ReadonlyMap<Value, readonly MemoryAccess[]>,
  grid: GridExtents,
): readonly AccessRange[] {
  return [...byParam].flatMap(([param, accesses]) => {
    const intervals = accesses.map((access) =>
      access.isConditional ? undefined : touched(param, access, grid)
    );
    const known = intervals.filter((interval) => interval !== undefined);
    if (known.length < intervals.length) return [];
    const distinct = [...new Map(known.map((interval) => [keyOf(interval), interval])).values()];
    return distinct.length > MAX_ENDS ? [] : [{ param: nameOf(param), ...distinct.reduce(unite) }];
  });
}

const keyOf = ({ first, last }: Interval): string => `${normalKey(first)} … ${normalKey(last)}`;

/** Elements of the parameter's own type that an access touches. */
function touched(param: Value, access: MemoryAccess, grid: GridExtents): Interval | undefined {
  const size = pointeeBytes(param);
  const offset = wholeElements(access.bytes, size);
  // What else a mask says may keep lanes that nothing bounds from memory.
  if (offset === undefined || !(access.isWhole || areLanesBounded(offset, access.bounds))) {
    return undefined;
  }
  const interval = intervalOf(offset, access.bounds, access.shape, grid);
  if (interval === undefined) return undefined;
  const more = Math.ceil(access.width / size) - 1; // a wider access through a cast reaches further
  const { first, unless } = interval;
  const last = apply("+", interval.last, constant(more));
  const [condition, ...others] = unless;
  if (condition === undefined) return { first, last };
  const isSomething = others.reduce((all, one) => apply("&&", all, one), condition);
  return { first, last: apply("?:", isSomething, last, apply("-", first, constant(1))) };
}

/** An index that wraps in every launch, and the access that relies on it. */
export interface ProvenWrap {
  readonly span: Span;
  readonly type: ScalarName;
  /** The end that does not fit. */
  readonly value: bigint;
}

/** What comes of an observation, beside its condition: the end of it that wraps in every launch. */
interface Demand {
  readonly wrap?: bigint | undefined;
}

/** Conditions under which nothing observed wraps, and what wraps whatever the launch. */
export function wrapRequirements(
  func: Func,
  accesses: readonly MemoryAccess[],
  dividends: readonly Dividend[],
  grid: GridExtents,
): { readonly requires: readonly Requirement[]; readonly wraps: readonly ProvenWrap[] } {
  const types = new Map(func.params.map((param) => [param.name, param.type.element]));
  const typeOf = (name: string): ScalarName | undefined => {
    const element = types.get(name);
    return element === undefined || isPointer(element) ? undefined : element;
  };
  const found = new Map<string, Requirement>();
  const wraps = new Map<number, ProvenWrap>();
  /** Where no mask says more, all accesses of a shape that rest on an observation demand the same. */
  const known = new Map<Observation, Map<string, Demand>>();
  const demandOf = (
    access: Pick<MemoryAccess, "shape">,
    observation: Observation,
    bounds: readonly Bound[],
  ): Demand => {
    const { poly, type } = observation;
    const work = (): Demand => {
      const interval = intervalOf(poly, bounds, access.shape, grid);
      if (interval === undefined) return {};
      const condition = fitCondition(interval, type, grid, typeOf);
      if (condition === undefined) return {};
      found.set(normalKey(condition), { condition, text: printExpr(condition) });
      return { wrap: provenEnd(interval, type, grid, typeOf) };
    };
    const isVarying = varies(poly);
    if (isVarying && bounds.length > 0) return work();
    const shapes = known.get(observation) ?? new Map<string, Demand>();
    known.set(observation, shapes);
    const shape = isVarying ? access.shape.join() : "";
    const demand = shapes.get(shape) ?? work();
    shapes.set(shape, demand);
    return demand;
  };
  const demand = (
    access: MemoryAccess,
    observation: Observation,
    bounds: readonly Bound[],
  ): void => {
    if (isExempt(observation)) return;
    const { wrap } = demandOf(access, observation, bounds);
    const { span } = access.op;
    if (wrap !== undefined) wraps.set(span.start, { span, type: observation.type, value: wrap });
  };
  for (const access of accesses) {
    if (access.isConditional) continue;
    for (const observation of access.observed) demand(access, observation, access.bounds);
    for (const observation of access.observedByMask) demand(access, observation, []);
  }
  for (const dividend of dividends) {
    for (const observation of dividend.observed) {
      if (!isExempt(observation)) demandOf(dividend, observation, []);
    }
  }
  return { requires: [...found.values()], wraps: [...wraps.values()] };
}

/** An end of an interval that no launch keeps inside the type. */
function provenEnd(
  { first, last }: Interval,
  type: ScalarName,
  grid: GridExtents,
  typeOf: (param: string) => ScalarName | undefined,
): bigint | undefined {
  const { min, max } = limitsOfType(type);
  const [low, high] = [first, last].map((expr) => limitsIn(expr, grid, typeOf));
  if (high !== undefined && high.min > max) return high.min;
  return low !== undefined && low.max < min ? low.max : undefined;
}

/** The limits of an expression of which the grid may be part. */
function limitsIn(
  expr: ContractExpr,
  grid: GridExtents,
  typeOf: (param: string) => ScalarName | undefined,
): ReturnType<typeof limitsOf> {
  return limitsOf(
    substitute(expr, (leaf) => leaf.op === "grid" ? grid(leaf.axis) : undefined),
    typeOf,
  );
}

/** What is taken to fit: nothing of 64 bits wraps in practice, and a name has its type. */
const isExempt = ({ poly, type }: Observation): boolean =>
  SCALARS[type].bits >= 64 || isOneName(poly);

/** A parameter or a program id by itself: it fits its own type. */
function isOneName(poly: Poly): boolean {
  const [term] = [...poly.values()];
  return poly.size <= 1 &&
    (term === undefined || (term.coefficient === 1n && term.atoms.length <= 1));
}

/** That both ends fit a type; undefined when they always do. */
function fitCondition(
  { first, last }: Interval,
  type: ScalarName,
  grid: GridExtents,
  typeOf: (param: string) => ScalarName | undefined,
): ContractExpr | undefined {
  const { min, max } = limitsOfType(type);
  const [lowest, highest] = [limitsIn(first, grid, typeOf)?.min, limitsIn(last, grid, typeOf)?.max];
  // Both ends are of one value and zero, so the comparison with a limit beyond zero can drop the zero.
  const above = lowest !== undefined && lowest >= min
    ? undefined
    : apply("<=", constant(min), min < 0n ? withoutZero(first, "min") : first);
  const below = highest !== undefined && highest <= max
    ? undefined
    : apply("<=", withoutZero(last, "max"), constant(max));
  return above !== undefined && below !== undefined ? apply("&&", above, below) : above ?? below;
}

/** `max(0, e)` is `e`, next to a limit that 0 keeps. */
function withoutZero(expr: ContractExpr, op: "min" | "max"): ContractExpr {
  if (expr.op !== op || expr.args.length !== 2) return expr;
  const [zero, other] = expr.args;
  return zero?.op === "const" && zero.value === 0 && other !== undefined ? other : expr;
}
