/** Row-major indices of tiles, for reference implementations. */

export const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** For each element without the axis, the flat indices of the elements along it, in order. */
export function lines(shape: readonly number[], axis: number): number[][] {
  const inner = countOf(shape.slice(axis + 1));
  const extent = shape[axis] ?? 1;
  return Array.from({ length: countOf(shape) / extent }, (_, line) => {
    const start = Math.floor(line / inner) * extent * inner + line % inner;
    return Array.from({ length: extent }, (__, i) => start + i * inner);
  });
}

/** The coordinates of a row-major index. */
export function unflatten(index: number, shape: readonly number[]): number[] {
  const coordinates: number[] = [];
  let rest = index;
  for (const extent of shape.toReversed()) {
    coordinates.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return coordinates;
}

/** The row-major index of coordinates. */
export function flatten(coordinates: readonly number[], shape: readonly number[]): number {
  return coordinates.reduce((index, x, axis) => index * (shape[axis] ?? 1) + x, 0);
}
