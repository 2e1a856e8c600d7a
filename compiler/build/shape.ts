/** Changes of shape: the typed tree's `broadcast` and `reshape` as the smallest operations that do them. */
import type { Span } from "../support/source.ts";
import type { Value } from "../ir/func.ts";
import { sameShape } from "../ir/types.ts";
import { type Context, emit } from "./context.ts";

/** To a larger shape: `[64]` to `[32, 64]` is a new axis 0 of extent 1, then stretched. */
export function buildBroadcast(
  cx: Context,
  value: Value,
  shape: readonly number[],
  span: Span,
): Value {
  if (sameShape(value.type.shape, shape)) return value;
  if (value.type.shape.length === 0) {
    return emit(cx, "splat", [value], { ...value.type, shape }, span);
  }
  let padded = value;
  while (padded.type.shape.length < shape.length) padded = expandDims(cx, padded, 0, span);
  if (sameShape(padded.type.shape, shape)) return padded;
  return emit(cx, "broadcast", [padded], { ...padded.type, shape }, span);
}

/** Row-major. Where it only inserts extents of 1, as `newaxis` does, each is an `expand_dims`. */
export function buildReshape(
  cx: Context,
  value: Value,
  shape: readonly number[],
  span: Span,
): Value {
  const { type } = value;
  if (sameShape(type.shape, shape)) return value;
  if (type.shape.length === 0) return emit(cx, "splat", [value], { ...type, shape }, span);
  const inserted = insertedAxes(type.shape, shape);
  if (inserted === undefined) return emit(cx, "reshape", [value], { ...type, shape }, span);
  return inserted.reduce((operand, axis) => expandDims(cx, operand, axis, span), value);
}

function expandDims(cx: Context, value: Value, axis: number, span: Span): Value {
  const shape = value.type.shape.toSpliced(axis, 0, 1);
  return emit(cx, "expand_dims", [value], { ...value.type, shape }, span, { axis });
}

/** The axes of `to` that `from` lacks, ascending, if they are all of extent 1 and the others are equal. */
function insertedAxes(from: readonly number[], to: readonly number[]): number[] | undefined {
  const inserted: number[] = [];
  let taken = 0;
  for (const [axis, extent] of to.entries()) {
    if (from[taken] === extent) taken++;
    else if (extent === 1) inserted.push(axis);
    else return undefined;
  }
  return taken === from.length ? inserted : undefined;
}
