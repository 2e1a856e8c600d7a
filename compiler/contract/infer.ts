/**
 * Contract inference: what a kernel's code says about its launch. Reads the tile IR after the generic
 * passes, before layouts. It claims only what the code shows:
 *
 * - grid: an axis whose program id is scaled by a tile size and bounded in the masks of stores and
 *   atomics, or else of loads (`pid * TM + range < M` gives `cdiv(M, TM)`); unmasked kernels say nothing;
 * - access: whether a pointer parameter is read, written or both;
 * - tensors (`tensors.ts`), ranges and the requirements that make them true (`ranges.ts`);
 * - in place: which results may take the memory of arguments (`in_place.ts`).
 */
import { must } from "../support/bug.ts";
import type { Span } from "../support/source.ts";
import type { Func, Op } from "../ir/func.ts";
import { rowOf } from "../ir/table.ts";
import { walkOps } from "../ir/walk.ts";
import { type Accesses, collectAccesses, type MemoryAccess } from "./accesses.ts";
import { constant } from "./expr.ts";
import { inPlaceParams, type PlainContract } from "./in_place.ts";
import { tilingOf } from "./groups.ts";
import { type GridExtents, programsFor } from "./interval.ts";
import { sameExpr } from "./normal.ts";
import { type ProvenWrap, rangesOf, wrapRequirements } from "./ranges.ts";
import { type Shaping, shapingOf } from "./shaping.ts";
import { type Strides, stridesOf } from "./strides.ts";
import { accessesByParam, type InferredTensor, inferTensor } from "./tensors.ts";
import type { AccessRange, ContractExpr, Requirement } from "./types.ts";
import { times } from "../support/times.ts";

/** An expression and the code that shows it. */
export interface Shown {
  readonly expr: ContractExpr;
  readonly span: Span;
  /** Only loads show it: a grid may well be another one. */
  readonly byLoads?: boolean;
}

export interface Bounds {
  readonly ranges: readonly AccessRange[];
  readonly requires: readonly Requirement[];
  /** Indices that wrap in every launch. */
  readonly wraps: readonly ProvenWrap[];
}

export interface Inferred {
  /** Up to the last axis that the code reads; undefined where it does not show the extent. */
  readonly grid: readonly (Shown | undefined)[];
  readonly access: Accesses["direction"];
  readonly tensors: readonly InferredTensor[];
  readonly shaping: Shaping;
  readonly strides: () => Strides;
  /** Parameters that some operation takes, by position; what is promised of others matters to nothing. */
  readonly used: ReadonlySet<number>;
  /** Ranges and requirements for the grid of the merged contract. */
  readonly bounds: (grid: GridExtents) => Bounds;
  /** Results that may take the memory of arguments, under the merged contract. */
  readonly inPlace: (contract: PlainContract) => ReadonlyMap<string, readonly string[]>;
}

/** Infers what it can; the function is not changed. */
export function infer(func: Func): Inferred {
  const { affine, vague, iterated, unknown, dividends, direction } = collectAccesses(func);
  const byParam = accessesByParam(affine, vague);
  const all = [...affine, ...iterated];
  let strides: Strides | undefined;
  return {
    grid: inferGrid(func, all),
    access: direction,
    tensors: [...accessesByParam(all, unknown)].flatMap(([param, accesses]) =>
      inferTensor(param, accesses) ?? []
    ),
    shaping: shapingOf(func),
    strides: () => (strides ??= stridesOf(func)),
    used: usedParams(func),
    bounds: (grid) => ({
      ranges: rangesOf(byParam, grid),
      ...wrapRequirements(func, affine, dividends, grid),
    }),
    inPlace: (contract) => inPlaceParams(func, contract),
  };
}

function usedParams({ params, body }: Func): ReadonlySet<number> {
  const positions = new Map(params.map((value, position) => [value, position]));
  const used = new Set<number>();
  walkOps(body, ({ operands }) => {
    for (const operand of operands) {
      const position = positions.get(operand);
      if (position !== undefined) used.add(position);
    }
  });
  return used;
}

function inferGrid(func: Func, accesses: readonly MemoryAccess[]): readonly (Shown | undefined)[] {
  const used = new Map<number, Op>();
  const adapted = new Set<number>(); // the code reads the extent, so any is right
  walkOps(func.body, (op) => {
    if (op.name === "program_id" && !used.has(op.attrs.axis)) used.set(op.attrs.axis, op);
    if (op.name === "num_programs") adapted.add(op.attrs.axis);
  });
  return times(Math.max(-1, ...used.keys()) + 1, (axis) => {
    if (adapted.has(axis)) return undefined;
    if (used.has(axis)) return gridAxis(axis, accesses);
    return { expr: constant(1), span: must([...used.values()][0], "a program id").span };
  });
}

/** The extent that the masks of writes agree on; that of loads, where no write has a mask on this axis. */
function gridAxis(axis: number, accesses: readonly MemoryAccess[]): Shown | undefined {
  const bounds = accesses.flatMap((access) => {
    const isLoad = rowOf(access.op).effect === "read";
    return boundsOn(axis, access).map((shown) => isLoad ? { ...shown, byLoads: true } : shown);
  });
  const writes = bounds.filter(({ byLoads }) => !byLoads);
  const [first, ...others] = writes.length > 0 ? writes : bounds;
  return first !== undefined && others.every(({ expr }) => sameExpr(first.expr, expr))
    ? first
    : undefined;
}

/** The extents that the mask of an access shows on an axis. */
function boundsOn(axis: number, { bounds, shape }: MemoryAccess): readonly Shown[] {
  return bounds.flatMap((bound) => {
    const tiling = tilingOf(bound.form, shape);
    return tiling?.axis === axis && bound.upper
      ? [{ expr: programsFor(bound, tiling.tile), span: bound.constraint.op.span }]
      : [];
  });
}
