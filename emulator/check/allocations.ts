/** Device memory as kernels may see it: which bytes are allocated, and what they are called. */

/** What an allocation holds. */
export interface TensorInfo {
  readonly name?: string;
  /** Such as "float32". */
  readonly dtype: string;
  readonly elementBytes: number;
  readonly shape: readonly number[];
}

/** A piece of device memory. */
export interface Allocation {
  readonly place: number;
  readonly bytes: number;
  readonly label: string;
  readonly freed: boolean;
  readonly tensor?: TensorInfo;
}

/** All device memory at one time; plain data, which other workers of the host can be sent. */
export interface AllocationTable {
  /** Beginnings and ends of the live allocations, ascending. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Live and freed, by place. */
  readonly allocations: readonly Allocation[];
}

/** A table of allocations that are given by ascending place. */
export function makeTable(allocations: readonly Allocation[]): AllocationTable {
  const live = allocations.filter(({ freed }) => !freed);
  return {
    starts: Float64Array.from(live, ({ place }) => place),
    ends: Float64Array.from(live, ({ place, bytes }) => place + bytes),
    allocations,
  };
}

/** Number of the live allocation that a place is in, or -1. */
export function liveIndex({ starts, ends }: AllocationTable, place: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low > 0 && place < (ends[low - 1] ?? 0) ? low - 1 : -1;
}

/** An allocation, and where a place is from its first byte. */
export interface Nearest {
  readonly allocation: Allocation;
  /** Negative before it, at least its size behind it. */
  readonly offset: number;
}

/** The allocation, live or freed, that a place is in or nearest to. */
export function nearest(table: AllocationTable, place: number): Nearest | undefined {
  const { allocations } = table;
  let found: Allocation | undefined;
  let least = Infinity;
  for (const allocation of allocations) {
    const { place: start, bytes } = allocation;
    const distance = place < start ? start - place : Math.max(0, place - (start + bytes) + 1);
    if (distance < least) [found, least] = [allocation, distance];
  }
  return found === undefined ? undefined : { allocation: found, offset: place - found.place };
}
