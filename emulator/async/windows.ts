/** Windows of pictures: which pixels a copy of them has (PTX ISA 9.0, 5.5.4, im2col mode). */
import type { TensorMap } from "../../ffi/tensor_map.ts";
import type { TensorWindow } from "../../ffi/tensor_windows.ts";
import { times } from "../../compiler/support/times.ts";

/** Whether the first window of a copy begins at one of those that the map has; of a copy beyond the pictures any may be. */
export function isWindow(
  { extents, elementStrides }: TensorMap,
  windows: readonly TensorWindow[],
  origin: readonly number[],
): boolean {
  const picture = origin.at(-1) ?? 0;
  if (picture < 0 || picture >= (extents.at(-1) ?? 0)) return true;
  return windows.every(({ lower, upper }, i) => {
    const at = (origin[i + 1] ?? 0) - lower;
    const length = (extents[i + 1] ?? 0) + upper - lower;
    return at >= 0 && at < length && at % (elementStrides[i + 1] ?? 1) === 0;
  });
}

/**
 * The pixels of a copy: one of each window, `offsets` from its beginning. Windows follow each other along the inner axis,
 * then the next one, then through the pictures. Coordinates are from axis 1 on; undefined: outside of its picture.
 */
export function pixelsOf(
  { extents, elementStrides, box: [, count = 0] }: TensorMap,
  windows: readonly TensorWindow[],
  [, ...origin]: readonly number[],
  offsets: readonly number[],
): readonly (readonly number[] | undefined)[] {
  const begin = [...origin];
  return times(count, () => {
    const pixel = begin.map((at, i) => at + (offsets[i] ?? 0));
    const isInside = pixel.every((at, i) => at >= 0 && at < (extents[i + 1] ?? 0));
    let axis = 0;
    for (const { lower, upper } of windows) {
      const next = (begin[axis] ?? 0) + (elementStrides[axis + 1] ?? 1);
      const isOver = next >= (extents[axis + 1] ?? 0) + upper;
      begin[axis] = isOver ? lower : next;
      if (!isOver) return isInside ? pixel : undefined;
      axis++;
    }
    begin[axis] = (begin[axis] ?? 0) + 1;
    return isInside ? pixel : undefined;
  });
}
