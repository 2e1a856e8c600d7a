/**
 * What a mask says of the rows of a tile along an axis: which rows there are, and where the elements of a row end. Masks
 * are conjunctions of comparisons; those that are the same along the axis say which rows, and `index < bound` says where
 * they end, where the index is a range from a scalar on, as in `rn = pidn * TN + 0 ... TN`.
 */
import type { Value } from "../../ir/func.ts";
import { operandsOf } from "../../ir/op.ts";
import type { AxisFacts } from "../../tile/axis.ts";

/** Indices of the elements along an axis: `start + first`, then one more for each. */
export interface RowIndex {
  /** The one-dimensional tile. */
  readonly value: Value;
  /** A scalar; undefined: 0. */
  readonly start: Value | undefined;
  readonly first: bigint;
}

/** Elements of a row are there for as long as their index is less than a scalar. */
interface RowEnd {
  readonly index: RowIndex;
  readonly bound: Value;
  /** The part of the mask that says so. */
  readonly term: Value;
}

export interface RowBounds {
  readonly ends: readonly RowEnd[];
  /** The parts of the mask that only rows differ in. */
  readonly rows: readonly Value[];
}

/** The one-dimensional tile that a tile repeats for all its rows along an axis. */
function alongAxis(tile: Value, axis: number): Value | undefined {
  let [value, at] = [tile, axis];
  while (value.type.shape.length > 1) {
    const { def } = value;
    if (def?.name !== "broadcast" && def?.name !== "expand_dims") return undefined;
    if (def.name === "expand_dims") {
      if (def.attrs.axis === at) return undefined;
      if (def.attrs.axis < at) at--;
    }
    ({ value } = operandsOf(def));
  }
  return value;
}

/** A scalar that a tile consists of. */
function scalarOf(tile: Value): Value | undefined {
  let value = tile;
  while (value.type.shape.length > 0) {
    const { def } = value;
    if (def?.name !== "broadcast" && def?.name !== "expand_dims" && def?.name !== "splat") {
      return undefined;
    }
    ({ value } = operandsOf(def));
  }
  return value;
}

function indexOf(tile: Value, axis: number): RowIndex | undefined {
  const value = alongAxis(tile, axis);
  // Other types need other comparisons.
  if (value?.type.element !== "int32" || value.def === undefined) return undefined;
  const { def } = value;
  if (def.name === "range") return { value, start: undefined, first: BigInt(def.attrs.lo) };
  if (def.name !== "add") return undefined;
  const { left, right } = operandsOf(def);
  for (const [range, other] of [[left, right], [right, left]] as const) {
    const start = scalarOf(other);
    if (range.def?.name === "range" && start !== undefined) {
      return { value, start, first: BigInt(range.def.attrs.lo) };
    }
  }
  return undefined;
}

/** Whether the elements along an axis are equal. */
const isConstant = (value: Value, axis: number, axisInfo: AxisFacts): boolean =>
  (axisInfo(value).constancy[axis] ?? 1) >= (value.type.shape[axis] ?? 1);

/** What a mask says of rows along an axis; undefined where it says something else of them too. */
export function rowBounds(
  mask: Value | undefined,
  axis: number,
  axisInfo: AxisFacts,
): RowBounds | undefined {
  const ends: RowEnd[] = [];
  const rows: Value[] = [];
  // A list is iterated over what is added meanwhile.
  const terms = mask === undefined ? [] : [mask];
  for (const term of terms) {
    if (isConstant(term, axis, axisInfo)) rows.push(term);
    else if (term.def?.name === "and") terms.push(...term.def.operands);
    else {
      const end = endOf(term, axis);
      if (end === undefined) return undefined;
      ends.push({ ...end, term });
    }
  }
  return { ends, rows };
}

function endOf(term: Value, axis: number): Omit<RowEnd, "term"> | undefined {
  const { def } = term;
  if (def?.name === "broadcast") return endOf(operandsOf(def).value, axis);
  if (def?.name === "expand_dims") {
    const { axis: added } = def.attrs;
    return added === axis
      ? undefined
      : endOf(operandsOf(def).value, added < axis ? axis - 1 : axis);
  }
  if (def?.name !== "lt" && def?.name !== "gt") return undefined;
  const { left, right } = operandsOf(def);
  const [less, more] = def.name === "lt" ? [left, right] : [right, left];
  const [index, bound] = [indexOf(less, axis), scalarOf(more)];
  return index === undefined || bound === undefined ? undefined : { index, bound };
}

/** The index that a tile of pointers adds along an axis; undefined if it adds several, or another multiple. */
export function pointerIndex(
  pointers: Value,
  axis: number,
  axisInfo: AxisFacts,
): Value | undefined {
  let found: Value | undefined;
  let [pointer, at] = [pointers, axis];
  while (!isConstant(pointer, at, axisInfo)) {
    const { def } = pointer;
    if (def?.name === "offset") {
      const { count } = operandsOf(def);
      if (!isConstant(count, at, axisInfo)) {
        if (found !== undefined) return undefined;
        found = alongAxis(count, at);
        if (found === undefined) return undefined;
      }
      ({ pointer } = operandsOf(def));
    } else if (def?.name === "broadcast") pointer = operandsOf(def).value;
    else if (def?.name === "expand_dims") {
      if (def.attrs.axis < at) at--;
      pointer = operandsOf(def).value;
    } else return undefined;
  }
  return found;
}
