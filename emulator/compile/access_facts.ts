/**
 * What a kernel's text says of its accesses beyond the instruction itself: which of them update a location
 * (`x = x + 1`), and which loads a loop waits with. Found when first asked for: few kernels ask.
 */
import type { Operand, Register } from "../../compiler/ptx/func.ts";
import { forEachRegister } from "../../compiler/ptx/operand.ts";
import { type Block, endReads, successors } from "./blocks.ts";
import type { Line } from "./lines.ts";

export interface AccessFacts {
  /** Whether a load or store is one of an update: the store's value comes from a load of the same address. */
  isUpdate(line: Line): boolean;
  /** Whether a load is in a loop that it can end: by its value, lanes leave the loop or stay. */
  polls(line: Line): boolean;
}

/** Definitions that are looked at on the way from a store to the load that its value came from. */
const MOST_STEPS = 32;

export function accessFacts(blocks: readonly Block[]): AccessFacts {
  let updates: ReadonlySet<Line> | undefined;
  const polling = new Map<Line, boolean>();
  return {
    isUpdate(line): boolean {
      updates ??= updatesOf(blocks);
      return updates.has(line);
    },
    polls(line): boolean {
      let known = polling.get(line);
      if (known === undefined) polling.set(line, known = isPolling(blocks, line));
      return known;
    },
  };
}

const opcodeOf = ({ match }: Line): string => typeof match === "string" ? "" : match.opcode;

function operandOf({ match }: Line, name: string): Operand | undefined {
  if (typeof match === "string") return undefined;
  return match.operands.find((operand) => operand.name === name)?.operand;
}

/** Registers that a line reads or writes through its operands. */
function registersOf({ match }: Line, destination: boolean): Register[] {
  const found: Register[] = [];
  if (typeof match === "string") return found;
  for (const operand of match.operands) {
    if (operand.destination !== destination) continue;
    forEachRegister(operand.operand, (register) => found.push(register));
  }
  return found;
}

/** An address for comparisons; undefined if it has no base. */
function addressKey(line: Line): string | undefined {
  const address = operandOf(line, "a");
  if (address?.kind !== "address" || address.base === undefined) return undefined;
  const { base, offset } = address;
  const name = base.kind === "register" || base.kind === "symbol" ? base.name : undefined;
  return name === undefined ? undefined : `${base.kind} ${name} ${offset}`;
}

function updatesOf(blocks: readonly Block[]): ReadonlySet<Line> {
  const lines = blocks.flatMap((block) => block.lines);
  const definitions = new Map<string, Line[]>();
  for (const line of lines) {
    for (const { name } of registersOf(line, true)) {
      const known = definitions.get(name);
      if (known === undefined) definitions.set(name, [line]);
      else known.push(line);
    }
  }
  const found = new Set<Line>();
  for (const store of lines) {
    if (opcodeOf(store) === "atom" || opcodeOf(store) === "red") found.add(store);
    const value = opcodeOf(store) === "st" ? operandOf(store, "b") : undefined;
    const key = addressKey(store);
    if (value === undefined || key === undefined) continue;
    const seen = new Set<Line>();
    const pending: Register[] = [];
    forEachRegister(value, (register) => pending.push(register));
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const line of definitions.get(next.name) ?? []) {
        if (seen.has(line) || seen.size >= MOST_STEPS) continue;
        seen.add(line);
        if (opcodeOf(line) !== "ld") pending.push(...registersOf(line, false));
        else if (addressKey(line) === key && reaches(blocks, line, store)) {
          found.add(line).add(store);
        }
      }
    }
  }
  return found;
}

/** The blocks that can be reached from one in at least one step. */
function reachable(next: (block: number) => readonly number[], from: number): Set<number> {
  const found = new Set<number>(next(from));
  for (const block of found) next(block).forEach((to) => found.add(to));
  return found;
}

/** Whether a lane can come from one line to another. */
function reaches(blocks: readonly Block[], from: Line, to: Line): boolean {
  const [home, target] = [from, to].map((line) =>
    blocks.findIndex((block) => block.lines.includes(line))
  );
  if (home === undefined || target === undefined) return false;
  const lines = blocks[home]?.lines ?? [];
  if (home === target && lines.indexOf(from) < lines.indexOf(to)) return true;
  return reachable((block) => successors(blocks, block), home).has(target);
}

function isPolling(blocks: readonly Block[], load: Line): boolean {
  const home = blocks.findIndex((block) => block.lines.includes(load));
  const next = (block: number): readonly number[] => successors(blocks, block);
  const after = reachable(next, home);
  if (!after.has(home)) return false;
  const loop = [...after].filter((block) => reachable(next, block).has(home));
  // Registers that hold what came of the load, as far as the loop computes it.
  const carried = new Set(registersOf(load, true).map(({ name }) => name));
  for (let size = 0; size !== carried.size;) {
    size = carried.size;
    for (const block of loop) {
      for (const line of blocks[block]?.lines ?? []) {
        if (!registersOf(line, false).some(({ name }) => carried.has(name))) continue;
        for (const { name } of registersOf(line, true)) carried.add(name);
      }
    }
  }
  return loop.some((block) => {
    const end = blocks[block];
    const guard = end === undefined ? undefined : endReads(end);
    if (guard === undefined || !carried.has(guard.name)) return false;
    const inside = new Set(loop);
    return end?.end.kind === "jump" &&
      [end.end.target, block + 1].some((to) => !inside.has(to));
  });
}
