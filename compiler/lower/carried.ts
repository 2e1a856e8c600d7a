/**
 * How values live in fixed registers across control flow: what a loop carries, what an `if` results in.
 *
 *   each   a register per element
 *   steps  elements that keep their distances for ever (`p += 64` on a pointer tile) share a register: of those
 *          that start as one base plus constants, the first is carried, the others are it plus a constant. Of pointers
 *          that follow each other only the first is looked at
 *   words  narrow elements that are only loaded, moved and stored stay packed, if they are
 */
import type { Operand, Register } from "../ptx/func.ts";
import { loopOf, sourceOf } from "../ir/flow.ts";
import type { Op, OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { bytesOf, isPointer, pointeeBytes } from "../ir/types.ts";
import { axisShifts, freeMask, ofAxis } from "../linear/linear.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { zip } from "../support/zip.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { registerCount } from "../layout/tiles.ts";
import { bankOf, packAccess, type Ref, unpackAccess, whole } from "./element.ts";
import { type Emitter, int, isInteger, operandKey } from "./emitter.ts";
import type { Move } from "./moves.ts";
import { byRegister, lowered, ofRegister } from "./values.ts";
import { times } from "../support/times.ts";

/** Registers that hold a value wherever it comes from. */
export interface Slot {
  readonly registers: readonly Register[];
  /** The value's elements. */
  readonly elements: Lowered;
  /** What the registers must get so that they hold this. */
  readonly moves: (from: Lowered) => Move[];
}

/** How a value is carried: see above. */
export interface CarryStrategy {
  readonly steps: boolean;
  readonly words: boolean;
}

/** Registers for a value of which `initial` is one that it takes. */
export function makeSlot(
  cx: LowerContext,
  value: Value,
  initial: Value,
  strategy: CarryStrategy,
  axisInfo: AxisFacts,
): Slot {
  const e = cx.emitter;
  const first = lowered(cx, initial);
  const { element, layout } = value.type;
  const free = layout === undefined ? 0 : freeMask(layout.register);
  const held = times(registerCount(value), (r) => r).filter((r) => (r & free) === 0);
  const slot = strategy.steps && isStepping(value)
    ? stepSlot(e, value, first, held, runsOf(initial, axisInfo))
    : strategy.words && bytesOf(element) * held.length >= 4 && !isAlone(first, held)
    ? wordSlot(e, value, held)
    : eachSlot(e, value, held);
  return { ...slot, elements: (register) => slot.elements(register & ~free) };
}

/** Loaded one by one. To pack them, a loop would have to wait for what it has just begun to load. */
function isAlone(elements: Lowered, [register = 0]: readonly number[]): boolean {
  return elements(register).kind === "register";
}

function eachSlot(e: Emitter, { type: { element } }: Value, held: readonly number[]): Slot {
  const registers = held.map((r) => [r, e.register(bankOf(element))] as const);
  return {
    registers: registers.map(([, register]) => register),
    elements: byRegister(registers),
    moves: (from) => registers.map(([r, to]) => ({ to, from: whole(e, from(r), element) })),
  };
}

function wordSlot(e: Emitter, { type: { element } }: Value, held: readonly number[]): Slot {
  const words = times(bytesOf(element) * held.length / 4, () => e.register("b32"));
  return {
    registers: words,
    elements: byRegister(zip(held, unpackAccess(e, words, element, held.length))),
    moves: (from) =>
      zip(words, packAccess(e, held.map((r) => from(r)), element))
        .map(([to, word]) => ({ to, from: word })),
  };
}

/** Whether the emitter adds in the type's own width, so that distances survive wrapping. */
function isStepping({ type: { element } }: Value): boolean {
  return isPointer(element) || ["int32", "uint32", "int64", "uint64"].includes(element);
}

/** Register bits that step along runs of pointers, with the bytes of each step. */
type Runs = readonly { readonly bit: number; readonly bytes: number }[];

function runsOf(value: Value, axisInfo: AxisFacts): Runs {
  const { element, layout } = value.type;
  if (layout === undefined || !isPointer(element)) return [];
  const { contiguity } = axisInfo(value);
  const shifts = axisShifts(layout.shape);
  return contiguity.flatMap((run, axis) =>
    // The largest power of two in the run.
    times(Math.log2(run & -run), (step) => ({
      bit: layout.register.indexOf(1 << (ofAxis(shifts, axis) + step)),
      bytes: pointeeBytes(value) << step,
    }))
  ).filter(({ bit }) => bit >= 0);
}

function stepSlot(
  e: Emitter,
  { type: { element } }: Value,
  first: Lowered,
  held: readonly number[],
  runs: Runs,
): Slot {
  const bank = bankOf(element) === "b64" ? "b64" : "b32";
  interface Group {
    readonly leader: number;
    readonly constant: bigint;
    readonly register: Register;
  }
  const groups = new Map<string, Group>();
  const members = new Map<number, { readonly group: Group; readonly distance: bigint }>();
  for (const r of held) {
    const steps = runs.filter(({ bit }) => (r & (1 << bit)) !== 0);
    const start = steps.reduce((register, { bit }) => register & ~(1 << bit), r);
    const before = members.get(start);
    if (before !== undefined) {
      const bytes = steps.reduce((sum, { bytes }) => sum + bytes, 0);
      members.set(r, { ...before, distance: before.distance + BigInt(bytes) });
      continue;
    }
    const { base, constant } = distanceOf(e, whole(e, first(r), element));
    const key = operandKey(base);
    const group = groups.get(key) ?? { leader: r, constant, register: e.register(bank) };
    groups.set(key, group);
    members.set(r, { group, distance: constant - group.constant });
  }
  const memberOf = byRegister(members);
  return {
    registers: [...groups.values()].map(({ register }) => register),
    elements: (register) => {
      const { group, distance } = memberOf(register);
      return e.add(bank, group.register, int(distance));
    },
    moves: (from) =>
      [...groups.values()].map(({ leader, register }) => ({
        to: register,
        from: whole(e, from(leader), element),
      })),
  };
}

function distanceOf(e: Emitter, operand: Operand): { base: Operand; constant: bigint } {
  return isInteger(operand) ? { base: int(0), constant: operand.value } : e.sumOf(operand);
}

/** The elements of a value, computed now: what they come from may change. */
export function computed(value: Value, elements: Lowered): Lowered {
  const free = value.type.layout === undefined ? 0 : freeMask(value.type.layout.register);
  const refs: Ref[] = times(registerCount(value), (r) => (r & free) === 0 ? elements(r) : int(0));
  return (register) => ofRegister(refs, register & ~free);
}

/** Whether all of these values come out of memory as they are: then narrow elements are packed already. */
function arePacked(sources: readonly Value[]): boolean {
  const makers = new Set<Op>();
  const seen = new Set<Value>();
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    const { def } = value;
    if (def === undefined) return;
    if (hasTrait(def, "renames")) visit(operandsOf(def).value);
    else if (def.name === "while") carriedFrom(def, value).forEach(visit);
    else makers.add(def);
  };
  sources.forEach(visit);
  const packs = [...makers].filter((def) => hasTrait(def, "packs"));
  return packs.length > 0 &&
    [...makers].every((def) => hasTrait(def, "packs") || def.name === "constant");
}

/** What a result of a loop was before the loop or in it: in an inner loop it stays as packed as it came. */
function carriedFrom(op: OpOf<"while">, result: Value): readonly Value[] {
  const { test, initial, leaving, repeated } = loopOf(op);
  const left = sourceOf({ from: leaving, to: op.results }, result);
  if (left === undefined) return [];
  const first = sourceOf({ from: initial, to: test.params }, left);
  const next = sourceOf({ from: repeated, to: test.params }, left);
  return first === undefined || next === undefined ? [left] : [first, next];
}

/** The strategy for a value that is one of these; `steps`: they all move as a whole from one. */
export function carryStrategy(
  value: Value,
  sources: readonly Value[],
  steps: boolean,
): CarryStrategy {
  const { element } = value.type;
  return {
    steps,
    words: !isPointer(element) && element !== "bool" && bytesOf(element) < 4 && arePacked(sources),
  };
}
