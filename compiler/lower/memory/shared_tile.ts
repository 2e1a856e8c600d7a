/**
 * A tile in shared memory: written from one layout, read into another, each in accesses as wide as the plan says
 * (layout/conversion.ts). Reading is lazy, so that the consumer of the tile decides what is read when.
 */
import { type AccessGroup, groupRegisters } from "../../layout/access_groups.ts";
import { zip } from "../../support/zip.ts";
import type { Operand } from "../../ptx/func.ts";
import { offsetBases, type SharedPlan } from "../../layout/conversion.ts";
import type { MatrixAccess } from "../../layout/matrix_access.ts";
import { freeMask, type LinearLayout } from "../../linear/linear.ts";
import { solve, spaceOf } from "../../linear/f2.ts";
import { bytesOf, type Element } from "../../ir/types.ts";
import { bug } from "../../support/bug.ts";
import type { LowerContext, Lowered } from "../context.ts";
import { atRegister, ownerPredicate } from "../addresses.ts";
import { blockCopyBits } from "../../linear/threads.ts";
import { accessShape, packAccess, type Ref, unpackAccess, vectorOf } from "../element.ts";
import { byRegister } from "../values.ts";
import { times } from "../../support/times.ts";

/** Addresses of elements, and how they are read. */
export type AccessPlan = Pick<SharedPlan, "columns" | "vectorBits" | "matrices">;

/** A tile in shared memory: its address and its layout. */
export interface SharedTile {
  readonly plan: AccessPlan;
  readonly element: Element;
  /** Address of the first byte, in a register; asked for when the first access needs it. */
  readonly start: () => Operand;
  /** Bytes from there to the tile, if that changes. */
  readonly slot?: Operand;
  /** Index of the element that the layout's first one is; 0 if absent. */
  readonly origin?: number;
}

/** Register bits that the lowest offset bits come from: those of one access. */
function vectorRegisters(offsets: readonly number[], vectorBits: number): number[] {
  return times(vectorBits, (bit) => offsets.indexOf(1 << bit));
}

/** Bytes from a tile's start to its origin. */
function originOffset({ plan, element, origin }: SharedTile): number {
  const index = origin === undefined ? 0 : solve(spaceOf(plan.columns), origin);
  return (index ?? bug("origin outside of the buffer")) * bytesOf(element);
}

/** One side of a shared tile: its registers grouped into accesses, and their addresses. */
export interface Side {
  readonly groups: readonly AccessGroup[];
  readonly address: (register: number) => Operand;
}

export function sharedSide(cx: LowerContext, layout: LinearLayout, at: SharedTile): Side {
  const { plan } = at;
  const shift = Math.log2(bytesOf(at.element));
  const offsets = offsetBases(layout, plan.columns);
  const origin = originOffset(at);
  const bases = {
    register: offsets.register.map((o) => o << shift),
    thread: [...offsets.lane, ...offsets.warp, ...offsets.block].map((o) => o << shift),
  };
  const start = at.start();
  return {
    groups: groupRegisters(layout, vectorRegisters(offsets.register, plan.vectorBits)),
    address: (register) => {
      const { base, constant } = atRegister(cx, bases, register, origin);
      return sharedAddress(cx, start, at.slot, base, constant);
    },
  };
}

/** `[start + base + slot + constant]` */
function sharedAddress(
  cx: LowerContext,
  start: Operand,
  slot: Operand | undefined,
  base: Operand,
  constant: number,
): Operand {
  const e = cx.emitter;
  // The slot comes last: all else stays the same in a loop.
  const fixed = e.sumOf(e.add("b32", start, base));
  const sum = slot === undefined ? fixed.base : e.add("b32", fixed.base, slot);
  return { kind: "address", base: sum, offset: BigInt(constant) + fixed.constant };
}

/** `.shared.v4.b32` */
function sharedSuffix(access: { readonly count: number; readonly type: string }): string {
  return `.shared${access.count > 1 ? `.v${access.count}` : ""}.${access.type}`;
}

/** Stores a tile; of copies of an element, one is stored. */
export function writeSharedTile(
  cx: LowerContext,
  layout: LinearLayout,
  values: Lowered,
  at: SharedTile,
): void {
  const e = cx.emitter;
  const { matrices } = at.plan;
  if (matrices?.side === "store") {
    storeMatrices(cx, layout, values, at, matrices);
    return;
  }
  const suffix = sharedSuffix(accessShape(bytesOf(at.element), 1 << at.plan.vectorBits));
  const side = sharedSide(cx, layout, at);
  const owner = ownerPredicate(cx, blockCopyBits(layout));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  for (const group of side.groups) {
    const registers = packAccess(e, group.map((r) => values(r)), at.element);
    e.emit(`st${suffix}`, [side.address(group[0]), vectorOf(registers)], guard);
  }
}

/** Elements of a shared tile in a layout, loaded on demand. */
export interface SharedRead {
  readonly values: Lowered;
  /** One for each load: does it, unless it is done. */
  readonly loads: readonly (() => void)[];
  /** Loads what has not been loaded yet. */
  readonly finish: () => void;
}

export function readSharedTile(cx: LowerContext, layout: LinearLayout, at: SharedTile): SharedRead {
  const { matrices } = at.plan;
  const { groups, load } = matrices?.side === "load"
    ? matrixLoads(cx, layout, at, matrices)
    : vectorLoads(cx, layout, at);
  const free = freeMask(layout.register);
  const loads = groups.map((group) => {
    let loaded: Lowered | undefined;
    return () => loaded ??= byRegister(zip(group, load(group)));
  });
  const loadOf = byRegister(
    zip(groups, loads).flatMap(([group, load]) =>
      group.map((register) => [register, load] as const)
    ),
  );
  return {
    values: (register) => loadOf(register & ~free)()(register & ~free),
    loads,
    finish: () => loads.forEach((load) => load()),
  };
}

interface Loads {
  readonly groups: readonly AccessGroup[];
  /** Loads the elements of one group, in its order. */
  readonly load: (group: AccessGroup) => readonly Ref[];
}

function vectorLoads(cx: LowerContext, layout: LinearLayout, at: SharedTile): Loads {
  const e = cx.emitter;
  const access = accessShape(bytesOf(at.element), 1 << at.plan.vectorBits);
  const suffix = sharedSuffix(access);
  const side = sharedSide(cx, layout, at);
  return {
    groups: side.groups,
    load: (group) => {
      const registers = times(access.count, () => e.register(access.bank));
      e.emit(`ld${suffix}`, [vectorOf(registers), side.address(group[0])]);
      return unpackAccess(e, registers, at.element, group.length);
    },
  };
}

/** The most matrices that one `ldmatrix` or `stmatrix` moves, base-2 logarithm. */
const MATRIX_BITS = 2;

/** The side of a tile that moves matrices: its registers grouped into instructions, and what these name. */
interface MatrixSide extends Side {
  /** Words of a thread in one instruction. */
  readonly count: number;
  /** What follows `ldmatrix` or `stmatrix`. */
  readonly suffix: string;
}

/**
 * Lanes 8 i … 8 i + 7 name the rows of matrix i; which matrices these are, register bits say. All else, warps and
 * the other register bits, is as in any access.
 */
function matrixSide(
  cx: LowerContext,
  layout: LinearLayout,
  at: SharedTile,
  { rows, transposed, wordBits }: MatrixAccess,
): MatrixSide {
  const bytes = bytesOf(at.element);
  const space = spaceOf(at.plan.columns);
  const offset = (basis: number): number =>
    (solve(space, basis) ?? bug("element outside of the buffer")) * bytes;
  const origin = originOffset(at);
  const word = times(wordBits, (bit) => bit);
  const matrix = [...layout.register.entries()]
    .filter(([bit, basis]) => bit >= wordBits && basis !== 0).slice(0, MATRIX_BITS);
  const lanes = [...rows, ...matrix.map(([, basis]) => basis)];
  const bases = {
    register: layout.register.map(offset),
    thread: [...[0, 1, 2, 3, 4].map((i) => offset(lanes[i] ?? 0)), ...layout.warp.map(offset)],
  };
  const start = at.start();
  const count = 1 << matrix.length;
  return {
    groups: groupRegisters(layout, [...word, ...matrix.map(([bit]) => bit)]),
    count,
    suffix: `.sync.aligned.m8n8.x${count}${transposed ? ".trans" : ""}.shared.b16`,
    address: (register) => {
      const { base, constant } = atRegister(cx, bases, register, origin);
      return sharedAddress(cx, start, at.slot, base, constant);
    },
  };
}

function matrixLoads(
  cx: LowerContext,
  layout: LinearLayout,
  at: SharedTile,
  matrices: MatrixAccess,
): Loads {
  const e = cx.emitter;
  const { groups, count, suffix, address } = matrixSide(cx, layout, at, matrices);
  return {
    groups,
    load: (group) => {
      const registers = times(count, () => e.register("b32"));
      e.emit(`ldmatrix${suffix}`, [{ kind: "vector", elements: registers }, address(group[0])]);
      return registers.flatMap((register) =>
        unpackAccess(e, [register], at.element, 1 << matrices.wordBits)
      );
    },
  };
}

function storeMatrices(
  cx: LowerContext,
  layout: LinearLayout,
  values: Lowered,
  at: SharedTile,
  matrices: MatrixAccess,
): void {
  const e = cx.emitter;
  const { groups, suffix, address } = matrixSide(cx, layout, at, matrices);
  for (const group of groups) {
    const words = packAccess(e, group.map((r) => values(r)), at.element);
    e.emit(`stmatrix${suffix}`, [address(group[0]), { kind: "vector", elements: words }]);
  }
}
