/** k-means: points and centres stay on the device; each round reads back one number. */
import type { Tensor } from "@tri/tri/ffi";
import { means, nearest } from "../../generated/examples/kmeans/kmeans.ts";

/** What {@linkcode kMeans} found. */
export interface Clusters {
  /** Number and coordinates of each centre, [K, D]. */
  readonly centres: Tensor<"float32", 2>;
  /** The number of the centre of each point, [N]. */
  readonly labels: Tensor<"int32", 1>;
  /** The sum of the squared distances of the points to their centres. */
  readonly inertia: number;
  readonly rounds: number;
}

/** When to stop. */
export interface KMeansOptions {
  readonly maxRounds?: number;
  /** Ends when a round lowers the inertia by less than this part of it. */
  readonly tolerance?: number;
}

/**
 * Moves centres to the means of the points that are nearest to them until that gains little. `start`, [K, D], stays as it
 * is. The caller disposes the tensors of the result.
 */
export async function kMeans(
  points: Tensor<"float32", 2>,
  start: Tensor<"float32", 2>,
  { maxRounds = 100, tolerance = 1e-4 }: KMeansOptions = {},
): Promise<Clusters> {
  let centres = start.clone();
  let [inertia, rounds] = [Infinity, 0];
  for (;;) {
    const { label: labels, distance } = nearest(points, centres);
    const sum = (await distance.read()).reduce((a, b) => a + b, 0);
    distance.dispose();
    rounds++;
    const isDone = rounds >= maxRounds || sum >= inertia * (1 - tolerance);
    inertia = sum;
    if (isDone) return { centres, labels, inertia, rounds };
    const moved = means(points, labels, centres);
    labels.dispose();
    centres.dispose();
    centres = moved;
  }
}
