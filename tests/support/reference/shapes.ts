/** Moving elements: which element of an operand each element of a result is. */
import { must } from "../../../compiler/support/bug.ts";

export type Shape = readonly number[];

export function countOf(shape: Shape): number {
  return shape.reduce((count, extent) => count * extent, 1);
}

/** The coordinates of a row-major index. */
export function coordinates(index: number, shape: Shape): number[] {
  const result: number[] = [];
  let rest = index;
  for (const extent of shape.toReversed()) {
    result.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return result;
}

/** The row-major index of coordinates. */
export function indexAt(at: readonly number[], shape: Shape): number {
  return shape.reduce((index, extent, axis) => index * extent + must(at[axis], "coordinate"), 0);
}

/** The elements of a result of some shape, each taken from where its coordinates lead. */
export function pick<T>(
  from: readonly T[],
  fromShape: Shape,
  shape: Shape,
  source: (at: readonly number[]) => readonly number[],
): T[] {
  return Array.from({ length: countOf(shape) }, (_, index) => {
    const at = source(coordinates(index, shape));
    return must(from[indexAt(at, fromShape)], "element");
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
    const at = coordinates(index, rest);
    return Array.from(
      { length: must(shape[axis], "extent") },
      (_, k) => must(from[indexAt(at.toSpliced(axis, 0, k), shape)], "element"),
    );
  });
}

/** The inverse of `lines`: lines of any one length put back along an axis. */
export function fromLines<T>(all: readonly (readonly T[])[], shape: Shape, axis: number): T[] {
  const rest = shape.toSpliced(axis, 1);
  return Array.from({ length: countOf(shape) }, (_, index) => {
    const at = coordinates(index, shape);
    const line = must(all[indexAt(at.toSpliced(axis, 1), rest)], "line");
    return must(line[must(at[axis], "coordinate")], "element");
  });
}
