/**
 * What is known of registers before a kernel runs: where each is live, and which may be read before they are
 * written. Both are per lane: lanes that parted never touch each other's values.
 */
import type { Register } from "../../../compiler/ptx/func.ts";
import { type Block, endReads, successors } from "./blocks.ts";
import { type Uses, usesOf } from "./uses.ts";

/** From the first to the last place, counted in lines, where a register holds a value that is still needed. */
export interface Interval {
  readonly register: Register;
  first: number;
  last: number;
}

interface Flow {
  readonly uses: readonly (readonly Uses[])[];
  readonly next: readonly (readonly number[])[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly registers: readonly Register[];
}

/** The facts that both analyses share. */
export function flowOf(blocks: readonly Block[]): Flow {
  const registers: Register[] = [];
  const numbers = new Map<string, number>();
  const note = (register: Register): void => {
    if (numbers.has(register.name)) return;
    numbers.set(register.name, registers.length);
    registers.push(register);
  };
  const uses = blocks.map((block) => {
    const { end } = block;
    const ends = end.kind === "indexed" || end.kind === "barrier" ? [usesOf(end.line)] : [];
    const all = [...block.lines.map(usesOf), ...ends];
    const read = endReads(block);
    if (read !== undefined) {
      all.push({ reads: [read], writes: [], kills: true, copied: undefined });
    }
    for (const { reads, writes } of all) {
      reads.forEach(note);
      writes.forEach(note);
    }
    return all;
  });
  return { uses, next: blocks.map((_, i) => successors(blocks, i)), numbers, registers };
}

type Bits = Uint32Array;
const has = (bits: Bits, i: number): boolean => ((bits[i >>> 5] ?? 0) >>> (i & 31) & 1) === 1;
const add = (bits: Bits, i: number): void => {
  bits[i >>> 5] = (bits[i >>> 5] ?? 0) | (1 << (i & 31));
};
const remove = (bits: Bits, i: number): void => {
  bits[i >>> 5] = (bits[i >>> 5] ?? 0) & ~(1 << (i & 31));
};

/** Registers by where they are live. */
export function liveIntervals(flow: Flow): Interval[] {
  const { uses, next, numbers, registers } = flow;
  const words = (registers.length + 31) >>> 5;
  const sets = (): Bits[] => uses.map(() => new Uint32Array(words));
  const number = ({ name }: Register): number => numbers.get(name) ?? 0;
  const [needed, killed, liveIn, liveOut] = [sets(), sets(), sets(), sets()];
  uses.forEach((lines, b) => {
    const [need, kill] = [needed[b], killed[b]];
    if (need === undefined || kill === undefined) return;
    for (const { reads, writes, kills } of lines) {
      for (const r of reads) if (!has(kill, number(r))) add(need, number(r));
      for (const w of writes) {
        if (kills) add(kill, number(w));
        else if (!has(kill, number(w))) add(need, number(w));
      }
    }
  });
  for (let changed = true; changed;) {
    changed = false;
    for (let b = uses.length - 1; b >= 0; b--) {
      const [need, kill, into, out] = [needed[b], killed[b], liveIn[b], liveOut[b]];
      if (!need || !kill || !into || !out) continue;
      for (const to of next[b] ?? []) {
        const from = liveIn[to];
        if (from === undefined) continue;
        for (let i = 0; i < words; i++) out[i] = (out[i] ?? 0) | (from[i] ?? 0);
      }
      for (let i = 0; i < words; i++) {
        const value = ((need[i] ?? 0) | ((out[i] ?? 0) & ~(kill[i] ?? 0))) >>> 0;
        if (value !== into[i]) {
          into[i] = value;
          changed = true;
        }
      }
    }
  }
  const intervals = registers.map((register): Interval => ({
    register,
    first: Infinity,
    last: -Infinity,
  }));
  const cover = (i: number, at: number): void => {
    const interval = intervals[i];
    if (interval === undefined) return;
    interval.first = Math.min(interval.first, at);
    interval.last = Math.max(interval.last, at);
  };
  let at = 0;
  uses.forEach((lines, b) => {
    const [start, end] = [at, at + lines.length];
    for (let i = 0; i < registers.length; i++) {
      if (has(liveIn[b] ?? new Uint32Array(0), i)) cover(i, start);
      if (has(liveOut[b] ?? new Uint32Array(0), i)) cover(i, end);
    }
    lines.forEach(({ reads, writes }, i) => {
      for (const r of [...reads, ...writes]) cover(number(r), start + i);
    });
    at = end + 1;
  });
  return intervals;
}

/**
 * Names of registers that a lane may read before it has written them. A copy of such a register is one too: compilers
 * merge undefined values by copying them.
 */
export function maybeUnassigned(flow: Flow): ReadonlySet<string> {
  const { uses, next, numbers, registers } = flow;
  const words = (registers.length + 31) >>> 5;
  const number = ({ name }: Register): number => numbers.get(name) ?? 0;
  // Whether a register may be unassigned where a block begins; everything is where the kernel begins.
  const into = uses.map((_, b) => new Uint32Array(words).fill(b === 0 ? 0xffffffff : 0));
  const step = (state: Bits, { reads, writes, kills, copied }: Uses, found?: Set<string>): void => {
    if (found !== undefined) {
      for (const r of reads) if (has(state, number(r))) found.add(r.name);
    }
    const passes = copied !== undefined && has(state, number(copied));
    for (const w of writes) {
      if (passes) add(state, number(w));
      else if (kills) remove(state, number(w));
    }
    if (passes) { for (const w of writes) found?.add(w.name); }
  };
  const pending = new Set(uses.map((_, b) => b));
  for (const b of pending) {
    pending.delete(b);
    const state = into[b]?.slice() ?? new Uint32Array(words);
    for (const each of uses[b] ?? []) step(state, each);
    for (const to of next[b] ?? []) {
      const target = into[to];
      if (target === undefined) continue;
      let changed = false;
      for (let i = 0; i < words; i++) {
        const merged = ((target[i] ?? 0) | (state[i] ?? 0)) >>> 0;
        if (merged !== target[i]) changed = true;
        target[i] = merged;
      }
      if (changed) pending.add(to);
    }
  }
  const found = new Set<string>();
  uses.forEach((lines, b) => {
    const state = into[b]?.slice() ?? new Uint32Array(words);
    for (const each of lines) step(state, each, found);
  });
  return found;
}
