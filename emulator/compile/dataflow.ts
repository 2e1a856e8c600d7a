/**
 * What is known of registers before a kernel runs: where each is live, and which may be read before they are
 * assigned. Both are per lane: lanes that diverged never touch each other's values. The work grows with the blocks that
 * registers live in, not with all pairs of blocks and registers: kernels may have 10^5 of either.
 */
import type { Register } from "../../compiler/ptx/func.ts";
import { type Block, endReads, successors } from "./blocks.ts";
import { type Uses, usesOf } from "./uses.ts";

/** The lines from the first to the last where a register holds a value that is still needed. */
export interface Interval {
  readonly register: Register;
  first: number;
  last: number;
}

export interface Liveness {
  readonly intervals: readonly Interval[];
  /** Registers that a lane may read before it has assigned them. */
  readonly unassigned: readonly Register[];
}

/** A register, and the blocks that matter to where it lives. */
interface Life {
  readonly interval: Interval;
  /** Blocks that read it before they assign it. */
  readonly needed: number[];
  /** Blocks after which all lanes that ran them have assigned it. */
  readonly killed: number[];
  read: boolean;
}

/** The uses of a block's lines, its end among them. */
function usesOfBlock(block: Block): Uses[] {
  const { end } = block;
  const all = block.lines.map(usesOf);
  if (end.kind === "indexed" || end.kind === "barrier") all.push(usesOf(end.line));
  const read = endReads(block);
  if (read !== undefined) all.push({ reads: [read], writes: [], kills: true });
  return all;
}

/** Finds where registers are live. */
export function livenessOf(blocks: readonly Block[]): Liveness {
  const lives = new Map<string, Life>();
  const lifeOf = (register: Register): Life => {
    const known = lives.get(register.name);
    if (known !== undefined) return known;
    const life: Life = {
      interval: { register, first: Infinity, last: -Infinity },
      needed: [],
      killed: [],
      read: false,
    };
    lives.set(register.name, life);
    return life;
  };
  const cover = ({ interval }: Life, at: number): void => {
    interval.first = Math.min(interval.first, at);
    interval.last = Math.max(interval.last, at);
  };
  /** First and last line of each block; the last is after its lines. */
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const [b, block] of blocks.entries()) {
    const uses = usesOfBlock(block);
    starts.push(at);
    for (const [i, { reads, writes, kills }] of uses.entries()) {
      for (const register of reads) {
        const life = lifeOf(register);
        life.read = true;
        cover(life, at + i);
        if (life.killed.at(-1) !== b && life.needed.at(-1) !== b) life.needed.push(b);
      }
      for (const register of writes) {
        const life = lifeOf(register);
        cover(life, at + i);
        if (life.killed.at(-1) === b) continue;
        if (kills) life.killed.push(b);
        // Lanes that do not run it keep what they have.
        else if (life.needed.at(-1) !== b) life.needed.push(b);
      }
    }
    at += uses.length;
    ends.push(at++);
  }
  const before: number[][] = blocks.map(() => []);
  blocks.forEach((_, b) => successors(blocks, b).forEach((to) => before[to]?.push(b)));
  // Marks of the register that is looked at, by block.
  const [killedBy, liveIn] = [new Int32Array(blocks.length), new Int32Array(blocks.length)];
  const unassigned: Register[] = [];
  let mark = 0;
  for (const life of lives.values()) {
    mark++;
    for (const b of life.killed) killedBy[b] = mark;
    const pending = [...life.needed];
    for (let b = pending.pop(); b !== undefined; b = pending.pop()) {
      if (liveIn[b] === mark) continue;
      liveIn[b] = mark;
      cover(life, starts[b] ?? 0);
      for (const from of before[b] ?? []) {
        cover(life, ends[from] ?? 0);
        if (killedBy[from] !== mark) pending.push(from);
      }
    }
    if (liveIn[0] === mark && life.read) unassigned.push(life.interval.register);
  }
  return { intervals: [...lives.values()].map(({ interval }) => interval), unassigned };
}
