/** An index to try the service with: 1000 vectors of 64 numbers, each of length 1. */
export const DIMENSIONS = 64;

export function sampleVectors(): Float32Array<ArrayBuffer> {
  const vectors = new Float32Array(1000 * DIMENSIONS);
  for (let i = 0; i < 1000; i++) {
    const row = vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS);
    row.forEach((_, d) => row[d] = Math.sin((i + 1) * (d + 1) * 0.37));
    const length = Math.hypot(...row);
    row.forEach((x, d) => row[d] = x / length);
  }
  return vectors;
}
