/** Moving elements: which element of an operand each element of a result is. */
import { countOf, flatten, unflatten } from "../compiler/tile_index.ts";
import { must } from "../../../compiler/support/bug.ts";

export type Shape = readonly number[];

/** The elements of a result of some shape, each taken from where its coordinates lead. */
export function pick<T>(
  from: readonly T[],
  fromShape: Shape,
  shape: Shape,
  source: (at: readonly number[]) => readonly number[],
): T[] {
  return Array.from({ length: countOf(shape) }, (_, index) => {
    const at = source(unflatten(index, shape));
    return must(from[flatten(at, fromShape)], "element");
  });
}

/** Left-padded with extents of 1, then extents of 1 stretched. */
export function stretch<T>(from: readonly T[], fromShape: Shape, shape: Shape): T[] {
  const pad = shape.length - fromShape.length;
  return pick(
    from,
    fromShape,
    shape,
    (at) => fromShape.map((extent, axis) => extent === 1 ? 0 : must(at[axis + pad], "coordinate")),
  );
}

/** Result axis d is axis `order[d]`. */
export function permute<T>(
  from: readonly T[],
  fromShape: Shape,
  order: readonly number[],
): T[] {
  const shape = order.map((axis) => must(fromShape[axis], "extent"));
  return pick(
    from,
    fromShape,
    shape,
    (at) => fromShape.map((_, axis) => must(at[order.indexOf(axis)], "coordinate")),
  );
}

/** For each element of the shape without the axis: the elements along the axis. */
export function lines<T>(from: readonly T[], shape: Shape, axis: number): T[][] {
  const rest = shape.toSpliced(axis, 1);
  return Array.from({ length: countOf(rest) }, (_, index) => {
    const at = unflatten(index, rest);
    return Array.from(
      { length: must(shape[axis], "extent") },
      (_, k) => must(from[flatten(at.toSpliced(axis, 0, k), shape)], "element"),
    );
  });
}

/** The inverse of `lines`: lines of any one length put back along an axis. */
export function fromLines<T>(all: readonly (readonly T[])[], shape: Shape, axis: number): T[] {
  const rest = shape.toSpliced(axis, 1);
  return Array.from({ length: countOf(shape) }, (_, index) => {
    const at = unflatten(index, shape);
    const line = must(all[flatten(at.toSpliced(axis, 1), rest)], "line");
    return must(line[must(at[axis], "coordinate")], "element");
  });
}
