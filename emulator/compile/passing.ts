/**
 * Where threads have passed by an instruction that others wait at: blocks that follow it, from which no way leads back.
 * Only those count that rely on the wait: they use shared memory, or wait themselves. Compilers merge what follows an
 * early return with what follows a barrier (a store of the result, say), and a thread that only runs through that and
 * exits is one that has returned early, which barriers allow.
 */
import { type Block, successors } from "./blocks.ts";
import type { Line } from "./lines.ts";

export interface Passing {
  /** Whether a thread in a block has passed by the instruction that ends or begins another one. */
  isAfter(waiting: number, block: number): boolean;
  /** The first such block in the text after a block; infinite if there is none. */
  nextAfter(waiting: number, block: number): number;
  /** Whether a thread that exits at the end of a block has been in such a block. */
  cameThrough(waiting: number, exit: number): boolean;
}

export function passingOf(blocks: readonly Block[]): Passing {
  const known = new Map<number, readonly number[]>();
  const after = (waiting: number): readonly number[] => {
    let found = known.get(waiting);
    if (found === undefined) known.set(waiting, found = blocksAfter(blocks, waiting));
    return found;
  };
  return {
    isAfter: (waiting, block) => after(waiting).includes(block),
    nextAfter: (waiting, block) => after(waiting).find((each) => each > block) ?? Infinity,
    cameThrough: (waiting, exit) =>
      after(waiting).some((each) => each === exit || dominates(blocks, each, exit)),
  };
}

/** What can be reached from a block in at least one step, without going through another one. */
function reachable(blocks: readonly Block[], from: number, without = -1): Set<number> {
  const next = (block: number): number[] =>
    successors(blocks, block).filter((to) => to !== without);
  const found = new Set<number>(next(from));
  for (const block of found) next(block).forEach((to) => found.add(to));
  return found;
}

function blocksAfter(blocks: readonly Block[], waiting: number): number[] {
  return [...reachable(blocks, waiting)]
    .filter((each) => reliesOnWaits(blocks[each]) && !reachable(blocks, each).has(waiting))
    .filter((each) => each !== waiting)
    .toSorted((a, b) => a - b);
}

function reliesOnWaits(block: Block | undefined): boolean {
  if (block === undefined) return false;
  return block.waits || block.end.kind === "barrier" || block.lines.some(usesShared);
}

function usesShared({ match }: Line): boolean {
  return typeof match !== "string" &&
    match.modifiers.some((name) => name === "shared" || name.startsWith("shared::"));
}

/** Whether a block dominates another one. */
function dominates(blocks: readonly Block[], by: number, block: number): boolean {
  return by === 0 || (block !== 0 && !reachable(blocks, 0, by).has(block));
}
