/**
 * Whether two elements of a strided array have one address. Two indices that meet differ by a vector d with
 * |d[i]| < extent[i] and sum(d[i] * stride[i]) = 0, so the array overlaps itself exactly if such a d other than 0
 * exists.
 */

/** Differences that are tried before the search gives up. Layouts that programs use need none or a few. */
const SEARCH_LIMIT = 100_000;

interface Axis {
  readonly extent: number;
  readonly stride: number;
}

/** Strides may be negative. An array for which the search has no answer in bounded time counts as one that overlaps. */
export function overlapsItself(extents: readonly number[], strides: readonly number[]): boolean {
  if (extents.some((extent) => extent <= 0)) return false;
  const axes = extents.map((extent, i): Axis => ({ extent, stride: Math.abs(strides[i] ?? 0) }))
    .filter(({ extent }) => extent > 1)
    .sort((a, b) => b.stride - a.stride);
  // By axis: how far the axes after it reach together.
  const reach = axes.map(() => 0);
  for (let i = axes.length - 2; i >= 0; i--) {
    reach[i] = (reach[i + 1] ?? 0) + reachOf(axes[i + 1]);
  }
  if (axes.every(({ stride }, i) => stride > (reach[i] ?? 0))) return false;
  if (axes.some(({ stride }) => stride === 0)) return true;
  return new Search(axes, reach).meets(0, 0, false);
}

function reachOf(axis: Axis | undefined): number {
  return axis === undefined ? 0 : (axis.extent - 1) * axis.stride;
}

class Search {
  readonly #axes: readonly Axis[];
  readonly #reach: readonly number[];
  #steps = 0;

  constructor(axes: readonly Axis[], reach: readonly number[]) {
    this.#axes = axes;
    this.#reach = reach;
  }

  /**
   * Whether the axes from `first` on can make up for a distance. While all differences before are 0, so may be the sign
   * of the next: d and -d are the same pair of elements.
   */
  meets(first: number, distance: number, isApart: boolean): boolean {
    const axis = this.#axes[first];
    if (axis === undefined) return isApart && distance === 0;
    if (++this.#steps > SEARCH_LIMIT) return true;
    const { extent, stride } = axis;
    const reach = this.#reach[first] ?? 0;
    const most = Math.min(extent - 1, Math.floor((reach - distance) / stride));
    const least = isApart ? Math.max(1 - extent, Math.ceil((-reach - distance) / stride)) : 0;
    for (let d = least; d <= most; d++) {
      if (this.meets(first + 1, distance + d * stride, isApart || d !== 0)) return true;
    }
    return false;
  }
}
