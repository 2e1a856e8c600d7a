/**
 * Plans a change of layout: which element each thread must get, and the cheapest way to bring it there.
 *
 *   none       the layouts agree (but for copies)
 *   registers  every thread already holds what it needs, in other registers
 *   shared     through shared memory, swizzled so that neither side has bank conflicts
 *
 * The swizzle is found by linear algebra, not tried out. Shared memory offsets are bits too; choosing for each
 * offset bit an index vector (a column of an invertible matrix) gives a bijection from elements to offsets. With
 *   V   vector bits: what one thread moves in one access, up to 16 bytes
 *   B   bank bits: the offset bits that select the bank of an access of that width
 *   S   segment bits: everything above
 * an access phase (32, 16 or 8 lanes for accesses of 4, 8, 16 bytes: P, the first 5, 4 or 3 lane bits) is free of
 * conflicts exactly if no two of its lanes differ by a vector of span(V, S), that is if span(S) meets
 * span(V, P) only in 0. So S is chosen outside both sides' span(V, P); for a transposition the pairs
 * "column bit ^ row bit" appear by themselves.
 */
import { contains, emptySpace, extend, solve, spaceOf } from "./f2.ts";
import { applyBases, freeMask, indexBits, type LinearLayout } from "./linear.ts";

export interface SharedPlan {
  readonly kind: "shared";
  /** Index vector of each offset bit (elements), low to high. */
  readonly columns: readonly number[];
  /** Number of low offset bits that one access covers. */
  readonly vectorBits: number;
  /** Everything a warp reads, it wrote itself: a warp barrier is enough. */
  readonly withinWarp: boolean;
  /** Lanes on one bank beyond the unavoidable ones, as powers of two: 1 means free of conflicts. */
  readonly conflicts: { readonly write: number; readonly read: number };
}

export type ConversionPlan =
  | { readonly kind: "none" }
  /** Source register of each destination register. */
  | { readonly kind: "registers"; readonly sources: readonly number[] }
  | SharedPlan;

/** Hardware coordinate (register, lane, warp bits packed in this order) of one holder of each element. */
interface Owner {
  readonly register: number;
  readonly lane: number;
  readonly warp: number;
}

function ownerFinder(layout: LinearLayout): (element: number) => Owner | undefined {
  // Lanes and warps first: a copy held by the thread itself comes out as a pure register move.
  const space = spaceOf([...layout.lane, ...layout.warp, ...layout.register]);
  const [lanes, warps] = [layout.lane.length, layout.warp.length];
  return (element) => {
    const combo = solve(space, element);
    if (combo === undefined) return undefined;
    return {
      lane: combo & ((1 << lanes) - 1),
      warp: (combo >> lanes) & ((1 << warps) - 1),
      register: combo >> (lanes + warps),
    };
  };
}

/** Unit vectors of the index. */
function units(layout: LinearLayout): number[] {
  return Array.from({ length: indexBits(layout.shape) }, (_, bit) => 1 << bit);
}

/** Equal lanes and warps up to copies that the source has anyway. */
function registersOnly(src: LinearLayout, dst: LinearLayout): number[] | undefined {
  const sameThread = (a: readonly number[], b: readonly number[]): boolean =>
    a.length === b.length && a.every((basis, bit) => basis === b[bit]);
  if (!sameThread(src.lane, dst.lane) || !sameThread(src.warp, dst.warp)) return undefined;
  const space = spaceOf(src.register);
  const images: number[] = [];
  for (const basis of dst.register) {
    const combo = solve(space, basis);
    if (combo === undefined) return undefined;
    images.push(combo);
  }
  return Array.from({ length: 1 << dst.register.length }, (_, r) => applyBases(images, r));
}

/** Lane bits that take part in one phase of an access of `bytes` per lane. */
function phaseBits(bytes: number): number {
  return bytes >= 16 ? 3 : bytes === 8 ? 4 : 5;
}

function phase(layout: LinearLayout, bytes: number): number[] {
  return layout.lane.slice(0, phaseBits(bytes)).filter((basis) => basis !== 0);
}

/** 2^(dimension of the intersection of two spanned spaces). */
function meetSize(a: readonly number[], b: readonly number[]): number {
  const [sa, sb] = [spaceOf(a), spaceOf(b)];
  const both = spaceOf([...a, ...b]);
  return 2 ** (sa.size + sb.size - both.size);
}

/** Segment bits: vectors outside both phases' spans for as long as there are any. */
function chooseSegments(
  size: number,
  vector: readonly number[],
  phases: readonly (readonly number[])[],
  candidates: readonly number[],
): number[] {
  const segments: number[] = [];
  const spans = phases.map((p) => spaceOf([...vector, ...p]));
  const own = spaceOf(vector);
  const tryAdd = (candidate: number): void => {
    if (segments.length >= size || spans.some((span) => contains(span, candidate))) return;
    for (const span of spans) extend(span, candidate);
    extend(own, candidate);
    segments.push(candidate);
  };
  for (const unit of candidates) tryAdd(unit);
  for (const a of candidates) for (const b of candidates) if (a < b) tryAdd(a ^ b);
  // No conflict-free vectors left: take any; each doubles the conflicts of a side.
  for (const unit of candidates) {
    if (segments.length < size && !contains(own, unit)) {
      extend(own, unit);
      segments.push(unit);
    }
  }
  return segments;
}

export function planConversion(
  src: LinearLayout,
  dst: LinearLayout,
  elementBytes: number,
): ConversionPlan {
  const sources = registersOnly(src, dst);
  if (sources !== undefined) {
    return sources.every((source, r) => source === r) && sources.length === 1 << src.register.length
      ? { kind: "none" }
      : { kind: "registers", sources };
  }
  return planShared(src, dst, elementBytes);
}

function planShared(src: LinearLayout, dst: LinearLayout, elementBytes: number): SharedPlan {
  const all = units(src);
  // V: register bits of both sides, in the order of the source, so that packed words stay packed there.
  const common = src.register.filter((basis) => basis !== 0 && dst.register.includes(basis));
  const vector = common.slice(0, Math.log2(16 / elementBytes));
  const accessBytes = elementBytes << vector.length;
  const phases = [phase(src, accessBytes), phase(dst, accessBytes)];
  // Accesses narrower than a bank share its word, and lanes in one word do not conflict: the bits that fill the
  // word count as vector bits for that, neighbours of the reader's lanes first.
  const filled = spaceOf(vector);
  const word = accessBytes < 4
    ? [...dst.lane, ...src.lane, ...all].filter((unit) => unit !== 0 && extend(filled, unit)).slice(
      0,
      Math.log2(4 / accessBytes),
    )
    : [];
  const bankBits = 5 - Math.max(0, Math.log2(accessBytes / 4));
  const segmentCount = Math.max(0, all.length - vector.length - word.length - bankBits);
  const within = [...vector, ...word];
  // Register bits first: they become immediate offsets.
  const registers = [...src.register, ...dst.register];
  const candidates = [
    ...all.filter((unit) => registers.includes(unit)),
    ...all.filter((unit) => !registers.includes(unit)),
  ];
  const segments = chooseSegments(segmentCount, within, phases, candidates);
  const low = emptySpace();
  for (const v of [...within, ...segments]) extend(low, v);
  const banks: number[] = [];
  for (const unit of [...dst.lane, ...src.lane, ...all]) {
    if (unit !== 0 && extend(low, unit)) banks.push(unit);
  }
  const columns = [...within, ...banks, ...segments];
  return {
    kind: "shared",
    columns,
    vectorBits: vector.length,
    withinWarp: isWithinWarp(src, dst),
    conflicts: {
      write: meetSize([...within, ...(phases[0] ?? [])], segments),
      read: meetSize([...within, ...(phases[1] ?? [])], segments),
    },
  };
}

function isWithinWarp(src: LinearLayout, dst: LinearLayout): boolean {
  if (freeMask(src.warp) !== 0) return false;
  const find = ownerFinder(src);
  const warpOf = (basis: number): number => find(basis)?.warp ?? 0;
  return [...dst.register, ...dst.lane].every((basis) => warpOf(basis) === 0) &&
    dst.warp.every((basis, bit) => warpOf(basis) === 1 << bit);
}

/** Offsets (elements) as bases per hardware bit: the layout followed by the inverse of `columns`. */
export function offsetBases(layout: LinearLayout, columns: readonly number[]): {
  readonly register: readonly number[];
  readonly lane: readonly number[];
  readonly warp: readonly number[];
} {
  const space = spaceOf(columns);
  const offset = (basis: number): number => solve(space, basis) ?? 0;
  return {
    register: layout.register.map(offset),
    lane: layout.lane.map(offset),
    warp: layout.warp.map(offset),
  };
}
