/**
 * Plans a layout conversion: which element each thread must get, and the cheapest way to move it there.
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
import { contains, emptySpace, extend, solve, spaceOf } from "../linear/f2.ts";
import {
  applyBases,
  axisShifts,
  freeMask,
  indexBits,
  type LinearLayout,
} from "../linear/linear.ts";
import {
  heldBits,
  type MatrixAccess,
  type MatrixShape,
  matrixShapes,
  type MatrixSide,
} from "./matrix_access.ts";
import { times } from "../support/times.ts";

export interface SharedPlan {
  readonly kind: "shared";
  /** Index vector of each offset bit (elements), low to high. */
  readonly columns: readonly number[];
  /** Number of low offset bits that one access covers; with `matrices`, one of the other side. */
  readonly vectorBits: number;
  /** One side moves whole rows of 16 bytes, whose words are dealt out among lanes (`ldmatrix`, `stmatrix`). */
  readonly matrices?: MatrixAccess;
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
  return times(indexBits(layout.shape), (bit) => 1 << bit);
}

/** Equal lanes, warps and blocks up to copies that the source has anyway. */
function registersOnly(src: LinearLayout, dst: LinearLayout): number[] | undefined {
  const sameThread = (a: readonly number[], b: readonly number[]): boolean =>
    a.length === b.length && a.every((basis, bit) => basis === b[bit]);
  const isSame = sameThread(src.lane, dst.lane) && sameThread(src.warp, dst.warp) &&
    sameThread(src.block, dst.block);
  if (!isSame) return undefined;
  const space = spaceOf(src.register);
  const images: number[] = [];
  for (const basis of dst.register) {
    const combo = solve(space, basis);
    if (combo === undefined) return undefined;
    images.push(combo);
  }
  return times(1 << dst.register.length, (r) => applyBases(images, r));
}

/** Lane bits that take part in one phase of an access of `bytes` per lane. */
function phaseBits(bytes: number): number {
  return bytes >= 16 ? 3 : bytes === 8 ? 4 : 5;
}

/** Lanes that access the same take part together, so bits that change nothing do not count. */
function phase({ lane }: LinearLayout, bytes: number): number[] {
  return lane.filter((basis) => basis !== 0).slice(0, phaseBits(bytes));
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
  sides: readonly (readonly number[])[],
  candidates: readonly number[],
): number[] {
  const segments: number[] = [];
  const spans = sides.map(spaceOf);
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
  options: PlanOptions = {},
): ConversionPlan {
  const sources = registersOnly(src, dst);
  if (sources !== undefined) {
    return sources.every((source, r) => source === r) && sources.length === 1 << src.register.length
      ? { kind: "none" }
      : { kind: "registers", sources };
  }
  return planShared(src, dst, elementBytes, options);
}

export interface PlanOptions {
  /** The side that may use `ldmatrix` or `stmatrix`, where the target has it. */
  readonly matrices?: MatrixSide | undefined;
  /**
   * What a phase of the source writes lies in one line of all banks. `cp.async` moves lines: with the pieces of a
   * row spread over eight of them, a dot on an H200 got its operands at 2.4 TB/s, half as fast as without.
   */
  readonly lines?: boolean;
}

/**
 * The plan with the memory of each warp in one piece, one behind the other, so that several exchanges in turn need no
 * barrier of the block. Undefined where warps exchange elements with each other, or share a line of all banks.
 */
export function separateWarps(
  plan: SharedPlan,
  { warp }: LinearLayout,
  elementBytes: number,
): SharedPlan | undefined {
  const { columns, withinWarp } = plan;
  const mask = warp.reduce((sum, basis) => sum | basis, 0);
  const line = Math.log2(LINE_BYTES / elementBytes);
  const isApart = columns.every((column, bit) =>
    (column & mask) === 0 || (bit >= line && warp.includes(column))
  );
  if (!withinWarp || !isApart) return undefined;
  return { ...plan, columns: [...columns.filter((column) => !warp.includes(column)), ...warp] };
}

/** All banks once. */
const LINE_BYTES = 128;

/** Through shared memory, even where registers would do. */
function planShared(
  src: LinearLayout,
  dst: LinearLayout,
  elementBytes: number,
  options: PlanOptions = {},
): SharedPlan {
  const vectors = planVectors(src, dst, elementBytes, options);
  const matrices = options.matrices &&
    planMatrices(src, dst, elementBytes, options, options.matrices);
  // Where stores could be wider anyway, `stmatrix` would narrow what loads.
  const isNarrower = matrices?.matrices?.side === "store" &&
    matrices.vectorBits < vectors.vectorBits;
  return matrices === undefined || isNarrower ? vectors : matrices;
}

/** The way of moving matrices whose rows the other side accesses in the widest pieces. */
function planMatrices(
  src: LinearLayout,
  dst: LinearLayout,
  elementBytes: number,
  options: PlanOptions,
  side: MatrixSide,
): SharedPlan | undefined {
  const [fragments, other] = side === "load" ? [dst, src] : [src, dst];
  // Each lane stores a word, so no two of them may hold the same one.
  if (side === "store" && copies(fragments)) return undefined;
  const score = ({ row }: MatrixShape): number =>
    2 * heldBits(other, row) + (row[0] === other.lane.find((basis) => basis !== 0) ? 1 : 0);
  const [best] = matrixShapes(fragments, elementBytes, side).toSorted((a, b) =>
    score(b) - score(a)
  );
  if (best === undefined || score(best) === 0) return undefined;
  const { row, access } = best;
  const vectorBits = heldBits(other, row);
  const inMatrices = [...row, ...access.rows];
  const inVectors = [...row.slice(0, vectorBits), ...phase(other, elementBytes << vectorBits)];
  const sides = side === "load"
    ? { write: inVectors, read: inMatrices }
    : { write: inMatrices, read: inVectors };
  return {
    kind: "shared",
    ...chooseColumns(src, dst, row, 3, sides, options),
    vectorBits,
    matrices: access,
    withinWarp: isWithinWarp(src, dst),
  };
}

/** Whether several threads hold the same element. */
function copies({ lane, warp }: LinearLayout): boolean {
  return freeMask(lane) !== 0 || freeMask(warp) !== 0;
}

function planVectors(
  src: LinearLayout,
  dst: LinearLayout,
  elementBytes: number,
  options: PlanOptions,
): SharedPlan {
  const all = units(src);
  const most = Math.log2(16 / elementBytes);
  const run = options.lines === true && elementBytes >= 4 ? runOf(src).slice(0, most) : [];
  if (run.some((basis) => !dst.register.includes(basis))) {
    return planRuns(src, dst, elementBytes, run, options);
  }
  // V: register bits of both sides, in the order of the source, so that packed words stay packed there.
  const common = src.register.filter((basis) => basis !== 0 && dst.register.includes(basis));
  const vector = common.slice(0, most);
  const accessBytes = elementBytes << vector.length;
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
  const within = [...vector, ...word];
  const sides = {
    write: [...within, ...phase(src, accessBytes)],
    read: [...within, ...phase(dst, accessBytes)],
  };
  return {
    kind: "shared",
    ...chooseColumns(src, dst, within, bankBits, sides, options),
    vectorBits: vector.length,
    withinWarp: isWithinWarp(src, dst),
  };
}

/** Register bits of a thread's neighbours along an axis, from its first element: what one copy moves. */
function runOf({ shape, register }: LinearLayout): number[] {
  const [first = 0] = register;
  if (!axisShifts(shape).some((shift) => first === 1 << shift)) return [];
  const end = register.findIndex((basis, bit) => basis !== first << bit);
  return register.slice(0, end < 0 ? register.length : end);
}

/**
 * The source copies runs that the reader does not hold whole: they stay together for `cp.async`, and the reader takes
 * as much of one as it holds.
 */
function planRuns(
  src: LinearLayout,
  dst: LinearLayout,
  elementBytes: number,
  run: readonly number[],
  options: PlanOptions,
): SharedPlan {
  const missing = run.findIndex((basis) => !dst.register.includes(basis));
  const runBytes = elementBytes << run.length;
  const sides = {
    write: [...run, ...phase(src, runBytes)],
    read: [...run, ...phase(dst, elementBytes << missing)],
  };
  return {
    kind: "shared",
    ...chooseColumns(src, dst, run, 5 - Math.log2(runBytes / 4), sides, options),
    vectorBits: missing,
    withinWarp: isWithinWarp(src, dst),
  };
}

/** Completes the lowest columns to a basis; `sides` are the spans that segments must stay out of. */
function chooseColumns(
  src: LinearLayout,
  dst: LinearLayout,
  within: readonly number[],
  bankBits: number,
  sides: { readonly write: readonly number[]; readonly read: readonly number[] },
  options: PlanOptions,
): Pick<SharedPlan, "columns" | "conflicts"> {
  const all = units(src);
  const segmentCount = Math.max(0, all.length - within.length - bankBits);
  // Register bits first: they become immediate offsets.
  const registers = [...src.register, ...dst.register];
  // A segment with a part inside of an access would take accesses off their boundaries.
  const outside = all.filter((unit) => !within.includes(unit));
  const candidates = [
    ...outside.filter((unit) => registers.includes(unit)),
    ...outside.filter((unit) => !registers.includes(unit)),
  ];
  const segments = chooseSegments(segmentCount, within, [sides.write, sides.read], candidates);
  const low = emptySpace();
  for (const v of [...within, ...segments]) extend(low, v);
  const banks: number[] = [];
  const lanes = options.lines === true ? [...src.lane, ...dst.lane] : [...dst.lane, ...src.lane];
  for (const unit of [...lanes, ...all]) {
    if (unit !== 0 && extend(low, unit)) banks.push(unit);
  }
  return {
    columns: [...within, ...banks, ...segments],
    conflicts: { write: meetSize(sides.write, segments), read: meetSize(sides.read, segments) },
  };
}

function isWithinWarp(src: LinearLayout, dst: LinearLayout): boolean {
  if (freeMask(src.warp) !== 0) return false;
  const find = ownerFinder(src);
  const warpOf = (basis: number): number => find(basis)?.warp ?? 0;
  return [...dst.register, ...dst.lane, ...dst.block].every((basis) => warpOf(basis) === 0) &&
    dst.warp.every((basis, bit) => warpOf(basis) === 1 << bit);
}

/** Offsets (elements) as bases per hardware bit: the layout followed by the inverse of `columns`. */
export function offsetBases(layout: LinearLayout, columns: readonly number[]): {
  readonly register: readonly number[];
  readonly lane: readonly number[];
  readonly warp: readonly number[];
  readonly block: readonly number[];
} {
  const space = spaceOf(columns);
  const offset = (basis: number): number => solve(space, basis) ?? 0;
  return {
    register: layout.register.map(offset),
    lane: layout.lane.map(offset),
    warp: layout.warp.map(offset),
    block: layout.block.map(offset),
  };
}
