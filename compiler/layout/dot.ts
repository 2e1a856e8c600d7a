/**
 * Layouts of a dot: how the result is spread over warps, and which parts of a and b each thread must hold
 * for that. Where the target has a matrix instruction for the element types and the extents allow it, threads
 * hold its fragments (mma.ts), repeated over the tile; otherwise a rectangle of the result with the rows of a and
 * columns of b that belong to it. A warp needs a whole band of a and b, so warps of one row of the result hold
 * copies of the same part of a: zero bases.
 *
 * The matrix axes are the first two; batch axes trail, so their bits are the lowest of the row-major index.
 */
import type { OpOf } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { bytesOf, type Element, isPointer } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { query, type Target } from "../targets.ts";
import { layoutKey, type LinearLayout, log2, product } from "../linear/linear.ts";
import { type Coordinate, type Fragment, MMA, type MmaRow } from "./mma.ts";
import { type ComputedLeft, suitsComputedLeft } from "./operands/computed_left.ts";
import { dealRows, suitsRegisters } from "./operands/register_operand.ts";
import {
  GROUP_ROWS,
  isBox,
  suitsChain,
  suitsComputed,
  suitsMade,
  suitsWarpGroups,
  WARP_BITS,
} from "./warp_group.ts";
import { times } from "../support/times.ts";

export interface DotLayouts {
  /** The instruction; undefined: multiply and add, element by element. */
  readonly mma: MmaRow | undefined;
  readonly a: LinearLayout;
  readonly b: LinearLayout;
  /** Of accumulator and result. */
  readonly result: LinearLayout;
  /** Register bits above those of one fragment: how often the instruction is repeated, base-2 logarithms. */
  readonly repeats: Repeats;
}

export interface Repeats {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
}

/** Extents as numbers of index bits. */
type Extents = Repeats;

/** A bit of the index space (m, n, k, batch). */
interface Unit {
  readonly axis: keyof Extents;
  readonly bit: number;
}

/** What one instruction, or one thread without instructions, computes. */
interface Core {
  readonly a: { readonly register: readonly Unit[]; readonly lane: readonly (Unit | undefined)[] };
  readonly b: { readonly register: readonly Unit[]; readonly lane: readonly (Unit | undefined)[] };
  readonly result: {
    readonly register: readonly Unit[];
    readonly lane: readonly (Unit | undefined)[];
  };
  /** Bits of each axis that it covers. */
  readonly size: Extents;
}

/** What the layouts of a `dot` depend on, beside the target. */
interface DotShape {
  /** Of operand a: m, k and batch axes. */
  readonly shape: readonly number[];
  readonly n: number;
  readonly elements: readonly [Element, Element];
  readonly mode: string;
  readonly numWarps: number;
  readonly chained: boolean;
  /** The warps are divided for warp groups. */
  readonly grouped: boolean;
  /** Rows are dealt out for threads that read a from slots, as those of so many bytes (operands/register_operand.ts). */
  readonly dealtBytes: number | undefined;
  /** Layout that the result has already. */
  readonly settled: LinearLayout | undefined;
}

/**
 * Layouts by target and shape: a long kernel has thousands of equal dots. A target is the view of one lowering, which
 * records its queries, so that nothing is shared between lowerings that may differ.
 */
const KNOWN = new WeakMap<Target, Map<string, DotLayouts>>();

/** What layouts follow from besides, while none is settled. */
export interface DotUse {
  /** The rows of the result stay within a warp (chains.ts). */
  readonly chained: boolean;
  /** Whether a and b lie along k where they are loaded from. */
  readonly alongK: readonly [boolean, boolean];
  /** Copies bring both in words at least. */
  readonly inWords: boolean;
  /** Copies bring one so, and its loop, which has no other dot, makes the other one. */
  readonly isMade: boolean;
  /** How a box lies that threads compute a from, where b is a box too (computed_left.ts). */
  readonly computedLeft: ComputedLeft | undefined;
}

/** Nothing is known of the operands. */
export const NO_USE: DotUse = {
  chained: false,
  alongK: [false, false],
  inWords: false,
  isMade: false,
  computedLeft: undefined,
};

/** The layouts of a `dot` for a number of warps. One whose result has a layout already keeps it. */
export function dotLayouts(
  op: OpOf<"dot">,
  numWarps: number,
  target: Target,
  { chained, alongK, inWords, isMade, computedLeft }: DotUse = NO_USE,
): DotLayouts {
  const { a, b } = operandsOf(op);
  const settled = resultOf(op).type.layout;
  const isFree = settled === undefined && !chained;
  const inRegisters = isFree && inWords && suitsRegisters(op, numWarps, target, alongK);
  const isComputed = isFree && computedLeft !== undefined &&
    suitsComputedLeft(op, numWarps, target, alongK[1]);
  const dot: DotShape = {
    shape: a.type.shape,
    n: b.type.shape[1] ?? 1,
    elements: [a.type.element, b.type.element],
    mode: op.attrs.mode,
    numWarps,
    chained,
    grouped: inRegisters ||
      (isFree
        ? suitsWarpGroups(op, numWarps, target, alongK) ||
          (inWords && suitsComputed(op, numWarps, target)) ||
          (isMade && suitsMade(op, numWarps, target)) ||
          isComputed
        : settled === undefined && isBox(b) && suitsChain(op, numWarps, target, alongK)),
    dealtBytes: inRegisters
      ? bytesOf(a.type.element)
      : isComputed && computedLeft !== "along k"
      ? computedLeft.acrossBytes
      : undefined,
    settled,
  };
  const key = keyOf(dot);
  const known = KNOWN.get(target) ?? new Map<string, DotLayouts>();
  KNOWN.set(target, known);
  const layouts = known.get(key) ?? computeLayouts(dot, target);
  known.set(key, layouts);
  return layouts;
}

/** A list and its text say the same: `JSON.stringify` took longer than many of the layouts. */
function keyOf({ shape, n, elements, mode, settled, numWarps, ...uses }: DotShape): string {
  const { chained, grouped, dealtBytes } = uses;
  const key = [shape, n, elements, mode, numWarps, chained, grouped, dealtBytes].join(" ");
  return settled === undefined ? key : `${key} ${layoutKey(settled)}`;
}

function computeLayouts(
  { shape, n, elements, mode, numWarps, chained, grouped, dealtBytes, settled }: DotShape,
  target: Target,
): DotLayouts {
  const [m = 1, k = 1, ...batch] = shape;
  const extents = { m: log2(m), n: log2(n), k: log2(k), batch: log2(product(batch)) };
  const mma = chooseMma(elements, mode, [m, n, k], target);
  const core = mma === undefined ? threadCore(extents, log2(numWarps)) : mmaCore(mma);
  const warp = settled === undefined
    ? grouped
      ? spreadGroups(extents, log2(numWarps))
      : spreadWarps(extents, core.size, log2(numWarps), chained && mma !== undefined)
    : settled.warp.map((basis) => unitOf(extents, basis));
  const inWarps = (axis: keyof Extents): number =>
    warp.filter((unit) => unit?.axis === axis).length;
  const repeats = {
    m: extents.m - core.size.m - inWarps("m"),
    n: extents.n - core.size.n - inWarps("n"),
    k: extents.k - core.size.k,
    batch: extents.batch - core.size.batch - inWarps("batch"),
  };
  const rest = (...axes: (keyof Extents)[]): Unit[] =>
    axes.flatMap((axis) =>
      times(extents[axis] - core.size[axis], (i) => core.size[axis] + i)
        .filter((bit) => !warp.some((unit) => unit?.axis === axis && unit.bit === bit))
        .map((bit) => ({ axis, bit }))
    );
  const lay = (
    part: Core["a"],
    [rows, columns]: readonly [keyof Extents, keyof Extents],
  ): LinearLayout => {
    // Bits of the third axis do not distinguish elements of this operand.
    const basis = (unit: Unit | undefined): number => {
      if (unit === undefined) return 0;
      const shifts: Partial<Record<keyof Extents, number>> = {
        batch: 0,
        [columns]: extents.batch,
        [rows]: extents.batch + extents[columns],
      };
      const shift = shifts[unit.axis];
      return shift === undefined ? 0 : 1 << (shift + unit.bit);
    };
    return {
      shape: [2 ** extents[rows], 2 ** extents[columns], ...batch],
      register: [...part.register, ...rest(columns, rows, "batch")].map(basis),
      lane: part.lane.map(basis),
      warp: warp.map(basis),
      block: [],
    };
  };
  const [a, result] = [lay(core.a, ["m", "k"]), lay(core.result, ["m", "n"])];
  return {
    mma,
    a: dealtBytes === undefined ? a : dealRows(a, dealtBytes, extents.k),
    b: lay(core.b, ["k", "n"]),
    result: dealtBytes === undefined ? result : dealRows(result, dealtBytes, extents.n),
    repeats,
  };
}

/** The warps of a group take 16 of its 64 rows each, groups the highest rows and then the highest columns. */
function spreadGroups({ m, n }: Extents, warpBits: number): Unit[] {
  const units: Unit[] = WARP_BITS.map((bit) => ({ axis: "m", bit }));
  const left = { m, n };
  while (units.length < warpBits) {
    const axis = left.m > log2(GROUP_ROWS) ? "m" : "n";
    units.push({ axis, bit: --left[axis] });
  }
  return units;
}

/** The bit of m, n or batch that a basis of a result's layout moves. */
function unitOf({ n, batch }: Extents, basis: number): Unit | undefined {
  if (basis === 0) return undefined;
  const bit = log2(basis);
  if (bit < batch) return { axis: "batch", bit };
  return bit < batch + n ? { axis: "n", bit: bit - batch } : { axis: "m", bit: bit - batch - n };
}

function chooseMma(
  elements: readonly Element[],
  mode: string,
  [m, n, k]: readonly [number, number, number],
  target: Target,
): MmaRow | undefined {
  return MMA.find((row) =>
    (row.mode ?? mode) === mode && row.m <= m && row.n <= n && row.k <= k &&
    elements.every((element) => !isPointer(element) && row.elements.includes(element)) &&
    query(target, ({ mma }) => mma.includes(row.name))
  );
}

function mmaCore(row: MmaRow): Core {
  const fragment = (
    { register, lane }: Fragment,
    [rows, columns]: readonly [keyof Extents, keyof Extents],
  ): Core["a"] => {
    const unit = ([r, c]: Coordinate): Unit | undefined =>
      r > 0 ? { axis: rows, bit: log2(r) } : c > 0 ? { axis: columns, bit: log2(c) } : undefined;
    return {
      register: register.map((at) => must(unit(at), "register of a fragment")),
      lane: lane.map(unit),
    };
  };
  return {
    a: fragment(row.a, ["m", "k"]),
    b: fragment(row.b, ["k", "n"]),
    result: fragment(row.c, ["m", "n"]),
    size: { m: log2(row.m), n: log2(row.n), k: log2(row.k), batch: 0 },
  };
}

/** Runs of a thread's rectangle of the result along either axis: 4 x 4 elements per 4 + 4 operands. */
const RUN_BITS = 2;

/**
 * A warp without matrix instructions: threads hold runs along n and m, lanes are 8 along n by 4 along m. Shared memory
 * serves an access of 16 bytes a lane half a warp at a time, if lanes that differ in bit 0, or in bit 1, read the same;
 * else a quarter. So bit 0 moves along m, bit 1 along n.
 */
function threadCore(extents: Extents, warpBits: number): Core {
  let free = Math.max(0, extents.m + extents.n + extents.batch - 5 - warpBits);
  const next: Record<keyof Extents, number> = { m: 0, n: 0, k: 0, batch: 0 };
  const deal = (axis: keyof Extents, count: number): Unit[] =>
    times(
      Math.max(0, Math.min(count, extents[axis] - next[axis])),
      () => ({ axis, bit: next[axis]++ }),
    );
  const columns = deal("n", Math.min(RUN_BITS, free));
  free -= columns.length;
  const rows = deal("m", Math.min(RUN_BITS, free));
  const along = deal("n", 3);
  const others: (Unit | undefined)[] = [];
  for (const axis of ["m", "n", "batch"] as const) {
    others.push(...deal(axis, 5 - along.length - others.length));
  }
  while (along.length + others.length < 5) others.push(undefined);
  const lane = [...others.slice(0, 1), ...along, ...others.slice(1)];
  const only = (...axes: readonly (keyof Extents)[]): Core["a"] => ({
    register: [...columns, ...rows].filter(({ axis }) => axes.includes(axis)),
    lane: lane.map((unit) => unit !== undefined && axes.includes(unit.axis) ? unit : undefined),
  });
  return {
    a: only("m", "k", "batch"),
    b: only("k", "n", "batch"),
    result: only("m", "n", "batch"),
    size: next,
  };
}

/**
 * Warps take the highest bits of m and n, so that what one warp holds is a solid rectangle, as square as can be:
 * it reads its rows of a and columns of b once; or m alone for as long as it can. What m and n cannot take goes to the
 * batch, the rest are copies.
 */
function spreadWarps(
  extents: Extents,
  core: Extents,
  warpBits: number,
  rowsFirst: boolean,
): (Unit | undefined)[] {
  const left = { m: extents.m, n: extents.n, batch: extents.batch };
  const units: (Unit | undefined)[] = [];
  for (let i = 0; i < warpBits; i++) {
    const room = (["m", "n"] as const).filter((axis) => left[axis] > core[axis]);
    // The longer side is halved; of equal ones m, which keeps rows of the result whole.
    const axis = (rowsFirst ? room : room.sort((x, y) => left[y] - left[x]))[0] ??
      (left.batch > core.batch ? "batch" : undefined);
    units.push(axis === undefined ? undefined : { axis, bit: --left[axis] });
  }
  return units;
}
