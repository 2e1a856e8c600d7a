/** A kernel of a loaded module: compiled when it is first launched, run over grids. */
import type { PtxKernel, PtxModule } from "../compiler/ptx/func.ts";
import { accessOf, beginLaunch } from "./access/state.ts";
import { anyCheck, type CheckLevels, levelsFor } from "./check/levels.ts";
import type { AccessLaunch, Extent, PointerArgument } from "./check/launch.ts";
import type { SymbolLocation } from "./compile/context.ts";
import { hasAsyncProxy, narrowestAccesses } from "./compile/granules.ts";
import { compileKernel } from "./compile/mod.ts";
import type { Program } from "./compile/program.ts";
import { kernelSymbols, type KernelVariables, kernelVariables } from "./compile/symbols.ts";
import { observe, type Observer } from "./debug/observer.ts";
import { type ObservedLaunch, observedLaunch } from "./debug/observed_launch.ts";
import { factsOf, Fault, type FaultFacts } from "./fault.ts";
import type { Heap } from "./heap.ts";
import type { Host } from "./host.ts";
import { MOST_THREADS } from "./limits.ts";
import { WINDOW } from "./memory.ts";
import { type LaunchReport, mergeReports, reportOf } from "./report.ts";
import { clusterCount, runGrid } from "./schedule/grid.ts";
import { withOrigin } from "./schedule/fault_origin.ts";
import { SLOT_ALIGN } from "./schedule/slot.ts";
import { SlotPool, type Slots } from "./schedule/slots.ts";
import { type LaunchFacts, RESERVED_BYTES } from "./schedule/specials.ts";
import type { Area, WorkerPool } from "./workers/pool.ts";

/** Facts about a kernel. */
export interface KernelInfo {
  readonly name: string;
  readonly params: readonly {
    readonly offset: number;
    readonly bytes: number;
    readonly name: string;
  }[];
  readonly parameterBytes: number;
  /** Shared memory of its own, without what a launch adds. */
  readonly sharedBytes: number;
  /** Per thread. */
  readonly localBytes: number;
  /** That it declares; hardware needs fewer. */
  readonly registers: number;
  readonly maxThreads: number;
  /** Blocks of a cluster along the grid's first axis, as the kernel demands; 1: none. */
  readonly clusterBlocks: number;
}

/** A launch. */
export interface LaunchRequest {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly cluster?: readonly [number, number, number];
  /** Dynamic shared memory. */
  readonly sharedBytes: number;
  /** Whether each thread promises to wait for the grids before it (`griddepcontrol.wait`); absent: no. */
  readonly startsEarly?: boolean | undefined;
  readonly argumentBlock: Uint8Array;
  /** What is checked, and what is done about it; true: the defaults; false: nothing. */
  readonly checks: boolean | CheckLevels;
  readonly profile: boolean;
  /** Warp-instructions that one block (or cluster of blocks) may run. */
  readonly budget: number;
  /** Threads of the host that may run blocks, the calling one included. */
  readonly workers: number;
  /** Takes what checks have found and only warn of, at the end of the launch. */
  readonly warn?: ((warning: FaultFacts) => void) | undefined;
}

/** The emulator that a kernel is in. */
export interface KernelHost extends Host {
  readonly heap: Heap;
  readonly workerPool: WorkerPool;
  /** Numbers launches. */
  number(): number;
}

/** A kernel, and the module that it is in. */
export interface KernelSource {
  readonly text: string;
  readonly module: PtxModule;
  readonly kernel: PtxKernel;
  /** Variables of the module. */
  readonly locations: ReadonlyMap<string, SymbolLocation>;
  readonly constants: readonly Extent[];
}

/** Reserved shared memory begins at multiples of this. */
const RESERVED_ALIGN = 16;

/** A kernel that can be launched. */
export function emulateKernel(host: KernelHost, source: KernelSource): {
  readonly info: KernelInfo;
  launch(request: LaunchRequest): LaunchReport;
  observe(request: LaunchRequest, observer: Observer): ObservedLaunch;
  unload(): void;
} {
  const { heap, machine, workerPool } = host;
  const { module, kernel } = source;
  const variables = kernelVariables(kernel, module);
  const system = new Set<number>();
  const allocate = (bytes: number, align: number): number => {
    const location = heap.allocate(bytes, align, kernel.name, "system");
    system.add(location);
    return location;
  };
  const give = (location: number): void => {
    system.delete(location);
    heap.free(location);
  };
  let parameters: number | undefined;
  const programs = new Map<string, Program>();
  const granules = narrowestAccesses(kernel);
  const usesAsyncProxy = hasAsyncProxy(kernel);
  const slots = new SlotPool(machine, allocate, give);
  const areas: (Area & { readonly key: string })[] = [];
  const area = (worker: number, countBytes: number, slotBytes: number): Area => {
    const key = `${countBytes} ${slotBytes}`;
    const known = areas[worker];
    if (known?.key === key) return known;
    if (known !== undefined) [known.counts, known.slots].forEach(give);
    const made = {
      key,
      counts: allocate(countBytes, 16),
      slots: allocate(slotBytes, SLOT_ALIGN),
    };
    areas[worker] = made;
    return made;
  };
  /** The program for launches that are watched in the same way. */
  const programFor = (
    levels: CheckLevels,
    profile: boolean,
    location: number,
    stepping = false,
  ): Program => {
    const checks = machine.checks = anyCheck(levels);
    machine.profile = profile;
    const unassigned = levels.uninitialized !== "off";
    const key = `${checks} ${unassigned} ${profile} ${stepping}`;
    const known = programs.get(key);
    if (known !== undefined) return known;
    const program = compileKernel({
      machine,
      module,
      kernel,
      symbols: kernelSymbols(variables, source.locations, location),
      unassigned,
      stepping,
      meters: host.meters,
      counts: (blocks) => allocate(16 * blocks, 16),
    });
    programs.set(key, program);
    return program;
  };
  /** Everything before the first block runs. */
  const begin = (request: LaunchRequest, stepping = false): Begun => {
    const { profile, argumentBlock } = request;
    const levels = typeof request.checks === "boolean" ? levelsFor(request.checks) : request.checks;
    checkGrid(request, kernel.name);
    const location = parameters ??= allocate(Math.max(16, variables.parameterBytes), 64);
    const program = programFor(levels, profile, location, stepping);
    machine.views.u8.set(argumentBlock.subarray(0, variables.parameterBytes), location);
    const facts = launchFacts(request, kernel, variables, host.number());
    const access: AccessLaunch = {
      levels,
      allocations: heap.allocations(),
      arguments: pointersOf(variables, argumentBlock),
      constants: source.constants,
      parameters: { name: "arguments", location, bytes: variables.parameterBytes },
      shared: variables.shared,
      local: variables.local,
      granules,
      usesAsyncProxy,
      startsEarly: request.startsEarly === true && levels.starts !== "off",
    };
    beginLaunch(machine, access);
    machine.views.u8.fill(0, program.counts, program.counts + 16 * program.blocks.length);
    const pool = slots.for(program, facts, variables.localBytes);
    return { program, pool, facts, access, location };
  };
  const launch = (request: LaunchRequest): LaunchReport => {
    const { profile, budget, workers } = request;
    const { program, pool, facts, access, location } = begin(request);
    const parallel = workerPool.begin(
      {
        text: source.text,
        kernel: kernel.name,
        locations: source.locations,
        parameters: location,
        blocks: program.blocks.length,
        registerFileBytes: program.layout.bytes,
        localBytes: variables.localBytes,
        launch: facts,
        access,
        profile,
        budget,
      },
      { clusters: clusterCount(facts), workers, area },
    );
    try {
      const counts = runGrid({
        program,
        machine,
        launch: facts,
        budget,
        next: () => parallel.next(),
        acquire: () => pool.acquire(),
        release: (slot) => pool.release(slot),
      });
      const own = reportOf(program, machine, counts, accessOf(machine));
      const all = parallel.finish().reduce(mergeReports, own);
      if (request.warn !== undefined) all.warnings.forEach(request.warn);
      return all;
    } catch (error) {
      slots.reset();
      parallel.abandon();
      for (const warning of accessOf(machine).warnings.values()) request.warn?.(factsOf(warning));
      throw withOrigin(error, machine, kernel.name);
    }
  };
  const watch = (request: LaunchRequest, observer: Observer): ObservedLaunch => {
    const end = observe(machine, observer);
    try {
      const begun = begin(request, true);
      return observedLaunch({
        ...begun,
        ...{ machine, budget: request.budget, kernel: kernel.name, observer },
        shared: variables.shared,
        close: () => {
          end();
          slots.reset();
        },
      });
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    info: infoOf(kernel, variables),
    launch,
    observe: watch,
    unload: () => {
      for (const location of system) heap.free(location);
      system.clear();
    },
  };
}

/** A launch whose memory is ready. */
interface Begun {
  readonly program: Program;
  readonly pool: Slots;
  readonly facts: LaunchFacts;
  readonly access: AccessLaunch;
  /** Where its arguments are. */
  readonly location: number;
}

function infoOf(kernel: PtxKernel, variables: KernelVariables): KernelInfo {
  const limit = kernel.directives.find(({ name }) => name === "maxntid" || name === "reqntid");
  const threads = limit?.values.reduce((product, value) => product * value, 1);
  return {
    name: kernel.name,
    params: variables.params.map(({ name, location, bytes }) => ({
      name,
      offset: location,
      bytes,
    })),
    parameterBytes: variables.parameterBytes,
    sharedBytes: variables.sharedBytes,
    localBytes: variables.localBytes,
    registers: kernel.registers.length,
    maxThreads: threads ?? MOST_THREADS,
    clusterBlocks: clusterOf(kernel)?.[0] ?? 1,
  };
}

function launchFacts(
  { grid, block, cluster, sharedBytes }: LaunchRequest,
  kernel: PtxKernel,
  variables: KernelVariables,
  number: number,
): LaunchFacts {
  const size = cluster ?? clusterOf(kernel);
  const own = variables.sharedBytes + sharedBytes;
  const reserved = Math.ceil(own / RESERVED_ALIGN) * RESERVED_ALIGN;
  const facts: LaunchFacts = {
    grid,
    block,
    cluster: size ?? [1, 1, 1],
    hasCluster: size !== undefined,
    dynamicSharedBytes: sharedBytes,
    ...(variables.usesReserved
      ? { sharedBytes: reserved + RESERVED_BYTES, reserved }
      : { sharedBytes: own }),
    number,
  };
  if (grid.every((blocks, axis) => blocks % (facts.cluster[axis] ?? 1) === 0)) return facts;
  throw new Fault(
    "illegal instruction",
    `${kernel.name}: a grid of ${grid.join("×")} blocks cannot be cut into clusters of ${
      facts.cluster.join("×")
    }`,
  );
}

/** Each block runs an instruction at least, so a grid that has more of them than the budget never ends either. */
function checkGrid({ grid, budget }: LaunchRequest, kernel: string): void {
  const blocks = grid.reduce((product, extent) => product * extent, 1);
  if (blocks <= budget) return;
  throw new Fault(
    "instruction budget",
    `${kernel}: a grid of ${grid.join("×")} blocks, which are more than the budget of ${budget}`,
  );
}

/** The cluster that a kernel demands. */
function clusterOf(kernel: PtxKernel): readonly [number, number, number] | undefined {
  const values = kernel.directives.find(({ name }) => name === "reqnctapercluster")?.values;
  if (values === undefined) return undefined;
  const [x = 1, y = 1, z = 1] = values;
  return [x, y, z];
}

/** Arguments that point to global memory. */
function pointersOf(variables: KernelVariables, block: Uint8Array): PointerArgument[] {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  return variables.params.flatMap(({ name, location, bytes }) => {
    if (bytes !== 8 || location + 8 > block.length) return [];
    if (view.getUint32(location + 4, true) !== WINDOW.global) return [];
    return [{ name, location: view.getUint32(location, true) }];
  });
}
