/**
 * The emulator as a driver. It does what libcuda does wherever a program can see it, with three exceptions: work is
 * done when it is queued, so that nothing runs beside the program; a kernel that fails throws from its launch and the
 * device stays usable; and memory is as large as what was requested.
 */
import type {
  Contents,
  DeviceInfo,
  Driver,
  FunctionInfo,
  LaunchShape,
  PreparedLaunch,
  RecordedGraph,
} from "../../ffi/driver.ts";
import type { HostBytes } from "../../ffi/dtype.ts";
import type { CudaError } from "../../ffi/errors.ts";
import type { EmulatorWarning, LaunchProfile } from "../../ffi/profile.ts";
import { findExtent } from "../check/describe.ts";
import { type TensorMap, tensorMapProblem } from "../../ffi/tensor_map.ts";
import { encodeTensorMap } from "../async/tensor_map.ts";
import { warningKey } from "../check/report.ts";
import type { FaultFacts } from "../fault.ts";
import { type Heap, HeapFullError } from "../heap.ts";
import type { EmulatedKernel, Emulator, LoadedModule } from "../launch.ts";
import { MOST_THREADS } from "../limits.ts";
import { outOfMemory, refusal, warningOf } from "./failure.ts";
import { loadImage, MAX_GRID, prepare, withImageErrors } from "./kernels.ts";
import { addressOf, locationOf, tensorInfo } from "./names.ts";
import { profileOf } from "./profile.ts";
import type { ResolvedSettings } from "./settings.ts";
import { Streams } from "./streams.ts";

const ALIGN = 256;
const NO_SHARING = "the emulator's memory is the memory of one process";
/** What new memory holds: NaN in every floating type, so that who reads it before writing it gets nowhere. */
const POISON = 0xff;
/** There is one device, and a context says no more than that it is open. */
const CONTEXT = 1n;

/** The emulator as a {@linkcode Driver}. */
export class EmulatorDriver implements Driver {
  readonly name = "emulator";
  readonly imageKinds = ["ptx"] as const;
  readonly watchesMemory = true;
  readonly #emulator: Emulator;
  readonly #heap: Heap;
  readonly #settings: ResolvedSettings;
  readonly #streams = new Streams();
  readonly #modules = new Map<bigint, LoadedModule>();
  readonly #functions = new Map<bigint, EmulatedKernel>();
  /** Warnings that have been given already. */
  readonly #warned = new Set<string>();
  readonly #takeWarning: (warning: EmulatorWarning) => void;
  #next = 1n;

  /** Drives an emulator that has no other user. */
  constructor(
    emulator: Emulator,
    settings: ResolvedSettings,
    warn: (warning: EmulatorWarning) => void = writeWarning,
  ) {
    this.#takeWarning = warn;
    this.#emulator = emulator;
    this.#heap = emulator.heap;
    this.#settings = settings;
  }

  deviceCount(): number {
    return 1;
  }

  deviceInfo(ordinal: number): DeviceInfo {
    const { arch, architecture: { sm, sharedBytesPerBlock }, workers } = this.#settings;
    if (ordinal !== 0) throw refusal("CUDA_ERROR_INVALID_DEVICE", "cuDeviceGet");
    return {
      ordinal,
      kind: "emulator",
      name: `tri emulator (${arch})`,
      arch,
      sm,
      multiprocessors: workers,
      memoryBytes: this.#heap.totalBytes,
      maxThreadsPerBlock: MOST_THREADS,
      maxSharedBytes: sharedBytesPerBlock,
      maxGrid: MAX_GRID,
      driverVersion: 0,
    };
  }

  memoryInfo(): { readonly freeBytes: number; readonly totalBytes: number } {
    const { freeBytes, totalBytes } = this.#heap;
    return { freeBytes, totalBytes };
  }

  retainContext(): bigint {
    return CONTEXT;
  }

  releaseContext(): void {}

  makeCurrent(): void {}

  synchronize(): void {
    this.#streams.refuseCaptures("cuCtxSynchronize");
  }

  allocate(bytes: number): bigint {
    try {
      const location = this.#heap.allocate(bytes, ALIGN, "allocation");
      this.#emulator.machine.views.u8.fill(POISON, location, location + bytes);
      return addressOf(location);
    } catch (error) {
      throw error instanceof HeapFullError ? outOfMemory(error, this.#heap, "cuMemAlloc") : error;
    }
  }

  free(address: bigint): void {
    const location = locationOf(address);
    if (location === undefined || !this.#heap.isAllocated(location)) {
      throw refusal("CUDA_ERROR_INVALID_VALUE", "cuMemFree");
    }
    this.#heap.free(location);
  }

  describe(address: bigint, contents: Contents): void {
    const location = locationOf(address);
    if (location !== undefined) this.#heap.describe(location, tensorInfo(contents));
  }

  memoryAt(address: bigint): { readonly address: bigint; readonly bytes: number } | undefined {
    const location = locationOf(address);
    const found = location === undefined ? undefined : this.#heap.liveAt(location);
    return found && { address: addressOf(found.location), bytes: found.bytes };
  }

  exportMemory(): HostBytes {
    throw refusal("CUDA_ERROR_NOT_SUPPORTED", "cuIpcGetMemHandle", NO_SHARING);
  }

  importMemory(): bigint {
    throw refusal("CUDA_ERROR_NOT_SUPPORTED", "cuIpcOpenMemHandle", NO_SHARING);
  }

  closeMemory(): void {
    throw refusal("CUDA_ERROR_NOT_SUPPORTED", "cuIpcCloseMemHandle", NO_SHARING);
  }

  pin(memory: HostBytes, align: number): HostBytes {
    return memory.subarray(0, memory.length - align);
  }

  unpin(): void {}

  copyToDevice(to: bigint, from: HostBytes, stream: bigint): void {
    const call = "cuMemcpyHtoDAsync";
    this.#streams.refuseCapture(stream, call);
    this.#bytes(to, from.length, call).set(from);
  }

  copyToHost(to: HostBytes, from: bigint, stream: bigint): void {
    const call = "cuMemcpyDtoHAsync";
    this.#streams.refuseCapture(stream, call);
    to.set(this.#bytes(from, to.length, call));
  }

  copyOnDevice(to: bigint, from: bigint, bytes: number, stream: bigint): void {
    const call = "cuMemcpyDtoDAsync";
    this.#streams.queue(stream, call, () => {
      this.#bytes(to, bytes, call).set(this.#bytes(from, bytes, call));
    });
  }

  fill(to: bigint, value: number, bytes: number, stream: bigint): void {
    const call = "cuMemsetD8Async";
    this.#streams.queue(stream, call, () => {
      this.#bytes(to, bytes, call).fill(value);
    });
  }

  createStream(): bigint {
    return this.#streams.create();
  }

  destroyStream(stream: bigint): void {
    this.#streams.destroy(stream);
  }

  synchronizeStream(stream: bigint): void {
    this.#streams.refuseCapture(stream, "cuStreamSynchronize");
  }

  isStreamDone(stream: bigint): boolean {
    this.#streams.refuseCapture(stream, "cuStreamQuery");
    return true;
  }

  waitForEvent(stream: bigint, event: bigint): void {
    this.#streams.wait(stream, event);
  }

  createEvent({ timing }: { readonly timing: boolean }): bigint {
    return this.#streams.createEvent(timing);
  }

  destroyEvent(event: bigint): void {
    this.#streams.destroyEvent(event);
  }

  recordEvent(event: bigint, stream: bigint): void {
    this.#streams.record(event, stream);
  }

  synchronizeEvent(event: bigint): void {
    this.#streams.reach(event, "cuEventSynchronize");
  }

  isEventDone(event: bigint): boolean {
    this.#streams.reach(event, "cuEventQuery");
    return true;
  }

  elapsedMilliseconds(start: bigint, end: bigint): number {
    return this.#streams.elapsed(start, end);
  }

  loadModule(image: HostBytes, name: string): bigint {
    this.#modules.set(this.#next, loadImage(this.#emulator, image, name, this.#settings));
    return this.#next++;
  }

  unloadModule(module: bigint): void {
    this.#module(module, "cuModuleUnload").unload();
    this.#modules.delete(module);
  }

  getFunction(module: bigint, name: string): bigint {
    const call = "cuModuleGetFunction";
    const { kernels } = this.#module(module, call);
    const kernel = withImageErrors(this.#emulator, name, () => kernels.get(name));
    if (kernel === undefined) throw refusal("CUDA_ERROR_NOT_FOUND", call, name);
    this.#functions.set(this.#next, kernel);
    return this.#next++;
  }

  findVariable(
    module: bigint,
    name: string,
  ): { readonly address: bigint; readonly bytes: number } | undefined {
    const variable = this.#module(module, "cuModuleGetGlobal").variables.get(name);
    return variable && { address: addressOf(variable.location), bytes: variable.bytes };
  }

  functionInfo(fn: bigint): FunctionInfo {
    const { info } = this.#function(fn, "cuFuncGetAttribute");
    return {
      maxThreadsPerBlock: info.maxThreads,
      maxDynamicSharedBytes: this.#settings.architecture.sharedBytesPerBlock - info.sharedBytes,
      staticSharedBytes: info.sharedBytes,
      registers: info.registers,
      clusterBlocks: info.clusterBlocks,
      localBytes: info.localBytes,
      parameters: info.params.map(({ offset, bytes }) => ({ offset, bytes })),
    };
  }

  prepareLaunch(fn: bigint, shape: LaunchShape, name: string): PreparedLaunch {
    const kernel = this.#function(fn, "cuLaunchKernel");
    const { argumentBlock, run } = prepare(kernel, shape, name, {
      ...this.#settings,
      heap: this.#heap,
      machine: this.#emulator.machine,
      warn: (fault, kernel) => this.#warn(fault, kernel),
    });
    const call = "cuLaunchKernel";
    return {
      argumentBlock,
      launch: (x: number, y: number, z: number, stream: bigint): void => {
        // The caller may change the arguments before a graph is launched.
        const given = this.#streams.isCapturing(stream) ? argumentBlock.slice() : argumentBlock;
        this.#streams.queue(stream, call, () => {
          run([x, y, z], given, false);
        });
      },
      profile: (x: number, y: number, z: number, stream: bigint): LaunchProfile => {
        this.#streams.refuseCapture(stream, call);
        const grid = [x, y, z] as const;
        return profileOf(run(grid, argumentBlock, true), {
          kernel: name,
          grid,
          block: shape.block,
        });
      },
    };
  }

  encodeTensorMap(map: TensorMap): HostBytes | undefined {
    return tensorMapProblem(map) === undefined ? encodeTensorMap(map) : undefined;
  }

  beginCapture(stream: bigint): void {
    this.#streams.beginCapture(stream);
  }

  endCapture(stream: bigint): RecordedGraph {
    return this.#streams.endCapture(stream);
  }

  launchGraph(graph: bigint, stream: bigint): void {
    this.#streams.launchGraph(graph, stream);
  }

  destroyGraph(graph: bigint): void {
    this.#streams.destroyGraph(graph);
  }

  close(): void {
    for (const module of this.#modules.values()) module.unload();
    this.#modules.clear();
    this.#emulator.close();
  }

  /** Passes a warning on, unless it is an old one. */
  #warn(fault: FaultFacts, kernel: string): void {
    const key = `${kernel} ${warningKey(fault)}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#takeWarning(warningOf(fault, kernel));
  }

  /** Device memory as the host sees it; all of it must be one live allocation's, or one variable's. */
  #bytes(address: bigint, length: number, call: string): Uint8Array {
    if (length === 0) return new Uint8Array();
    const location = locationOf(address);
    if (
      location === undefined ||
      !(this.#isAllocated(location, length) || this.#isConstant(location, length))
    ) {
      throw refusal(
        "CUDA_ERROR_INVALID_VALUE",
        call,
        `${length} bytes at 0x${address.toString(16)}`,
      );
    }
    return this.#emulator.machine.views.u8.subarray(location, location + length);
  }

  #isAllocated(location: number, length: number): boolean {
    const found = this.#heap.liveAt(location);
    return found !== undefined && location + length <= found.location + found.bytes;
  }

  /** Kernels reach it by addresses of constant memory only, so it is no allocation. */
  #isConstant(location: number, length: number): boolean {
    return [...this.#modules.values()].some(({ variables }) =>
      findExtent([...variables.values()], location, length) !== undefined
    );
  }

  #module(handle: bigint, call: string): LoadedModule {
    const module = this.#modules.get(handle);
    if (module === undefined) throw invalidHandle(call);
    return module;
  }

  #function(handle: bigint, call: string): EmulatedKernel {
    const kernel = this.#functions.get(handle);
    if (kernel === undefined) throw invalidHandle(call);
    return kernel;
  }
}

/** Writes warnings for which the program has given no function. */
function writeWarning({ message }: EmulatorWarning): void {
  // deno-lint-ignore no-console -- the standard error stream is where unasked warnings belong
  console.warn(`warning: ${message}`);
}

function invalidHandle(call: string): CudaError {
  return refusal("CUDA_ERROR_INVALID_HANDLE", call);
}
