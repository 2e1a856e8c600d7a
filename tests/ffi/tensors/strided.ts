/** Offsets of strided arrays, by sums. */

/** The offset of every element in row-major order of its index, in elements. */
export function stridedOffsets(extents: readonly number[], strides: readonly number[]): number[] {
  let offsets = [0];
  extents.forEach((extent, axis) => {
    const steps = Array.from({ length: extent }, (_, i) => i * (strides[axis] ?? 0));
    offsets = offsets.flatMap((offset) => steps.map((step) => offset + step));
  });
  return offsets;
}
