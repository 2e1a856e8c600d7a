/**
 * What a kernel's text says of its accesses beyond the instruction itself: which of them update a location
 * (`x = x + 1`), which loads a loop waits with, which loads a compare and swap repeats, and which stores copy a structure
 * piece by piece. Computed at the first query: few kernels need it.
 */
import type { Register } from "../../compiler/ptx/func.ts";
import { type Block, endReads, successors } from "./blocks.ts";
import {
  type Definitions,
  definitionsOf,
  opcodeOf,
  operandOf,
  registersIn,
  registersOf,
  sameLocation,
} from "./definitions.ts";
import type { Line } from "./lines.ts";
import { copiedBeside, type CopiedValue } from "./structure_copies.ts";

export interface AccessFacts {
  /** Whether a load or store is one of an update: the store's value comes from a load of the same address. */
  isUpdate(line: Line): boolean;
  /** Whether a load is in a loop that it can end: by its value, lanes leave the loop or stay. */
  polls(line: Line): boolean;
  /** Whether a compare and swap of the same address expects the value that a load gives. */
  isExpected(line: Line): boolean;
  /**
   * The values of other stores that copy a structure together with a store, as far as they are loaded by then; undefined
   * if what the store copies is no padding.
   */
  copiedBeside(line: Line): readonly CopiedValue[] | undefined;
}

/** Definitions that are looked at on the way from a store to the load that its value came from. */
const MOST_STEPS = 32;

export function accessFacts(blocks: readonly Block[]): AccessFacts {
  const lines = blocks.flatMap((block) => block.lines);
  let definitions: Definitions | undefined;
  let updates: ReadonlySet<Line> | undefined;
  let expected: ReadonlySet<Line> | undefined;
  const polling = new Map<Line, boolean>();
  return {
    isUpdate(line): boolean {
      updates ??= updatesOf(blocks, lines, definitions ??= definitionsOf(lines));
      return updates.has(line);
    },
    polls(line): boolean {
      let known = polling.get(line);
      if (known === undefined) polling.set(line, known = isPolling(blocks, line));
      return known;
    },
    isExpected(line): boolean {
      expected ??= lines.some(isSwap)
        ? expectedOf(blocks, lines, definitions ??= definitionsOf(lines))
        : new Set();
      return expected.has(line);
    },
    copiedBeside(line): readonly CopiedValue[] | undefined {
      return copiedBeside(blocks, line, definitions ??= definitionsOf(lines));
    },
  };
}

/** The loads and stores of updates. */
function updatesOf(
  blocks: readonly Block[],
  lines: readonly Line[],
  definitions: Definitions,
): ReadonlySet<Line> {
  const found = new Set<Line>();
  for (const store of lines) {
    if (opcodeOf(store) === "atom" || opcodeOf(store) === "red") found.add(store);
    if (opcodeOf(store) !== "st") continue;
    const reads = (line: Line): readonly Register[] => registersOf(line, false);
    for (const load of loadsOf(blocks, definitions, store, reads)) found.add(load).add(store);
  }
  return found;
}

/** The loads whose value a compare and swap of the same address expects. */
function expectedOf(
  blocks: readonly Block[],
  lines: readonly Line[],
  definitions: Definitions,
): ReadonlySet<Line> {
  const copied = (line: Line): readonly Register[] => definitions.copied(line) ?? [];
  return new Set(
    lines.filter(isSwap).flatMap((swap) => loadsOf(blocks, definitions, swap, copied)),
  );
}

function isSwap({ match }: Line): boolean {
  return typeof match !== "string" && match.opcode === "atom" &&
    [...match.bound.values()].includes("cas");
}

/** The loads of the address of a line that its operand `b` comes from; `sources` says what a line passes on. */
function loadsOf(
  blocks: readonly Block[],
  definitions: Definitions,
  user: Line,
  sources: (line: Line) => readonly Register[],
): Line[] {
  const location = definitions.location(user);
  if (location === undefined) return [];
  const found: Line[] = [];
  const seen = new Set<Line>();
  const pending = registersIn(operandOf(user, "b"));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const line of definitions.of(next.name)) {
      if (seen.has(line) || seen.size >= MOST_STEPS) continue;
      seen.add(line);
      if (opcodeOf(line) !== "ld") pending.push(...sources(line));
      else if (!sameLocation(location, definitions.location(line))) {
        pending.push(...definitions.copied(line) ?? []);
      } else if (reaches(blocks, line, user)) found.push(line);
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
