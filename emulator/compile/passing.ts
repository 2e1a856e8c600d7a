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
  let flow: Flow | undefined;
  const known = new Map<number, readonly number[]>();
  const after = (waiting: number): readonly number[] => {
    let found = known.get(waiting);
    if (found === undefined) {
      flow ??= flowOf(blocks);
      known.set(waiting, found = blocksAfter(blocks, flow, waiting));
    }
    return found;
  };
  return {
    isAfter: (waiting, block) => after(waiting).includes(block),
    nextAfter: (waiting, block) => after(waiting).find((each) => each > block) ?? Infinity,
    cameThrough: (waiting, exit) => {
      const { next } = flow ??= flowOf(blocks);
      return after(waiting).some((each) => each === exit || dominates(next, each, exit));
    },
  };
}

/** By block: others, one step away. */
type Steps = readonly (readonly number[])[];

/** The steps of a program, forwards and backwards. */
interface Flow {
  readonly next: Steps;
  readonly before: Steps;
}

function flowOf(blocks: readonly Block[]): Flow {
  const next = blocks.map((_block, at) => successors(blocks, at));
  const before = blocks.map((): number[] => []);
  next.forEach((targets, from) => targets.forEach((to) => before[to]?.push(from)));
  return { next, before };
}

/** What can be reached from a block in at least one step, without going through another one. */
function reachable(steps: Steps, from: number, without = -1): Set<number> {
  const found = new Set<number>();
  const add = (to: number): void => {
    if (to !== without) found.add(to);
  };
  steps[from]?.forEach(add);
  for (const block of found) steps[block]?.forEach(add);
  return found;
}

function blocksAfter(blocks: readonly Block[], { next, before }: Flow, waiting: number): number[] {
  const leadBack = reachable(before, waiting);
  return [...reachable(next, waiting)]
    .filter((each) => each !== waiting && !leadBack.has(each) && reliesOnWaits(blocks[each]))
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
function dominates(next: Steps, by: number, block: number): boolean {
  return by === 0 || (block !== 0 && !reachable(next, 0, by).has(block));
}
