/**
 * The emulator: PTX text in, launches of its kernels. What a program sees of it is the driver in `driver/`; this is
 * what the driver drives.
 */
import type { Extent } from "./check/launch.ts";
import type { SymbolLocation } from "./compile/context.ts";
import { writeInitial } from "./compile/initial.ts";
import { variableAlign, variableBytes } from "./compile/symbols.ts";
import type { ObservedLaunch } from "./debug/observed_launch.ts";
import type { Observer } from "./debug/observer.ts";
import { type ReadModule, readModule } from "./entries.ts";
import { Heap } from "./heap.ts";
import { newHost } from "./host.ts";
import { emulateKernel, type KernelInfo, type LaunchRequest } from "./kernel.ts";
import { LimitError, MOST_CONSTANT_BYTES } from "./limits.ts";
import type { Machine } from "./machine.ts";
import { FUNCTION_STRIDE, newMemory } from "./memory.ts";
import type { LaunchReport } from "./report.ts";
import { type Spawn, WorkerPool } from "./workers/pool.ts";

export type { KernelInfo, LaunchRequest } from "./kernel.ts";
export type { LaunchReport } from "./report.ts";

/** How an emulator is made. */
export interface EmulatorOptions {
  /** The most bytes that its memory may grow to. */
  readonly memoryBytes?: number;
  /** Starts a thread of the host; without it all blocks run in the calling thread. */
  readonly spawn?: Spawn;
}

/** A kernel that can be launched. */
export interface EmulatedKernel {
  readonly info: KernelInfo;
  /** Runs a grid to its end. Throws `Fault`. */
  launch(request: LaunchRequest): LaunchReport;
  /**
   * Begins a grid while someone looks on: in this thread, in steps. Other launches of the emulator must wait until it is
   * closed. Throws `Fault`.
   */
  observe(request: LaunchRequest, observer: Observer): ObservedLaunch;
}

/** The kernels of a module. Those of a large one are read when they are first asked for. */
export interface KernelTable {
  /** Throws like `load` where the kernel is read now. */
  get(name: string): EmulatedKernel | undefined;
  values(): Iterable<EmulatedKernel>;
}

/** A module in the emulator's memory. */
export interface LoadedModule {
  readonly kernels: KernelTable;
  /** In global and in constant memory. */
  readonly variables: ReadonlyMap<string, Extent>;
  unload(): void;
}

/** An emulated GPU. */
export interface Emulator {
  readonly machine: Machine;
  readonly heap: Heap;
  /**
   * Throws `PtxSyntaxError`, `LimitError` and `HeapFullError` where variables are too large, and `Fault` where a module
   * asks for what the emulator has not.
   */
  load(ptx: string, name: string): LoadedModule;
  /** Ends the threads that it started. */
  close(): void;
}

const INITIAL_BYTES = 4 * 2 ** 20;

/** A new emulator with memory of its own. */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const memory = newMemory(INITIAL_BYTES);
  const { machine, meters } = newHost(memory);
  const heap = new Heap(machine, options.memoryBytes);
  const workerPool = new WorkerPool(memory, options.spawn);
  let launches = 0;
  const load = (text: string): LoadedModule => {
    const read = readModule(text);
    const globals = allocateGlobals(machine, heap, read);
    const host = { machine, meters, heap, workerPool, number: () => ++launches };
    const made = new Map<string, ReturnType<typeof emulateKernel>>();
    const get = (name: string): EmulatedKernel | undefined => {
      const known = made.get(name);
      const entry = known === undefined ? read.entry(name) : undefined;
      if (entry === undefined) return known;
      const kernel = emulateKernel(host, { ...entry, ...globals });
      made.set(name, kernel);
      return kernel;
    };
    const values = (): EmulatedKernel[] => read.names.flatMap((name) => get(name) ?? []);
    if (read.isWhole) values();
    return {
      kernels: { get, values },
      variables: new Map(globals.extents.map((variable) => [variable.name, variable])),
      unload: () => {
        made.forEach((kernel) => kernel.unload());
        for (const { location } of globals.extents) heap.free(location);
      },
    };
  };
  return { machine, heap, load, close: () => workerPool.close() };
}

/** Functions and kernels have addresses, which may be passed on; only calls through them fail. */
function* functionLocations(
  { shared: { functions, aliases = [] }, names }: ReadModule,
): Generator<[name: string, location: SymbolLocation]> {
  let location = 0;
  const nameOf = ({ name }: { readonly name: string }): string => name;
  for (const name of [...functions.map(nameOf), ...names, ...aliases.map(nameOf)]) {
    location += FUNCTION_STRIDE;
    yield [name, { space: "function", location }];
  }
}

/** Puts the variables of a module into memory. */
function allocateGlobals(
  machine: Machine,
  heap: Heap,
  module: ReadModule,
): {
  readonly locations: ReadonlyMap<string, SymbolLocation>;
  readonly extents: readonly Extent[];
  readonly constants: readonly Extent[];
} {
  const locations = new Map<string, SymbolLocation>(functionLocations(module));
  const allocated: number[] = [];
  const allocate: Heap["allocate"] = (...wanted) => {
    try {
      const location = heap.allocate(...wanted);
      allocated.push(location);
      return location;
    } catch (error) {
      // Nothing stays of a module that does not fit.
      for (const location of allocated) heap.free(location);
      throw error;
    }
  };
  const extents: Extent[] = [];
  const constants: Extent[] = [];
  const own = module.shared.variables.filter(({ space, extern }) =>
    (space === "global" || space === "const") && extern !== true
  );
  const constantBytes = own.filter(({ space }) => space === "const")
    .reduce((sum, variable) => sum + variableBytes(variable), 0);
  if (constantBytes > MOST_CONSTANT_BYTES) {
    throw new LimitError(
      `its constant variables have ${constantBytes} bytes, and constant memory has ${MOST_CONSTANT_BYTES}`,
    );
  }
  for (const variable of own) {
    const { name } = variable;
    const space = variable.space === "const" ? "const" : "global";
    const bytes = variableBytes(variable);
    const kind = space === "const" ? "system" : "device";
    const location = allocate(bytes, variableAlign(variable), name, kind);
    machine.views.u8.fill(0, location, location + bytes);
    locations.set(name, { space, location });
    extents.push({ name, location, bytes });
    if (space === "const") constants.push({ name, location, bytes });
  }
  for (const variable of own) writeInitial(machine, variable, locations);
  return { locations, extents, constants };
}
