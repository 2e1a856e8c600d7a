/** What checks know of a launch. The launch gives it, once per worker of the host. */
import { type Allocation, type Allocations, allocationsOf } from "./allocations.ts";
import { type CheckLevels, DEFAULT_LEVELS } from "./levels.ts";

/** A piece of memory with a name. */
export interface Extent {
  readonly name: string;
  /** Its location, or its offset in shared memory. */
  readonly location: number;
  readonly bytes: number;
}

/** An argument that points to global memory. */
export interface PointerArgument {
  readonly name: string;
  readonly location: number;
}

export interface AccessLaunch {
  /** What is done about the findings of each check. */
  readonly levels: CheckLevels;
  readonly allocations: Allocations;
  /** Names for allocations that have none. */
  readonly arguments: readonly PointerArgument[];
  /** Variables in constant memory. */
  readonly constants: readonly Extent[];
  /** The block of arguments. */
  readonly parameters: Extent;
  /** Variables in shared memory, by offset. */
  readonly shared: readonly Extent[];
  /** Variables in local memory, by offset; parameters of inlined functions are among them. */
  readonly local: readonly Extent[];
  /**
   * Bytes of the narrowest access of the kernel to shared and to global memory, at most 16, a power of two: races are
   * found between pieces of this size. 0 disables the detection of races.
   */
  readonly granules: { readonly shared: number; readonly global: number };
  /** Whether the kernel accesses shared memory through the asynchronous proxy too (`proxies.ts`). */
  readonly usesAsyncProxy: boolean;
  /** Whether it may start before the grids before it have ended (`early.ts`). */
  readonly startsEarly: boolean;
}

/** The same as plain data, for other threads of the host. */
export type SentLaunch = Omit<AccessLaunch, "allocations"> & {
  readonly allocations: readonly Allocation[];
};

export function sendLaunch(launch: AccessLaunch): SentLaunch {
  return { ...launch, allocations: launch.allocations.all() };
}

export function receiveLaunch(launch: SentLaunch): AccessLaunch {
  return { ...launch, allocations: allocationsOf(launch.allocations) };
}

/** Between launches: no memory at all. */
export const NO_LAUNCH: AccessLaunch = {
  levels: DEFAULT_LEVELS,
  allocations: allocationsOf([]),
  arguments: [],
  constants: [],
  parameters: { name: "", location: 0, bytes: 0 },
  shared: [],
  local: [],
  granules: { shared: 0, global: 0 },
  usesAsyncProxy: false,
  startsEarly: false,
};
