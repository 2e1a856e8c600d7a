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
export interface RowEnd {
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
  const added = addedAlong(pointers, axis, axisInfo);
  return added && alongAxis(added.count, added.axis);
}

/** The scalar by which a multiple of an index is what a tile of pointers adds along an axis; undefined if it adds else. */
export function pointerStride(
  pointers: Value,
  axis: number,
  index: Value,
  axisInfo: AxisFacts,
): Value | undefined {
  const added = addedAlong(pointers, axis, axisInfo);
  return added && factorOf(added.count, added.axis, index);
}

/** What a tile of pointers adds that differs along an axis, and which axis that is there; undefined if it adds several. */
function addedAlong(
  pointers: Value,
  axis: number,
  axisInfo: AxisFacts,
): { readonly count: Value; readonly axis: number } | undefined {
  let found: { readonly count: Value; readonly axis: number } | undefined;
  let [pointer, at] = [pointers, axis];
  while (!isConstant(pointer, at, axisInfo)) {
    const { def } = pointer;
    if (def?.name === "offset") {
      const { count } = operandsOf(def);
      if (!isConstant(count, at, axisInfo)) {
        if (found !== undefined) return undefined;
        found = { count, axis: at };
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

/** The scalar that an index along an axis is multiplied by in a tile. */
function factorOf(tile: Value, axis: number, index: Value): Value | undefined {
  let [value, at] = [tile, axis];
  while (value.def?.name === "broadcast" || value.def?.name === "expand_dims") {
    const { def } = value;
    if (def.name === "expand_dims") {
      if (def.attrs.axis === at) return undefined;
      if (def.attrs.axis < at) at--;
    }
    ({ value } = operandsOf(def));
  }
  if (value.def?.name !== "mul") return undefined;
  const { left, right } = operandsOf(value.def);
  if (alongAxis(left, at) === index) return scalarOf(right);
  return alongAxis(right, at) === index ? scalarOf(left) : undefined;
}
