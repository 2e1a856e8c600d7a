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
  readonly location: number;
  readonly bytes: number;
  readonly label: string;
  readonly freed: boolean;
  readonly tensor?: TensorInfo;
}

/** All device memory at one time. Another object as soon as anything changes. */
export interface Allocations {
  /** The live allocation that an address is in. */
  liveAt(location: number): Allocation | undefined;
  /** Live and freed, by address: plain data, which other threads of the host can be sent. */
  all(): readonly Allocation[];
}

/** Allocations that are given by ascending address. */
export function allocationsOf(all: readonly Allocation[]): Allocations {
  const live = all.filter(({ freed }) => !freed);
  return {
    liveAt(location): Allocation | undefined {
      let [low, high] = [0, live.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((live[middle]?.location ?? 0) <= location) low = middle + 1;
        else high = middle;
      }
      const found = live[low - 1];
      return found !== undefined && location < found.location + found.bytes ? found : undefined;
    },
    all: () => all,
  };
}

/** An allocation, and where a location is from its first byte. */
export interface Nearest {
  readonly allocation: Allocation;
  /** Negative before it, at least its size after it. */
  readonly offset: number;
}

/** The allocation, live or freed, that a location is in or nearest to. */
export function nearest(allocations: readonly Allocation[], location: number): Nearest | undefined {
  let found: Allocation | undefined;
  let least = Infinity;
  for (const allocation of allocations) {
    const { location: start, bytes } = allocation;
    const distance = location < start
      ? start - location
      : Math.max(0, location - (start + bytes) + 1);
    if (distance < least) [found, least] = [allocation, distance];
  }
  return found === undefined ? undefined : { allocation: found, offset: location - found.location };
}
