/**
 * Which versions of what follows a loop to make (slice_results.ts). Conditions of branches that are known before the loop
 * are the same for all slices, so slices need not branch:
 *
 *     store f(slice 0), with branches      if (c == 2 && p == 0) { store f2(slice 0); store f2(slice 1) … }
 *     store f(slice 1), with branches …    else { store f(slice 0), with branches … }
 *
 * An assembler interleaves the elements of a slice that has no branches, where special functions take long.
 *
 * Code grows by each version, so there are few: for the ways in which comparisons of one number with constants come out
 * together, as of a code that chooses an activation, those first that compute most. What decides about little stays a
 * branch. Tensors that may be left out, whose pointers are compared with null, are absent in all of them.
 */
import { branchOf } from "../ir/flow.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { constantOf, pairOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { product } from "../linear/linear.ts";
import { evalBinary, intRange, isComparison } from "../support/arith.ts";
import { groupBy } from "../support/group_by.ts";

/** How conditions come out. */
export type Outcomes = ReadonlyMap<Value, boolean>;

export interface Version {
  /** What is tested. */
  readonly tested: Outcomes;
  /** What is known then. */
  readonly decided: Outcomes;
}

/** Versions beside the one with all branches. */
const MOST_VERSIONS = 3;

/** Operations on tiles that a branch takes or leaves out, so that it is worth a version. */
const LEAST_WORK = 2;

/** The versions of what is behind a loop, whose sums have so many elements. */
export function versionsOf(behind: readonly Op[], elements: number): readonly Version[] {
  const absent = new Map<Value, boolean>();
  const numbers = new Map<Value, OfNumber[]>();
  visitBranches(behind, (op) => {
    const { condition } = branchOf(op);
    const comparison = comparisonOf(condition);
    if (comparison?.kind === "pointer" && loads(op)) absent.set(condition, comparison.isNull);
    if (comparison?.kind !== "number") return;
    const isTested = workOf(op, new Map(), elements) >= LEAST_WORK;
    const alike = numbers.get(comparison.number) ?? [];
    numbers.set(comparison.number, [...alike, { ...comparison, condition, isTested }]);
  });
  const [codes, ...others] = [...numbers.values()].filter((all) =>
    all.some(({ isTested }) => isTested)
  );
  // Of two such numbers neither is more than the other.
  if (codes === undefined || others.length > 0) return [];
  const versions = waysOf(codes).map(({ tested, decided }): Version => ({
    tested: new Map([...absent, ...tested]),
    decided: new Map([...absent, ...decided]),
  }));
  const work = ({ decided }: Version): number => workOfAll(behind, decided, elements);
  return versions.toSorted((a, b) => work(b) - work(a)).slice(0, MOST_VERSIONS);
}

function visitBranches(ops: readonly Op[], visit: (op: OpOf<"if">) => void): void {
  for (const op of ops) {
    if (op.name === "if") visit(op);
    for (const region of op.regions) visitBranches(region.ops, visit);
  }
}

const loads = ({ regions }: Op): boolean =>
  regions.some(({ ops }) => ops.some((op) => op.name === "load" || loads(op)));

interface OfPointer {
  readonly kind: "pointer";
  /** How it comes out where the pointer is null. */
  readonly isNull: boolean;
}

interface OfNumber {
  readonly kind: "number";
  readonly number: Value;
  /** What it is compared with, and how it comes out for a number. */
  readonly constant: bigint;
  readonly holds: (number: bigint) => boolean;
  readonly condition: Value;
  /** Whether it decides about enough. */
  readonly isTested: boolean;
}

/** A pointer compared with null, or an integer with a constant. */
function comparisonOf(
  { def }: Value,
): OfPointer | Omit<OfNumber, "condition" | "isTested"> | undefined {
  if (def === undefined || !isComparison(def.name)) return undefined;
  const operator = def.name;
  const [number, other] = pairOf(def);
  const constant = constantOf(other);
  // What is loaded may be loaded only where a branch says so.
  if (number.def !== undefined) return undefined;
  const { element } = number.type;
  if (isPointer(element)) {
    const isEqual = operator === "eq" || operator === "ne";
    const isNull = constant !== undefined && Number(constant) === 0;
    return isEqual && isNull ? { kind: "pointer", isNull: operator === "eq" } : undefined;
  }
  if (typeof constant !== "bigint") return undefined;
  const holds = (value: bigint): boolean => evalBinary(operator, element, value, constant) === 1n;
  return { kind: "number", number, constant, holds };
}

/** The ways in which comparisons of one number come out together. */
function waysOf(comparisons: readonly OfNumber[]): readonly Version[] {
  const numbers = comparisons.flatMap(({ constant, number }) => {
    const { element } = number.type;
    const [least, most] = isPointer(element) ? [0n, 0n] : intRange(element);
    return [constant - 1n, constant, constant + 1n].filter((one) => one >= least && one <= most);
  });
  const outcomes = (of: readonly OfNumber[], number: bigint): (readonly [Value, boolean])[] =>
    of.map(({ condition, holds }) => [condition, holds(number)]);
  const tested = comparisons.filter(({ isTested }) => isTested);
  const alike = groupBy(
    numbers,
    (number) => outcomes(tested, number).map(([, holds]) => holds).join(),
  );
  return [...alike.values()].map(([first = 0n, ...rest]) => ({
    tested: new Map(outcomes(tested, first)),
    decided: new Map(outcomes(
      comparisons.filter(({ holds }) => rest.every((number) => holds(number) === holds(first))),
      first,
    )),
  }));
}

const workOfAll = (ops: readonly Op[], decided: Outcomes, elements: number): number =>
  ops.reduce((sum, op) => sum + workOf(op, decided, elements), 0);

/** Operations on all elements, in the branches that are taken; those of both sides where that is not decided. */
function workOf(op: Op, decided: Outcomes, elements: number): number {
  if (op.name !== "if") {
    const isComputed = hasTrait(op, "elementwise") && op.operands.length > 0 &&
      op.results.some(({ type }) => product(type.shape) === elements);
    return isComputed ? 1 : 0;
  }
  const { condition, then, otherwise } = branchOf(op);
  const isTaken = decided.get(condition);
  const taken = isTaken === undefined ? [then, otherwise] : [isTaken ? then : otherwise];
  return workOfAll(taken.flatMap(({ ops }) => ops), decided, elements);
}
