/**
 * A driver in host memory, for tests without a GPU. It records every call, fails on demand, refuses addresses
 * that were never allocated, and runs kernels that tests write in TypeScript.
 */
import type {
  Contents,
  DeviceInfo,
  Driver,
  FunctionInfo,
  LaunchShape,
  ParameterInfo,
  PeerCalls,
  PreparedLaunch,
  RecordedGraph,
} from "../../../ffi/driver.ts";
import type { HostBytes } from "../../../ffi/dtype.ts";
import { CudaError, ImageError, OutOfMemoryError } from "../../../ffi/errors.ts";
import type { TensorMap } from "../../../ffi/tensor_map.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import type { LaunchProfile } from "../../../ffi/profile.ts";

/** The numbers of cuda.h for the errors that tests ask for. */
const CUDA_CODES = {
  CUDA_ERROR_INVALID_VALUE: 1,
  CUDA_ERROR_OUT_OF_MEMORY: 2,
  CUDA_ERROR_INVALID_IMAGE: 200,
  CUDA_ERROR_NO_BINARY_FOR_GPU: 209,
  CUDA_ERROR_INVALID_PTX: 218,
  CUDA_ERROR_NOT_FOUND: 500,
  CUDA_ERROR_ILLEGAL_ADDRESS: 700,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: 900,
} as const;
export type CudaCode = keyof typeof CUDA_CODES;

/** A method of the driver, or the launch of what `prepareLaunch` returned. */
export type CallName = keyof Driver | keyof PeerCalls | "launch";

/** One recorded call and its arguments. */
export interface DriverCall {
  readonly name: CallName;
  readonly args: readonly unknown[];
}

/** One recorded launch. */
export interface FakeLaunch {
  readonly kernel: string;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly shape: LaunchShape;
  readonly stream: bigint;
  /** The argument block as it was at the launch. */
  readonly args: DataView<ArrayBuffer>;
}

/** What a kernel does; `memory` is the driver's. */
export type FakeKernel = (launch: FakeLaunch, memory: FakeDriver) => void;

export interface FakeOptions {
  /** One entry per device; what is not given is as on an H200. */
  readonly devices?: readonly Partial<DeviceInfo>[];
  /** Kernels by entry name. When given, no others exist; when not, every name exists and does nothing. */
  readonly kernels?: Readonly<Record<string, FakeKernel>>;
  /** Parameter offsets that the driver reports, by entry name. */
  readonly parameters?: Readonly<Record<string, readonly ParameterInfo[]>>;
  /** Bytes of each module's variables, by name. */
  readonly variables?: Readonly<Record<string, number>>;
  /** All when not given. */
  readonly imageKinds?: Driver["imageKinds"];
  /** False when not given. */
  readonly watchesMemory?: boolean;
  /** What launches that are to be profiled return; without it the driver cannot profile. */
  readonly profile?: LaunchProfile;
  /** Whether kernels of one device can access memory of another one; true when not given. */
  readonly hasPeerAccess?: boolean;
  /** How often an event answers "not yet" after it was recorded. */
  readonly busyPolls?: number;
  /** Milliseconds on the device, which kernels may advance; without it times mean nothing. */
  readonly clock?: () => number;
}

export class FakeDriver implements Driver {
  readonly name = "fake";
  readonly imageKinds: Driver["imageKinds"];
  readonly watchesMemory: boolean;
  readonly calls: DriverCall[] = [];
  readonly launches: FakeLaunch[] = [];
  /** Images by the name they were loaded under. */
  readonly loaded = new Map<string, HostBytes>();
  /** What allocations hold, by address. */
  readonly described = new Map<bigint, Contents>();
  readonly #options: FakeOptions;
  readonly #devices: readonly DeviceInfo[];
  readonly #memory = new Map<bigint, HostBytes>();
  readonly #functions = new Map<bigint, string>();
  readonly #variables = new Map<string, bigint>();
  readonly #failures = new Map<CallName, CudaCode>();
  readonly #contexts = new Map<number, number>();
  readonly #polls = new Map<bigint, number>();
  readonly #recordedAt = new Map<bigint, number>();
  readonly #captures = new Map<bigint, (() => void)[]>();
  readonly #graphs = new Map<bigint, readonly (() => void)[]>();
  #next = 0x1000n;
  #nextAddress = 0x7f00_0000_0000n;
  #current = 0n;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.imageKinds = options.imageKinds ?? ["cubin", "ptx"];
    this.watchesMemory = options.watchesMemory ?? false;
    this.#devices = (options.devices ?? [{}]).map((device, ordinal) => ({
      ...H200,
      ordinal,
      ...device,
    }));
  }

  /** Lets the next call of a method fail. */
  fail(name: CallName, code: CudaCode): void {
    this.#failures.set(name, code);
  }

  /** The names of the recorded calls, without queries and switches of context. */
  names(): string[] {
    return this.calls.map(({ name }) => name).filter((name) => !QUIET.has(name));
  }

  /** The memory at an address; throws when any of it was not allocated. */
  bytes(address: bigint, length: number): HostBytes {
    for (const [base, memory] of this.#memory) {
      const offset = Number(address - base);
      if (offset >= 0 && offset + length <= memory.length) {
        return memory.subarray(offset, offset + length);
      }
    }
    throw this.#error("CUDA_ERROR_ILLEGAL_ADDRESS", `access of ${length} bytes at ${address}`);
  }

  /** Sum of all memory that is allocated at present. */
  get allocatedBytes(): number {
    return [...this.#memory.values()].reduce((sum, memory) => sum + memory.length, 0);
  }

  /** How many retains of the device's context have had no release. */
  retained(ordinal = 0): number {
    return this.#contexts.get(ordinal) ?? 0;
  }

  deviceCount(): number {
    this.#record("deviceCount");
    return this.#devices.length;
  }

  deviceInfo(ordinal: number): DeviceInfo {
    this.#record("deviceInfo", ordinal);
    const info = this.#devices[ordinal];
    if (info === undefined) throw this.#error("CUDA_ERROR_INVALID_VALUE", "cuDeviceGet");
    return info;
  }

  memoryInfo(): { readonly freeBytes: number; readonly totalBytes: number } {
    this.#enter("memoryInfo");
    const totalBytes = H200.memoryBytes;
    return { freeBytes: totalBytes - this.allocatedBytes, totalBytes };
  }

  retainContext(ordinal: number): bigint {
    this.#record("retainContext", ordinal);
    this.#contexts.set(ordinal, this.retained(ordinal) + 1);
    return BigInt(ordinal + 1);
  }

  releaseContext(ordinal: number): void {
    this.#record("releaseContext", ordinal);
    this.#contexts.set(ordinal, this.retained(ordinal) - 1);
  }

  makeCurrent(context: bigint): void {
    this.#record("makeCurrent", context);
    this.#current = context;
  }

  synchronize(): void {
    this.#enter("synchronize");
  }

  allocate(bytes: number): bigint {
    this.#enter("allocate", bytes);
    const address = this.#nextAddress;
    // Garbage, as on a device, and a gap that nothing may touch.
    this.#memory.set(address, new Uint8Array(bytes).fill(0xa5));
    this.#nextAddress += BigInt(Math.ceil(bytes / 512) * 512 + 4096);
    return address;
  }

  free(address: bigint): void {
    this.#enter("free", address);
    if (!this.#memory.delete(address)) throw this.#error("CUDA_ERROR_INVALID_VALUE", "cuMemFree");
  }

  describe(address: bigint, contents: Contents): void {
    this.described.set(address, contents);
  }

  memoryAt(address: bigint): { readonly address: bigint; readonly bytes: number } | undefined {
    this.#record("memoryAt", address);
    for (const [base, { length }] of this.#memory) {
      if (address >= base && address < base + BigInt(length)) {
        return { address: base, bytes: length };
      }
    }
    return undefined;
  }

  readonly peers: PeerCalls = {
    canAccess: (ordinal, peer) => {
      this.#record("canAccess", ordinal, peer);
      return this.#options.hasPeerAccess ?? true;
    },
    enableAccess: (peer) => this.#enter("enableAccess", peer),
    copy: (to, from, bytes, stream) => {
      this.#enter("copy", to, from, bytes, stream);
      this.bytes(to, bytes).set(this.bytes(from, bytes));
    },
  };

  /** A handle is the address, as if the other process were this one. */
  exportMemory(address: bigint): HostBytes {
    this.#enter("exportMemory", address);
    return new Uint8Array(new BigUint64Array([address, 0n, 0n, 0n, 0n, 0n, 0n, 0n]).buffer);
  }

  importMemory(handle: HostBytes): bigint {
    this.#enter("importMemory", handle);
    return new BigUint64Array(handle.slice().buffer)[0] ?? 0n;
  }

  closeMemory(address: bigint): void {
    this.#enter("closeMemory", address);
  }

  pin(memory: HostBytes, align: number): HostBytes {
    this.#enter("pin", memory.length, align);
    return memory.subarray(0, memory.length - align);
  }

  unpin(memory: HostBytes): void {
    this.#enter("unpin", memory.length);
  }

  copyToDevice(to: bigint, from: HostBytes, stream: bigint): void {
    this.#enter("copyToDevice", to, from.length, stream);
    this.#refuseCapture(stream);
    this.bytes(to, from.length).set(from);
  }

  copyToHost(to: HostBytes, from: bigint, stream: bigint): void {
    this.#enter("copyToHost", to.length, from, stream);
    this.#refuseCapture(stream);
    to.set(this.bytes(from, to.length));
  }

  copyOnDevice(to: bigint, from: bigint, bytes: number, stream: bigint): void {
    this.#enter("copyOnDevice", to, from, bytes, stream);
    this.#do(stream, () => this.bytes(to, bytes).set(this.bytes(from, bytes)));
  }

  fill(to: bigint, value: number, bytes: number, stream: bigint): void {
    this.#enter("fill", to, value, bytes, stream);
    this.#do(stream, () => this.bytes(to, bytes).fill(value));
  }

  createStream(): bigint {
    this.#enter("createStream");
    return this.#next++;
  }

  destroyStream(stream: bigint): void {
    this.#enter("destroyStream", stream);
  }

  synchronizeStream(stream: bigint): void {
    this.#enter("synchronizeStream", stream);
    this.#refuseCapture(stream);
  }

  isStreamDone(stream: bigint): boolean {
    this.#enter("isStreamDone", stream);
    return true;
  }

  waitForEvent(stream: bigint, event: bigint): void {
    this.#enter("waitForEvent", stream, event);
  }

  createEvent(options: { readonly timing: boolean }): bigint {
    this.#enter("createEvent", options);
    return this.#next++;
  }

  destroyEvent(event: bigint): void {
    this.#enter("destroyEvent", event);
  }

  recordEvent(event: bigint, stream: bigint): void {
    this.#enter("recordEvent", event, stream);
    this.#polls.set(event, this.#options.busyPolls ?? 0);
    this.#recordedAt.set(event, this.#options.clock?.() ?? Number(event));
  }

  synchronizeEvent(event: bigint): void {
    this.#enter("synchronizeEvent", event);
  }

  isEventDone(event: bigint): boolean {
    this.#enter("isEventDone", event);
    const left = this.#polls.get(event) ?? 0;
    this.#polls.set(event, left - 1);
    return left <= 0;
  }

  elapsedMilliseconds(start: bigint, end: bigint): number {
    this.#enter("elapsedMilliseconds", start, end);
    return (this.#recordedAt.get(end) ?? NaN) - (this.#recordedAt.get(start) ?? NaN);
  }

  loadModule(image: HostBytes, name: string): bigint {
    this.#enter("loadModule", name);
    this.loaded.set(name, image);
    return this.#next++;
  }

  unloadModule(module: bigint): void {
    this.#enter("unloadModule", module);
  }

  getFunction(module: bigint, name: string): bigint {
    this.#enter("getFunction", module, name);
    const { kernels } = this.#options;
    if (kernels !== undefined && !Object.hasOwn(kernels, name)) {
      throw this.#error("CUDA_ERROR_NOT_FOUND", "cuModuleGetFunction");
    }
    this.#functions.set(this.#next, name);
    return this.#next++;
  }

  findVariable(
    module: bigint,
    name: string,
  ): { readonly address: bigint; readonly bytes: number } | undefined {
    this.#enter("findVariable", module, name);
    const bytes = this.#options.variables?.[name];
    if (bytes === undefined) return undefined;
    const key = `${module} ${name}`;
    const address = this.#variables.get(key) ?? this.allocate(bytes);
    this.#variables.set(key, address);
    return { address, bytes };
  }

  functionInfo(fn: bigint): FunctionInfo {
    this.#enter("functionInfo", fn);
    return {
      maxThreadsPerBlock: 1024,
      maxDynamicSharedBytes: 48 * 1024,
      clusterBlocks: 1,
      staticSharedBytes: 0,
      registers: 32,
      localBytes: 0,
      parameters: this.#options.parameters?.[this.#functions.get(fn) ?? ""],
    };
  }

  prepareLaunch(fn: bigint, shape: LaunchShape, name: string): PreparedLaunch {
    this.#enter("prepareLaunch", fn, shape, name);
    const context = this.#current;
    const argumentBlock = new Uint8Array(shape.parameterBytes);
    const launch = (x: number, y: number, z: number, stream: bigint): void => {
      this.#current = context;
      this.#enter("launch", name, [x, y, z], stream);
      const args = new DataView(argumentBlock.slice().buffer);
      const launch: FakeLaunch = { kernel: name, grid: [x, y, z], shape, stream, args };
      this.#do(stream, () => {
        this.launches.push(launch);
        this.#options.kernels?.[this.#functions.get(fn) ?? ""]?.(launch, this);
      });
    };
    const { profile } = this.#options;
    if (profile === undefined) return { argumentBlock, launch };
    return {
      argumentBlock,
      launch,
      profile: (x: number, y: number, z: number, stream: bigint): LaunchProfile => {
        launch(x, y, z, stream);
        return profile;
      },
    };
  }

  encodeTensorMap(map: TensorMap): HostBytes | undefined {
    this.#enter("encodeTensorMap", map);
    return encodeTensorMap(map);
  }

  beginCapture(stream: bigint): void {
    this.#enter("beginCapture", stream);
    this.#captures.set(stream, []);
  }

  endCapture(stream: bigint): RecordedGraph {
    this.#enter("endCapture", stream);
    const work = this.#captures.get(stream) ?? [];
    this.#graphs.set(this.#next, work);
    this.#captures.delete(stream);
    return { handle: this.#next++, nodes: work.length };
  }

  launchGraph(graph: bigint, stream: bigint): void {
    this.#enter("launchGraph", graph, stream);
    for (const work of this.#graphs.get(graph) ?? []) work();
  }

  destroyGraph(graph: bigint): void {
    this.#enter("destroyGraph", graph);
    this.#graphs.delete(graph);
  }

  close(): void {
    this.#record("close");
  }

  /** Does stream work now, or records it. */
  #do(stream: bigint, work: () => void): void {
    const capture = this.#captures.get(stream);
    if (capture === undefined) work();
    else capture.push(work);
  }

  #refuseCapture(stream: bigint): void {
    if (this.#captures.has(stream)) {
      throw this.#error("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "copy");
    }
  }

  #record(name: CallName, ...args: unknown[]): void {
    this.calls.push({ name, args });
    const code = this.#failures.get(name);
    if (code === undefined) return;
    this.#failures.delete(name);
    const cause = this.#error(code, name);
    if (name === "allocate") {
      throw new OutOfMemoryError(
        { requestedBytes: Number(args[0]), freeBytes: 0, totalBytes: 0 },
        cause,
      );
    }
    throw name === "loadModule" ? new ImageError(`${args[0]}`, code, { cause }) : cause;
  }

  #enter(name: CallName, ...args: unknown[]): void {
    this.#record(name, ...args);
    if (this.#current === 0n) throw new Error(`${name} without a current context`);
  }

  #error(name: CudaCode, call: string): CudaError {
    return new CudaError({
      name,
      code: CUDA_CODES[name],
      description: "the fake driver says so",
      call,
    });
  }
}

const H200: DeviceInfo = {
  ordinal: 0,
  kind: "gpu",
  name: "Fake GPU",
  arch: "sm_90",
  sm: 90,
  multiprocessors: 132,
  memoryBytes: 141 * 2 ** 30,
  maxThreadsPerBlock: 1024,
  maxSharedBytes: 227 * 1024,
  maxGrid: [2 ** 31 - 1, 65535, 65535],
  driverVersion: 13000,
};

const QUIET: ReadonlySet<string> = new Set([
  "makeCurrent",
  "deviceCount",
  "deviceInfo",
  "memoryInfo",
]);
