/** The driver over libcuda. Numbers and structures are those of cuda.h. */
import type {
  DeviceInfo,
  Driver,
  FunctionInfo,
  LaunchShape,
  PeerCalls,
  PreparedLaunch,
  RecordedGraph,
} from "../driver.ts";
import type { HostBytes } from "../dtype.ts";
import { EMULATOR_REQUEST, NoDeviceError, OutOfMemoryError } from "../errors.ts";
import type { TensorMap } from "../tensor_map.ts";
import { CudaCalls, STATUS, terminated, textOf } from "./calls.ts";
import { forgetContext, makeCurrent } from "./contexts.ts";
import { functionInfo, loadModule } from "./functions.ts";
import { prepareLaunch } from "./launches.ts";
import {
  type CudaLibrary,
  type CudaSymbols,
  IPC_HANDLE_BYTES,
  IS_IPC_HANDLE_ON_STACK,
} from "./symbols.ts";
import { TensorMapEncoder } from "./tensor_maps.ts";

/** CU_DEVICE_ATTRIBUTE_… */
const DEVICE = {
  maxThreadsPerBlock: 1,
  maxGridX: 5,
  maxGridY: 6,
  maxGridZ: 7,
  multiprocessors: 16,
  capabilityMajor: 75,
  capabilityMinor: 76,
  maxSharedOptIn: 97,
} as const;

/** The only flag that cuIpcOpenMemHandle takes. */
const IPC_LAZY_PEER_ACCESS = 1;
const STREAM_NON_BLOCKING = 1;
const EVENT_DISABLE_TIMING = 2;
/** Other calls of the process stay allowed while a stream is captured. */
const CAPTURE_MODE_RELAXED = 2;

const NAME_BYTES = 256;

/** libcuda as a {@linkcode Driver}. */
export class CudaDriver implements Driver {
  readonly name = "libcuda";
  readonly imageKinds = ["cubin", "ptx"] as const;
  readonly watchesMemory = false;
  readonly #calls: CudaCalls;
  readonly #cu: CudaSymbols;
  readonly #version: number;
  readonly #maps: TensorMapEncoder;

  /** Takes over the library; closes it when CUDA cannot start. */
  constructor(library: CudaLibrary) {
    this.#calls = new CudaCalls(library);
    this.#cu = library.symbols;
    this.#maps = new TensorMapEncoder(this.#calls);
    forgetContext();
    try {
      this.#start();
      this.#version = this.#calls.readInt(
        "cuDriverGetVersion",
        this.#cu.cuDriverGetVersion(this.#calls.int),
      );
    } catch (error) {
      library.close();
      throw error;
    }
  }

  #start(): void {
    const status = this.#cu.cuInit(0);
    if (status === STATUS.noDevice) {
      throw new NoDeviceError(
        `No CUDA device: ${this.#calls.library.path} is there but sees no GPU`,
        {
          hint:
            "check `nvidia-smi` and CUDA_VISIBLE_DEVICES; in a container, start it with --gpus all; " +
            `without a GPU, ${EMULATOR_REQUEST}`,
          cause: this.#calls.error(status, "cuInit"),
        },
      );
    }
    this.#calls.check(status, "cuInit");
  }

  deviceCount(): number {
    return this.#calls.readInt("cuDeviceGetCount", this.#cu.cuDeviceGetCount(this.#calls.int));
  }

  deviceInfo(ordinal: number): DeviceInfo {
    const device = this.#calls.device(ordinal);
    const name = new Uint8Array(NAME_BYTES);
    this.#calls.check(this.#cu.cuDeviceGetName(name, NAME_BYTES, device), "cuDeviceGetName");
    const memory = this.#calls.readWord(
      "cuDeviceTotalMem",
      this.#cu.cuDeviceTotalMem_v2(this.#calls.word, device),
    );
    const fact = (key: keyof typeof DEVICE): number =>
      this.#calls.readInt(
        "cuDeviceGetAttribute",
        this.#cu.cuDeviceGetAttribute(this.#calls.int, DEVICE[key], device),
      );
    const sm = fact("capabilityMajor") * 10 + fact("capabilityMinor");
    return {
      ordinal,
      kind: "gpu",
      name: textOf(name),
      arch: `sm_${sm}`,
      sm,
      multiprocessors: fact("multiprocessors"),
      memoryBytes: Number(memory),
      maxThreadsPerBlock: fact("maxThreadsPerBlock"),
      maxSharedBytes: fact("maxSharedOptIn"),
      maxGrid: [fact("maxGridX"), fact("maxGridY"), fact("maxGridZ")],
      driverVersion: this.#version,
    };
  }

  memoryInfo(): { readonly freeBytes: number; readonly totalBytes: number } {
    this.#calls.check(
      this.#cu.cuMemGetInfo_v2(this.#calls.word, this.#calls.word2),
      "cuMemGetInfo",
    );
    return { freeBytes: Number(this.#calls.word[0]), totalBytes: Number(this.#calls.word2[0]) };
  }

  retainContext(ordinal: number): bigint {
    const device = this.#calls.device(ordinal);
    const status = this.#cu.cuDevicePrimaryCtxRetain(this.#calls.word, device);
    return this.#calls.readWord("cuDevicePrimaryCtxRetain", status);
  }

  releaseContext(ordinal: number): void {
    const device = this.#calls.device(ordinal);
    this.#calls.check(this.#cu.cuDevicePrimaryCtxRelease_v2(device), "cuDevicePrimaryCtxRelease");
    // The context may be gone, and a later one may get its address.
    forgetContext();
  }

  makeCurrent(context: bigint): void {
    makeCurrent(this.#calls, context);
  }

  synchronize(): void {
    this.#calls.check(this.#cu.cuCtxSynchronize(), "cuCtxSynchronize");
  }

  allocate(bytes: number): bigint {
    const status = this.#cu.cuMemAlloc_v2(this.#calls.word, BigInt(bytes));
    if (status === STATUS.outOfMemory) {
      const cause = this.#calls.error(status, "cuMemAlloc");
      throw new OutOfMemoryError({ requestedBytes: bytes, ...this.memoryInfo() }, cause);
    }
    return this.#calls.readWord("cuMemAlloc", status);
  }

  free(address: bigint): void {
    this.#calls.check(this.#cu.cuMemFree_v2(address), "cuMemFree");
  }

  readonly peers: PeerCalls = {
    canAccess: (ordinal, peer) => {
      const devices = [this.#calls.device(ordinal), this.#calls.device(peer)] as const;
      const status = this.#cu.cuDeviceCanAccessPeer(this.#calls.int, ...devices);
      return this.#calls.readInt("cuDeviceCanAccessPeer", status) !== 0;
    },
    enableAccess: (peer) => {
      // All devices use their primary contexts.
      const context = this.retainContext(peer);
      try {
        const status = this.#cu.cuCtxEnablePeerAccess(context, 0);
        if (status === STATUS.peerAccessAlreadyEnabled) return;
        this.#calls.check(status, "cuCtxEnablePeerAccess");
      } finally {
        this.#calls.check(
          this.#cu.cuDevicePrimaryCtxRelease_v2(this.#calls.device(peer)),
          "cuDevicePrimaryCtxRelease",
        );
      }
    },
    // Addresses say which devices they are of.
    copy: (to, from, bytes, stream) =>
      this.#calls.check(this.#cu.cuMemcpyAsync(to, from, BigInt(bytes), stream), "cuMemcpyAsync"),
  };

  memoryAt(address: bigint): { readonly address: bigint; readonly bytes: number } | undefined {
    const status = this.#cu.cuMemGetAddressRange_v2(this.#calls.word, this.#calls.word2, address);
    if (status === STATUS.invalidValue || status === STATUS.notFound) return undefined;
    const start = this.#calls.readWord("cuMemGetAddressRange", status);
    return { address: start, bytes: Number(this.#calls.word2[0]) };
  }

  exportMemory(address: bigint): HostBytes {
    const handle = new Uint8Array(IPC_HANDLE_BYTES);
    this.#calls.check(this.#cu.cuIpcGetMemHandle(handle, address), "cuIpcGetMemHandle");
    return handle;
  }

  importMemory(handle: HostBytes): bigint {
    const status = this.#cu.cuIpcOpenMemHandle_v2(this.#calls.word, ...ipcArguments(handle));
    return this.#calls.readWord("cuIpcOpenMemHandle", status);
  }

  closeMemory(address: bigint): void {
    this.#calls.check(this.#cu.cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle");
  }

  pin(memory: HostBytes, align: number): HostBytes {
    const pages = this.#calls.alignedPart(memory, align);
    const status = this.#cu.cuMemHostRegister_v2(pages, BigInt(pages.length), 0);
    this.#calls.check(status, "cuMemHostRegister", `${pages.length} bytes`);
    return pages;
  }

  unpin(memory: HostBytes): void {
    this.#calls.check(this.#cu.cuMemHostUnregister(memory), "cuMemHostUnregister");
  }

  copyToDevice(to: bigint, from: HostBytes, stream: bigint): void {
    const bytes = BigInt(from.byteLength);
    this.#calls.check(this.#cu.cuMemcpyHtoDAsync_v2(to, from, bytes, stream), "cuMemcpyHtoDAsync");
  }

  copyToHost(to: HostBytes, from: bigint, stream: bigint): void {
    const bytes = BigInt(to.byteLength);
    this.#calls.check(this.#cu.cuMemcpyDtoHAsync_v2(to, from, bytes, stream), "cuMemcpyDtoHAsync");
  }

  copyOnDevice(to: bigint, from: bigint, bytes: number, stream: bigint): void {
    const status = this.#cu.cuMemcpyDtoDAsync_v2(to, from, BigInt(bytes), stream);
    this.#calls.check(status, "cuMemcpyDtoDAsync");
  }

  fill(to: bigint, value: number, bytes: number, stream: bigint): void {
    this.#calls.check(
      this.#cu.cuMemsetD8Async(to, value, BigInt(bytes), stream),
      "cuMemsetD8Async",
    );
  }

  createStream(): bigint {
    return this.#calls.readWord(
      "cuStreamCreate",
      this.#cu.cuStreamCreate(this.#calls.word, STREAM_NON_BLOCKING),
    );
  }

  destroyStream(stream: bigint): void {
    this.#calls.check(this.#cu.cuStreamDestroy_v2(stream), "cuStreamDestroy");
  }

  synchronizeStream(stream: bigint): void {
    this.#calls.check(this.#cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }

  isStreamDone(stream: bigint): boolean {
    return this.#calls.isReady(this.#cu.cuStreamQuery(stream), "cuStreamQuery");
  }

  waitForEvent(stream: bigint, event: bigint): void {
    this.#calls.check(this.#cu.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
  }

  createEvent(options: { readonly timing: boolean }): bigint {
    const flags = options.timing ? 0 : EVENT_DISABLE_TIMING;
    return this.#calls.readWord("cuEventCreate", this.#cu.cuEventCreate(this.#calls.word, flags));
  }

  destroyEvent(event: bigint): void {
    this.#calls.check(this.#cu.cuEventDestroy_v2(event), "cuEventDestroy");
  }

  recordEvent(event: bigint, stream: bigint): void {
    this.#calls.check(this.#cu.cuEventRecord(event, stream), "cuEventRecord");
  }

  synchronizeEvent(event: bigint): void {
    this.#calls.check(this.#cu.cuEventSynchronize(event), "cuEventSynchronize");
  }

  isEventDone(event: bigint): boolean {
    return this.#calls.isReady(this.#cu.cuEventQuery(event), "cuEventQuery");
  }

  elapsedMilliseconds(start: bigint, end: bigint): number {
    const result = new Float32Array(1);
    this.#calls.check(this.#cu.cuEventElapsedTime(result, start, end), "cuEventElapsedTime");
    return result[0] ?? 0;
  }

  loadModule(image: HostBytes, name: string): bigint {
    return loadModule(this.#calls, image, name);
  }

  unloadModule(module: bigint): void {
    this.#calls.check(this.#cu.cuModuleUnload(module), "cuModuleUnload");
  }

  getFunction(module: bigint, name: string): bigint {
    const status = this.#cu.cuModuleGetFunction(this.#calls.word, module, terminated(name));
    return this.#calls.readWord("cuModuleGetFunction", status, name);
  }

  findVariable(
    module: bigint,
    name: string,
  ): { readonly address: bigint; readonly bytes: number } | undefined {
    const status = this.#cu.cuModuleGetGlobal_v2(
      this.#calls.word,
      this.#calls.word2,
      module,
      terminated(name),
    );
    if (status === STATUS.notFound) return undefined;
    const address = this.#calls.readWord("cuModuleGetGlobal", status, name);
    return { address, bytes: Number(this.#calls.word2[0]) };
  }

  functionInfo(fn: bigint): FunctionInfo {
    return functionInfo(this.#calls, fn);
  }

  prepareLaunch(fn: bigint, shape: LaunchShape, name: string): PreparedLaunch {
    return prepareLaunch(this.#calls, fn, shape, name, this.#version);
  }

  encodeTensorMap(map: TensorMap): HostBytes | undefined {
    return this.#maps.encode(map);
  }

  beginCapture(stream: bigint): void {
    this.#calls.check(
      this.#cu.cuStreamBeginCapture_v2(stream, CAPTURE_MODE_RELAXED),
      "cuStreamBeginCapture",
    );
  }

  endCapture(stream: bigint): RecordedGraph {
    const ended = this.#cu.cuStreamEndCapture(stream, this.#calls.word);
    const recorded = this.#calls.readWord("cuStreamEndCapture", ended);
    const counted = this.#cu.cuGraphGetNodes(recorded, 0n, this.#calls.word);
    const nodes = Number(this.#calls.word[0] ?? 0n);
    const status = this.#cu.cuGraphInstantiateWithFlags(this.#calls.word, recorded, 0n);
    const handle = this.#calls.word[0] ?? 0n;
    this.#calls.check(this.#cu.cuGraphDestroy(recorded), "cuGraphDestroy");
    this.#calls.check(counted, "cuGraphGetNodes");
    this.#calls.check(status, "cuGraphInstantiateWithFlags");
    return { handle, nodes };
  }

  launchGraph(graph: bigint, stream: bigint): void {
    this.#calls.check(this.#cu.cuGraphLaunch(graph, stream), "cuGraphLaunch");
  }

  destroyGraph(graph: bigint): void {
    this.#calls.check(this.#cu.cuGraphExecDestroy(graph), "cuGraphExecDestroy");
  }

  close(): void {
    this.#calls.library.close();
  }
}

/** The arguments after the first of cuIpcOpenMemHandle; see IS_IPC_HANDLE_ON_STACK. */
function ipcArguments(handle: HostBytes): (number | bigint | HostBytes)[] {
  if (!IS_IPC_HANDLE_ON_STACK) return [handle, IPC_LAZY_PEER_ACCESS];
  const words = new BigUint64Array(handle.slice().buffer);
  return [IPC_LAZY_PEER_ACCESS, 0n, 0n, 0n, 0n, ...words];
}
