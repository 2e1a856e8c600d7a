/**
 * What `auto` stands for (language.md 10.4): conditions under which accesses of 16 bytes are possible.
 *
 * It assumes every pointer 16-byte aligned. Of the integers that decide addresses it assumes multiples of 16 bytes, not of
 * 16 elements: that is all that 16-byte accesses need, and rows of 4100 floats are aligned rows. So the divisor is 16 over
 * the size of the smallest element that a pointer leads to.
 *
 * Where the text shows no contiguous axis, strides that are arguments are assumed to be 1.
 */
import {
  type Declared,
  type DeclaredSpecialization,
  promisedMultiple,
} from "../contract/declared.ts";
import { boundsIn, divisibilityIn, valuesIn } from "../contract/condition_facts.ts";
import { apply, constant, param, printExpr } from "../contract/expr.ts";
import type { Inferred } from "../contract/infer.ts";
import { type KernelParams, naturalAlignment } from "../contract/kernel_params.ts";
import { AUTOMATIC_SUFFIX } from "../pragma/specialize_rows.ts";
import type { ContractExpr, Requirement } from "../contract/types.ts";
import { unitStrides } from "./unit_strides.ts";

const VECTOR_BYTES = 16;

/** Under which conditions there is an instance, and what the names of its entries end in. */
export interface Conditions {
  readonly suffix: string;
  readonly conditions: readonly Requirement[];
}

/**
 * What an automatic row asks for, in the order in which launches try it:
 *
 * - aligned, and for each way to have contiguous axes once; of a row with a condition or a value, of which there may be many,
 *   one way;
 * - aligned, with any strides, where the text shows contiguous axes of other tiles;
 * - with the most common of the ways and rows that start anywhere.
 */
export function automaticConditions(
  { suffix, condition: own }: DeclaredSpecialization,
  kernel: KernelParams,
  declared: Declared,
  inferred: Inferred,
): readonly Conditions[] {
  const stated = own === undefined
    ? []
    : [...valuesIn(own.condition)].flatMap(([name, value]) => value === 1 ? [name] : []);
  const { accesses, hasOthers } = inferred.strides();
  const open = accesses.filter(({ strides }) => !strides.some((name) => stated.includes(name)));
  const ways = unitStrides(open, kernel, (name) => mayBeUnit(name, kernel, declared, own));
  const isBare = suffix === AUTOMATIC_SUFFIX;
  const [first] = ways;
  const withUnits = (units: Iterable<string>): readonly Requirement[] => [
    ...own === undefined ? [] : [own],
    ...[...units].map((name) => requirement(apply("==", param(name), constant(1)))),
  ];
  const alignedWith = (units: readonly string[]): readonly Requirement[] => [
    ...withUnits(units),
    ...aligned(kernel, declared, inferred, new Set([...units, ...stated])),
  ];
  const found: Conditions[] = (isBare ? ways : ways.slice(0, 1)).map(({ letters, names }) => ({
    suffix: suffix + letters,
    conditions: alignedWith(names),
  }));
  if (first === undefined) found.push({ suffix, conditions: alignedWith([]) });
  else if (hasOthers || open.length < accesses.length) {
    found.push({ suffix: `${suffix}s`, conditions: alignedWith([]) });
  }
  if (first !== undefined && isBare) {
    found.push({ suffix: "_a1", conditions: withUnits(first.names) });
  }
  return found.filter(({ conditions }) => conditions.length > 0);
}

/** Whether neither promises nor the condition say that an integer is not 1. */
function mayBeUnit(
  name: string,
  { params }: KernelParams,
  declared: Declared,
  own: Requirement | undefined,
): boolean {
  const isPromised = params.some((one) => one.name === name && promisedMultiple(one, declared) > 1);
  if (own === undefined) return !isPromised;
  const { least = 1, most = 1 } = boundsIn(own.condition).get(name) ?? {};
  const multiple = divisibilityIn(own.condition).get(name) ?? 1;
  return !isPromised && least <= 1 && most >= 1 && multiple === 1;
}

/** What is not promised already; nothing where no memory is touched. */
function aligned(
  kernel: KernelParams,
  declared: Declared,
  inferred: Inferred,
  units: ReadonlySet<string>,
): readonly Requirement[] {
  const pointers = kernel.params.filter((candidate) => inferred.access.has(candidate.name));
  if (pointers.length === 0) return [];
  const divisor = VECTOR_BYTES / Math.min(VECTOR_BYTES, ...pointers.map(naturalAlignment));
  const shaping = inferred.shaping(units);
  const integers = kernel.params.filter(({ name, isInteger }) => isInteger && shaping.has(name));
  const demands = [
    ...pointers.map((one) => [one, VECTOR_BYTES] as const),
    ...integers.map((one) => [one, divisor] as const),
  ];
  return demands
    .filter(([one, by]) => promisedMultiple(one, declared) % by !== 0)
    .map(([one, by]) => requirement(multipleOf(one.name, by)));
}

const requirement = (condition: ContractExpr): Requirement => ({
  condition,
  text: printExpr(condition),
});

const multipleOf = (name: string, by: number): ContractExpr =>
  apply("==", apply("%", param(name), constant(by)), constant(0));
