/**
 * Rows of which a warp has several, and of each of which a reduction makes one element.
 *
 * With a row in all lanes of a warp, a reduction takes five exchanges between lanes for each row, and what follows from
 * its result is computed row by row. Where fewer lanes share a row, a warp does that for several rows at once. What is
 * loaded or stored for each row, as a label or a sum, is then accessed by the lanes that have the row: nothing moves
 * between warps, so they do not wait for each other.
 *
 * On an H200 cross-entropy of 65536×200 floats gained from 0.73 to 0.87 of a copy, of halves from 0.43 to 0.63
 * (tests/gpu/results/rows.md). Norms lose: their weights, which are the same for all rows, are loaded once for all rows that a
 * thread has.
 */
import type { AxisInfo } from "../../tile/axis.ts";
import type { Func, Op, OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { isLookup } from "../../ir/table.ts";
import { walkOps } from "../../ir/walk.ts";
import { type LinearLayout, product, reshapeLayout } from "../../linear/linear.ts";
import { isElementwise } from "../carried_data.ts";
import { reducedLayout } from "../reduce.ts";

/** What lanes that share a row should access of it at once. */
const LINE_BYTES = 128;

/** What they must access at least, where half of a warp does not access a line. */
const SECTOR_BYTES = 32;

/** The most values that are visited on the way from reductions to loads. */
const MAX_REACHED = 1000;

/** Tiles of rows, by shape and by the axis along which the rows lie. */
export type Rows = ReadonlySet<string>;

const keyOf = (shape: readonly number[], axis: number): string => `${shape.join()} ${axis}`;

/** The tiles that are loaded and reduced along an axis, and of which all rows are different memory. */
export function reducedRows(func: Func, axisInfo: (value: Value) => AxisInfo): Rows {
  const rows = new Set<string>();
  const loads: OpOf<"load">[] = [];
  walkOps(func.body, (op) => {
    if (op.name === "load" && !isLookup(op)) loads.push(op);
    if (op.name !== "reduce") return;
    const { shape } = operandsOf(op).value.type;
    if (shape.length === 2 && reachesLoad(op)) rows.add(keyOf(shape, op.attrs.axis));
  });
  if (rows.size === 0) return rows;
  for (const load of loads) {
    const { shape } = resultOf(load).type;
    const { constancy } = axisInfo(operandsOf(load).pointer);
    shape.forEach((_, axis) => {
      const across = 1 - axis;
      if ((constancy[across] ?? 1) > 1) rows.delete(keyOf(shape, axis));
    });
  }
  return rows;
}

/** Whether what is reduced is computed from a loaded tile of its shape, element by element. */
function reachesLoad(op: OpOf<"reduce">): boolean {
  const seen = new Set([operandsOf(op).value]);
  // A set is iterated over what is added meanwhile.
  for (const { def } of seen) {
    if (def === undefined || seen.size > MAX_REACHED) continue;
    if (def.name === "load" && !isLookup(def)) return true;
    if (isElementwise(def)) def.operands.forEach((operand) => seen.add(operand));
  }
  return false;
}

/** How many lanes share a row, if a thread accesses so many bytes of it at once; undefined: all that it has work for. */
export function lanesOfRow(
  rows: Rows,
  shape: readonly number[],
  axis: number,
  accessBytes: number,
  warps: number,
): number | undefined {
  if (!rows.has(keyOf(shape, axis))) return undefined;
  const ofWarp = product(shape) / (shape[axis] ?? 1) / warps;
  if (ofWarp < 2) return undefined;
  // Of narrow accesses half of a warp takes a sector or more.
  const least = Math.min(LINE_BYTES / accessBytes, Math.max(16, SECTOR_BYTES / accessBytes));
  return Math.max(32 / ofWarp, least);
}

/**
 * For an access to one element for each row: the layout in which reductions give them; undefined where there is none, or
 * threads would access elements one after the other.
 */
export function layoutOfRows(
  rows: Rows,
  shape: readonly number[],
  layouts: ReadonlyMap<Op, LinearLayout>,
): LinearLayout | undefined {
  const count = product(shape);
  if (count === 1 || !shape.includes(count)) return undefined;
  for (const [op, layout] of layouts) {
    if (op.name !== "load") continue;
    const tile = resultOf(op).type.shape;
    const axis = tile.findIndex((extent, axis) =>
      rows.has(keyOf(tile, axis)) && product(tile) === count * extent
    );
    if (axis < 0) continue;
    const reduced = reducedLayout(layout, axis);
    if (reduced.register.length === 0) return reshapeLayout(reduced, shape);
  }
  return undefined;
}
