/**
 * Which loads of rows are staged in shared memory (stage_rows.ts): those of tiles that are wanted in several sections, as
 * many as leave enough registers. A _section_ is what a program does between two reductions that its threads wait for
 * each other in.
 */
import { type Func, isOp, type Op, type OpOf, type Value } from "../ir/func.ts";
import { madeBy } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { bytesOf } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { exchangeBytes } from "../layout/exchanges.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { ownAccess } from "./own_copies.ts";

/** The widest `cp.async`: narrower ones take as many instructions as loads do, and reading takes more. */
const COPY_BYTES = 16;

/** The operations between two reductions that threads wait for each other in. */
export type Section = readonly Op[];

/** The sections of a body, in order. */
export function sectionsOf({ body }: Pick<Func, "body">): readonly Section[] {
  let section: Op[] = [];
  const sections = [section];
  for (const op of body.ops) {
    section.push(op);
    if (op.name === "reduce" && exchangeBytes(op) > 0) sections.push(section = []);
  }
  return sections;
}

/** A load that can be a copy, and how many bits of the register's number are within one access. */
export interface RowLoad {
  readonly load: OpOf<"load">;
  readonly vectorBits: number;
}

/** As many loads as it takes, each time the one that leaves the fewest registers. */
export function chooseLoads(
  func: Func,
  sections: readonly Section[],
  axisInfo: AxisFacts,
  most: number,
): readonly RowLoad[] {
  const chosen: RowLoad[] = [];
  const without = (...more: readonly RowLoad[]): number =>
    heldWords(func, sections, new Set([...chosen, ...more].map(({ load }) => load)));
  let held = without();
  if (held <= most) return chosen;
  const left = new Set(rowLoads(func, sections, axisInfo));
  while (held > most) {
    const [best] = [...left].map((one) => ({ one, words: without(one) }))
      .sort((a, b) => a.words - b.words);
    if (best === undefined || best.words >= held) break;
    chosen.push(best.one);
    left.delete(best.one);
    held = best.words;
  }
  return chosen;
}

/** Computes its elements where they are asked for, so it may do that again. */
const repeats = (op: Op): boolean => hasTrait(op, "elementwise") || hasTrait(op, "renames");

/** The results of some operations, and all that is computed from them element by element. */
export function derivedFrom(
  { body }: Pick<Func, "body">,
  isSource: (op: Op) => boolean,
): ReadonlySet<Value> {
  const derived = new Set<Value>();
  for (const op of body.ops) {
    const isDerived = isSource(op) ||
      (repeats(op) && op.operands.some((value) => derived.has(value)));
    if (isDerived) op.results.forEach((value) => derived.add(value));
  }
  return derived;
}

/** The most 32-bit registers of a thread that tiles from memory take from one section to a later one. */
export function heldWords(
  func: Func,
  sections: readonly Section[],
  staged: ReadonlySet<Op>,
): number {
  const data = derivedFrom(func, ({ name }) => name === "load");
  const again = derivedFrom(func, (op) => staged.has(op));
  const madeIn = new Map(
    sections.flatMap((ops, section) => ops.map((op): [Op, number] => [op, section])),
  );
  for (const [load, section] of lateLoads(sections)) madeIn.set(load, section);
  const held = sections.map(() => new Set<Value>());
  const seen = sections.map(() => new Set<Value>());
  /** What is computed again in a section uses its operands there. */
  const use = (value: Value, section: number): void => {
    const { def } = value;
    const made = def && madeIn.get(def);
    if (def === undefined || made === undefined || made >= section || !data.has(value)) return;
    if (seen[section]?.has(value) === true || staged.has(def)) return;
    seen[section]?.add(value);
    if (again.has(value)) def.operands.forEach((operand) => use(operand, section));
    else for (let at = made; at < section; at++) held[at]?.add(value);
  };
  sections.forEach((ops, section) => {
    for (const op of ops) for (const operand of op.operands) use(operand, section);
  });
  return Math.max(...held.map((values) => [...values].reduce((sum, one) => sum + wordsOf(one), 0)));
}

/** Loads that happen where their elements are first asked for (`lower/memory/global.ts`), and the section of that. */
function lateLoads(sections: readonly Section[]): ReadonlyMap<Op, number> {
  const late = new Map<Op, number>();
  sections.forEach((ops, section) => {
    for (const { def } of ops.flatMap(({ operands }) => operands)) {
      const isLate = isOp(def, "load") && def.attrs.modifiers.includes("nc");
      if (isLate && !late.has(def)) late.set(def, section);
    }
  });
  return late;
}

/** Registers of a thread; scalars do not count. */
export function wordsOf({ type: { element, layout } }: Value): number {
  return layout === undefined ? 0 : Math.ceil(bytesOf(element) * 2 ** layout.register.length / 4);
}

/** The loads that a copy can replace without anyone seeing the difference. */
function rowLoads(
  func: Func,
  [beginning = []]: readonly Section[],
  axisInfo: AxisFacts,
): RowLoad[] {
  const { body } = func;
  const inRegions = new Set<Value>();
  for (const { regions } of body.ops) {
    for (const region of regions) {
      walkOps(region, ({ operands }) => operands.forEach((value) => inRegions.add(value)));
    }
  }
  const end = beginning.findIndex((op) => !isQuiet(op));
  return beginning.slice(0, end < 0 ? undefined : end).flatMap((op): RowLoad[] => {
    if (op.name !== "load") return [];
    const access = ownAccess(op, axisInfo);
    const fits = access?.bytes === COPY_BYTES &&
      ![...derivedFrom(func, (one) => one === op)].some((value) => inRegions.has(value));
    return fits ? [{ load: op, vectorBits: access.vectorBits }] : [];
  });
}

/** Neither writes nor waits, so what is copied may come while it happens. */
export function isQuiet(op: Op): boolean {
  const { effect } = rowOf(op);
  return effect === "pure" || effect === "read";
}

export function isZero(value: Value): boolean {
  const constant = madeBy(value, "constant");
  return constant !== undefined && Object.is(Number(constant.attrs.value), 0);
}
