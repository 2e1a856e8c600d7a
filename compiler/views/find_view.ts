/** The view of one load, or why it has none. */
import type { AffineAnalysis } from "../contract/affine.ts";
import type { Constraint, Observation } from "../contract/affine_rules.ts";
import { constant } from "../contract/expr.ts";
import { constantOf as constantOfPoly, type Poly, polyExpr } from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import type { Func, OpOf } from "../ir/func.ts";
import { resultOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { type AxisFacts, powerOfTwoIn } from "../tile/axis.ts";
import { anyNumberAxes, demandFarPlaces, mayBeAny } from "./any_number.ts";
import { coordinateOf, MOST_AXES, readingsOf, type Run, spell } from "./axes.ts";
import { Bounds } from "./bounds.ts";
import { extentOfStores, type Uses } from "./dead_rows.ts";
import { isComputable } from "./coordinates.ts";
import { Demands } from "./demands.ts";
import { type BoundedRun, demandFit } from "./exactness.ts";
import { extentOfLoop, extentsOf, smallest } from "./extents.ts";
import { limitExpr } from "./limits.ts";
import { loadedTile } from "./loaded_tile.ts";
import { demandAlways, partsOfMask } from "./masks.ts";
import { NoView, noView } from "./no_view.ts";
import { extentOfEnd, isWithinRagged, onlyEnd, raggedAxes } from "./ragged.ts";
import { runsOf } from "./run_starts.ts";
import type { TensorView, ViewAxis } from "./view.ts";

/** What is known of a function, for all of its loads. */
export interface Known {
  readonly func: Func;
  readonly analysis: AffineAnalysis;
  readonly axisInfo: AxisFacts;
  readonly uses: Uses;
}

/** Bytes that the address of a box must be a multiple of (PTX ISA 9.0, 5.5.3.1). */
export const ALIGN = 16;
/** The shortest line of a swizzled box (PTX ISA 9.0, 5.5.3). */
const LEAST_LINE = 32;
/** The largest coordinate and extent: int32. */
const MOST = (1n << 31n) - 1n;

/** The view of a load of a tile. Throws {@linkcode NoView}. */
export function viewOf(load: OpOf<"load">, known: Known): TensorView {
  const { func, analysis } = known;
  const { param, element, shape, elements, observed, mask } = loadedTile(load, analysis);
  const request: Request = { load, shape, ...partsOfMask(mask, analysis), observed, known };
  let why: NoView | undefined;
  for (const runs of readingsOf(elements, shape)) {
    try {
      const demands = new Demands();
      const bounds = new Bounds(func, analysis, demands);
      const axes = boundedAxes(runs, request, bounds, demands).flatMap(axesOf);
      if (axes.length > MOST_AXES) noView(`it has more than ${MOST_AXES} axes`);
      return { param, element, axes, when: demands.list() };
    } catch (error) {
      if (!(error instanceof NoView)) throw error;
      why ??= error;
    }
  }
  throw why ?? new NoView("it has no axes");
}

/** A run as axes of a tensor map. */
function axesOf(
  { stride, extent, end, tile, origin, isAny }: BoundedRun,
): readonly ViewAxis[] {
  if (isAny === true) return anyNumberAxes(stride, origin);
  const axis: ViewAxis = {
    stride: polyExpr(stride),
    extent: extent ?? constant(MOST),
    tile,
    origin,
    ...runsOf(origin, tile),
  };
  return end === undefined ? [axis] : raggedAxes(axis, end);
}

interface Request {
  readonly load: OpOf<"load">;
  readonly shape: readonly number[];
  readonly constraints: readonly Constraint[];
  readonly always: readonly Constraint[];
  readonly observed: readonly Observation[];
  readonly known: Known;
}

function boundedAxes(
  runs: readonly Run[],
  request: Request,
  bounds: Bounds,
  demands: Demands,
): readonly BoundedRun[] {
  const { load, shape, constraints, always, observed, known } = request;
  const masked = extentsOf(runs, constraints, demands);
  const bytes = bytesOf(resultOf(load).type.element);
  const bounded = runs.map((run, index): BoundedRun => {
    const stride = constantOfPoly(run.stride);
    if (index > 0 && stride !== undefined && stride * BigInt(bytes) % BigInt(ALIGN) !== 0n) {
      noView(`\`${spell(coordinateOf(run))}\` counts steps of ${stride * BigInt(bytes)} bytes`);
    }
    const { extents = [], ends = [] } = masked[index] ?? {};
    const end = ends.length === 0 ? undefined : onlyEnd(run, ends, extents);
    if (end !== undefined) return { ...run, end, extent: extentOfEnd(end, bounds) };
    const extent = smallest(extents) ?? extentWithoutMask(run, request, bounds, demands);
    if (extent === undefined && run.tile !== undefined) {
      noView(`nothing bounds \`${spell(coordinateOf(run))}\`, its axis ${run.tile}`);
    }
    return { ...run, extent };
  });
  const axes = bounded.map((run, index): BoundedRun => {
    const { origin, end, stride, tile } = run;
    if (!isComputable(origin)) noView(`\`${spell(origin)}\` does not change by a constant step`);
    const { min, max } = bounds.starts(origin);
    if (mayBeAny(run, { min, max })) {
      demandFarPlaces(stride, bytes, demands);
      return { ...run, isAny: true };
    }
    const span = BigInt(tile === undefined ? 1 : shape[tile] ?? 1);
    // Copies give zeros there.
    const isMasked = end === undefined && tile !== undefined && masked[index]?.isFromZero === true;
    if (min < (isMasked ? -MOST : 0n)) noView(`\`${spell(origin)}\` may be negative`);
    const isSmall = end === undefined ? max + span <= MOST : isWithinRagged(max + span);
    if (!isSmall) noView(`\`${spell(origin)}\` may be too large for an int32`);
    return run;
  });
  for (const constraint of always) demandAlways(constraint, shape, demands);
  for (const constraint of [...constraints, ...always]) demandExact(constraint, shape, bounds);
  for (const one of observed) demandFit(one, axes, shape, bounds, demands);
  const [inner] = axes;
  if (inner !== undefined && multipleOf(inner.origin, known) * bytes < ALIGN) {
    noView(`\`${spell(inner.origin)}\` is not known to be a multiple of ${ALIGN / bytes} elements`);
  }
  const { run } = inner === undefined ? {} : runsOf(inner.origin, inner.tile);
  if (run !== undefined && run * bytes < LEAST_LINE) noView(`its runs have ${run} elements`);
  return axes;
}

/** A comparison is one of the numbers that it seems to be only if they do not wrap, on any lane. */
export function demandExact(
  { observed }: Constraint,
  shape: readonly number[],
  bounds: Bounds,
): void {
  for (const one of observed) {
    if (!bounds.demandObserved(one, shape)) {
      const how = one.below === undefined ? "may wrap" : "wraps around";
      noView(`\`${spell(one.poly)}\`, which a mask compares, ${how}`);
    }
  }
}

function extentWithoutMask(
  run: Run,
  { load, shape, known: { analysis, uses } }: Request,
  bounds: Bounds,
  demands: Demands,
): ContractExpr | undefined {
  const { tile } = run;
  if (tile === undefined) return undefined;
  const span = shape[tile] ?? 1;
  const first = constantOfPoly(run.origin);
  if (first !== undefined) return limitExpr(first + BigInt(span));
  const ofLoop = extentOfLoop(run, span, analysis, demands);
  if (ofLoop !== undefined) return polyExpr(ofLoop);
  const rows = extentOfStores(resultOf(load), tile, run.origin, uses, analysis);
  for (const one of rows?.kept ?? []) demandExact(one.constraint, one.shape, bounds);
  return rows && polyExpr(rows.extent);
}

/** A power of two that all values of a polynomial are multiples of. */
export function multipleOf(
  poly: Poly,
  { func, axisInfo }: Pick<Known, "func" | "axisInfo">,
): number {
  let common = MOST_MULTIPLE;
  for (const { coefficient, atoms } of poly.values()) {
    let multiple = powerOfTwoIn(Number(coefficient < 0n ? -coefficient : coefficient));
    for (const atom of atoms) {
      if (atom.kind === "scalar" || atom.kind === "run") {
        multiple *= axisInfo(atom.value).divisibility[0] ?? 1;
      }
      if (atom.kind === "param") {
        const index = func.params.findIndex(({ name }) => name === atom.name);
        multiple *= powerOfTwoIn(func.paramFacts[index]?.multipleof ?? 1);
      }
    }
    common = Math.min(common, multiple);
  }
  return common;
}

const MOST_MULTIPLE = 1 << 20;
