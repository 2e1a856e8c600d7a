/** The driver over libcuda. Numbers and structures are those of cuda.h. */
import type {
  DeviceInfo,
  Driver,
  FunctionInfo,
  LaunchShape,
  ParameterInfo,
  PeerCalls,
  PreparedLaunch,
} from "../driver.ts";
import type { HostBytes } from "../dtype.ts";
import {
  CudaError,
  EMULATOR_REQUEST,
  ImageError,
  NoDeviceError,
  OutOfMemoryError,
} from "../errors.ts";
import {
  FILLS,
  INTERLEAVES,
  PROMOTIONS,
  SWIZZLES,
  TENSOR_MAP_ALIGN,
  TENSOR_MAP_BYTES,
  TENSOR_TYPES,
  type TensorMap,
} from "../tensor_map.ts";
import { checkImage } from "./image.ts";
import {
  type CudaLibrary,
  type CudaSymbols,
  IPC_HANDLE_BYTES,
  IS_IPC_HANDLE_ON_STACK,
} from "./symbols.ts";

const SUCCESS = 0;
const ERROR_INVALID_VALUE = 1;
const ERROR_OUT_OF_MEMORY = 2;
const ERROR_NO_DEVICE = 100;
const ERROR_NOT_FOUND = 500;
const ERROR_NOT_READY = 600;
const ERROR_PEER_ACCESS_ALREADY_ENABLED = 704;
const ERROR_NOT_SUPPORTED = 801;

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

/** CU_FUNC_ATTRIBUTE_… */
const FUNCTION = {
  maxThreadsPerBlock: 0,
  staticShared: 1,
  local: 3,
  registers: 4,
  maxDynamicShared: 8,
  clusterWidth: 11,
  largeClusters: 14,
} as const;

/** The most blocks of a cluster that every GPU with clusters has (CUDA programming guide, "Thread Block Clusters"). */
const PORTABLE_CLUSTER = 8;

/** The only flag that cuIpcOpenMemHandle takes. */
const IPC_LAZY_PEER_ACCESS = 1;
const STREAM_NON_BLOCKING = 1;
const EVENT_DISABLE_TIMING = 2;
/** Other calls of the process stay allowed while a stream is captured. */
const CAPTURE_MODE_RELAXED = 2;

/** CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_ERROR_LOG_BUFFER, its size. */
const JIT_LOG_OPTIONS = [3, 4, 5, 6];
const JIT_LOG_BYTES = 8192;

/** CU_LAUNCH_PARAM_…: keys and end of cuLaunchKernel's `extra`. */
const LAUNCH_PARAM = { end: 0n, pointer: 1n, size: 2n } as const;
/** `extra` (five words) and the size it points to, in front of the arguments. */
const LAUNCH_HEADER_BYTES = 48;

const NAME_BYTES = 256;

/**
 * The context that is current: one for the whole thread, whichever driver set it. Programs with several GPUs have a
 * driver for each.
 */
const thread = { current: 0n };

/** libcuda as a {@linkcode Driver}. */
export class CudaDriver implements Driver {
  readonly name = "libcuda";
  readonly imageKinds = ["cubin", "ptx"] as const;
  readonly watchesMemory = false;
  readonly #library: CudaLibrary;
  readonly #cu: CudaSymbols;
  readonly #version: number;
  // Results come back through these, one call at a time.
  readonly #word = new BigUint64Array(1);
  readonly #word2 = new BigUint64Array(1);
  readonly #int = new Int32Array(1);
  /** Where tensor maps are encoded. */
  #mapRoom: HostBytes | undefined;

  /** Takes over the library; closes it when CUDA cannot start. */
  constructor(library: CudaLibrary) {
    this.#library = library;
    this.#cu = library.symbols;
    thread.current = 0n;
    try {
      this.#start();
      this.#version = this.#readInt("cuDriverGetVersion", this.#cu.cuDriverGetVersion(this.#int));
    } catch (error) {
      library.close();
      throw error;
    }
  }

  #start(): void {
    const status = this.#cu.cuInit(0);
    if (status === ERROR_NO_DEVICE) {
      throw new NoDeviceError(`No CUDA device: ${this.#library.path} is there but sees no GPU`, {
        hint:
          "check `nvidia-smi` and CUDA_VISIBLE_DEVICES; in a container, start it with --gpus all; " +
          `without a GPU, ${EMULATOR_REQUEST}`,
        cause: this.#error(status, "cuInit"),
      });
    }
    this.#check(status, "cuInit");
  }

  deviceCount(): number {
    return this.#readInt("cuDeviceGetCount", this.#cu.cuDeviceGetCount(this.#int));
  }

  deviceInfo(ordinal: number): DeviceInfo {
    const device = this.#device(ordinal);
    const name = new Uint8Array(NAME_BYTES);
    this.#check(this.#cu.cuDeviceGetName(name, NAME_BYTES, device), "cuDeviceGetName");
    const memory = this.#readWord(
      "cuDeviceTotalMem",
      this.#cu.cuDeviceTotalMem_v2(this.#word, device),
    );
    const fact = (key: keyof typeof DEVICE): number =>
      this.#readInt(
        "cuDeviceGetAttribute",
        this.#cu.cuDeviceGetAttribute(this.#int, DEVICE[key], device),
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
    this.#check(this.#cu.cuMemGetInfo_v2(this.#word, this.#word2), "cuMemGetInfo");
    return { freeBytes: Number(this.#word[0]), totalBytes: Number(this.#word2[0]) };
  }

  retainContext(ordinal: number): bigint {
    const device = this.#device(ordinal);
    const status = this.#cu.cuDevicePrimaryCtxRetain(this.#word, device);
    return this.#readWord("cuDevicePrimaryCtxRetain", status);
  }

  releaseContext(ordinal: number): void {
    const device = this.#device(ordinal);
    this.#check(this.#cu.cuDevicePrimaryCtxRelease_v2(device), "cuDevicePrimaryCtxRelease");
    // The context may be gone, and a later one may get its address.
    thread.current = 0n;
  }

  makeCurrent(context: bigint): void {
    if (thread.current === context) return;
    this.#check(this.#cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    thread.current = context;
  }

  synchronize(): void {
    this.#check(this.#cu.cuCtxSynchronize(), "cuCtxSynchronize");
  }

  allocate(bytes: number): bigint {
    const status = this.#cu.cuMemAlloc_v2(this.#word, BigInt(bytes));
    if (status === ERROR_OUT_OF_MEMORY) {
      const cause = this.#error(status, "cuMemAlloc");
      throw new OutOfMemoryError({ requestedBytes: bytes, ...this.memoryInfo() }, cause);
    }
    return this.#readWord("cuMemAlloc", status);
  }

  free(address: bigint): void {
    this.#check(this.#cu.cuMemFree_v2(address), "cuMemFree");
  }

  readonly peers: PeerCalls = {
    canAccess: (ordinal, peer) => {
      const devices = [this.#device(ordinal), this.#device(peer)] as const;
      const status = this.#cu.cuDeviceCanAccessPeer(this.#int, ...devices);
      return this.#readInt("cuDeviceCanAccessPeer", status) !== 0;
    },
    enableAccess: (peer) => {
      // All devices use their primary contexts.
      const context = this.retainContext(peer);
      try {
        const status = this.#cu.cuCtxEnablePeerAccess(context, 0);
        if (status === ERROR_PEER_ACCESS_ALREADY_ENABLED) return;
        this.#check(status, "cuCtxEnablePeerAccess");
      } finally {
        this.#check(
          this.#cu.cuDevicePrimaryCtxRelease_v2(this.#device(peer)),
          "cuDevicePrimaryCtxRelease",
        );
      }
    },
    // Addresses say which devices they are of.
    copy: (to, from, bytes, stream) =>
      this.#check(this.#cu.cuMemcpyAsync(to, from, BigInt(bytes), stream), "cuMemcpyAsync"),
  };

  memoryAt(address: bigint): { readonly address: bigint; readonly bytes: number } | undefined {
    const status = this.#cu.cuMemGetAddressRange_v2(this.#word, this.#word2, address);
    if (status === ERROR_INVALID_VALUE || status === ERROR_NOT_FOUND) return undefined;
    const start = this.#readWord("cuMemGetAddressRange", status);
    return { address: start, bytes: Number(this.#word2[0]) };
  }

  exportMemory(address: bigint): HostBytes {
    const handle = new Uint8Array(IPC_HANDLE_BYTES);
    this.#check(this.#cu.cuIpcGetMemHandle(handle, address), "cuIpcGetMemHandle");
    return handle;
  }

  importMemory(handle: HostBytes): bigint {
    const status = this.#cu.cuIpcOpenMemHandle_v2(this.#word, ...ipcArguments(handle));
    return this.#readWord("cuIpcOpenMemHandle", status);
  }

  closeMemory(address: bigint): void {
    this.#check(this.#cu.cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle");
  }

  pin(memory: HostBytes, align: number): HostBytes {
    const pages = alignedPart(this.#library, memory, align);
    const status = this.#cu.cuMemHostRegister_v2(pages, BigInt(pages.length), 0);
    this.#check(status, "cuMemHostRegister", `${pages.length} bytes`);
    return pages;
  }

  unpin(memory: HostBytes): void {
    this.#check(this.#cu.cuMemHostUnregister(memory), "cuMemHostUnregister");
  }

  copyToDevice(to: bigint, from: HostBytes, stream: bigint): void {
    const bytes = BigInt(from.byteLength);
    this.#check(this.#cu.cuMemcpyHtoDAsync_v2(to, from, bytes, stream), "cuMemcpyHtoDAsync");
  }

  copyToHost(to: HostBytes, from: bigint, stream: bigint): void {
    const bytes = BigInt(to.byteLength);
    this.#check(this.#cu.cuMemcpyDtoHAsync_v2(to, from, bytes, stream), "cuMemcpyDtoHAsync");
  }

  copyOnDevice(to: bigint, from: bigint, bytes: number, stream: bigint): void {
    const status = this.#cu.cuMemcpyDtoDAsync_v2(to, from, BigInt(bytes), stream);
    this.#check(status, "cuMemcpyDtoDAsync");
  }

  fill(to: bigint, value: number, bytes: number, stream: bigint): void {
    this.#check(this.#cu.cuMemsetD8Async(to, value, BigInt(bytes), stream), "cuMemsetD8Async");
  }

  createStream(): bigint {
    return this.#readWord(
      "cuStreamCreate",
      this.#cu.cuStreamCreate(this.#word, STREAM_NON_BLOCKING),
    );
  }

  destroyStream(stream: bigint): void {
    this.#check(this.#cu.cuStreamDestroy_v2(stream), "cuStreamDestroy");
  }

  synchronizeStream(stream: bigint): void {
    this.#check(this.#cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }

  isStreamDone(stream: bigint): boolean {
    return this.#isReady(this.#cu.cuStreamQuery(stream), "cuStreamQuery");
  }

  waitForEvent(stream: bigint, event: bigint): void {
    this.#check(this.#cu.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
  }

  createEvent(options: { readonly timing: boolean }): bigint {
    const flags = options.timing ? 0 : EVENT_DISABLE_TIMING;
    return this.#readWord("cuEventCreate", this.#cu.cuEventCreate(this.#word, flags));
  }

  destroyEvent(event: bigint): void {
    this.#check(this.#cu.cuEventDestroy_v2(event), "cuEventDestroy");
  }

  recordEvent(event: bigint, stream: bigint): void {
    this.#check(this.#cu.cuEventRecord(event, stream), "cuEventRecord");
  }

  synchronizeEvent(event: bigint): void {
    this.#check(this.#cu.cuEventSynchronize(event), "cuEventSynchronize");
  }

  isEventDone(event: bigint): boolean {
    return this.#isReady(this.#cu.cuEventQuery(event), "cuEventQuery");
  }

  elapsedMilliseconds(start: bigint, end: bigint): number {
    const result = new Float32Array(1);
    this.#check(this.#cu.cuEventElapsedTime(result, start, end), "cuEventElapsedTime");
    return result[0] ?? 0;
  }

  loadModule(image: HostBytes, name: string): bigint {
    const checked = checkImage(image, name);
    const info = new Uint8Array(JIT_LOG_BYTES);
    const errors = new Uint8Array(JIT_LOG_BYTES);
    const size = BigInt(JIT_LOG_BYTES);
    const { addressOf } = this.#library;
    const values = new BigUint64Array([addressOf(info), size, addressOf(errors), size]);
    const options = new Int32Array(JIT_LOG_OPTIONS);
    const status = this.#cu.cuModuleLoadDataEx(
      this.#word,
      checked,
      options.length,
      options,
      values,
    );
    if (status === SUCCESS) return this.#word[0] ?? 0n;
    const cause = this.#error(status, "cuModuleLoadDataEx", name);
    const log = [errors, info].map(textOf).filter((text) => text !== "").join("\n");
    const said = log === "" ? "" : `\n${log}`;
    throw new ImageError(name, `${cause.cudaName} (${status}), ${cause.description}${said}`, {
      hint: cause.hint,
      cause,
    });
  }

  unloadModule(module: bigint): void {
    this.#check(this.#cu.cuModuleUnload(module), "cuModuleUnload");
  }

  getFunction(module: bigint, name: string): bigint {
    const status = this.#cu.cuModuleGetFunction(this.#word, module, terminated(name));
    return this.#readWord("cuModuleGetFunction", status, name);
  }

  findVariable(
    module: bigint,
    name: string,
  ): { readonly address: bigint; readonly bytes: number } | undefined {
    const status = this.#cu.cuModuleGetGlobal_v2(
      this.#word,
      this.#word2,
      module,
      terminated(name),
    );
    if (status === ERROR_NOT_FOUND) return undefined;
    const address = this.#readWord("cuModuleGetGlobal", status, name);
    return { address, bytes: Number(this.#word2[0]) };
  }

  functionInfo(fn: bigint): FunctionInfo {
    const fact = (key: keyof typeof FUNCTION): number => this.#functionFact(fn, key);
    return {
      maxThreadsPerBlock: fact("maxThreadsPerBlock"),
      maxDynamicSharedBytes: fact("maxDynamicShared"),
      staticSharedBytes: fact("staticShared"),
      registers: fact("registers"),
      clusterBlocks: this.#clusterBlocks(fn),
      localBytes: fact("local"),
      parameters: this.#parameters(fn),
    };
  }

  /** Drivers before 11.8 do not know clusters, nor load images that have them. */
  #clusterBlocks(fn: bigint): number {
    const status = this.#cu.cuFuncGetAttribute(this.#int, FUNCTION.clusterWidth, fn);
    return status === SUCCESS ? Math.max(1, this.#readInt("cuFuncGetAttribute", status)) : 1;
  }

  #functionFact(fn: bigint, key: keyof typeof FUNCTION): number {
    const status = this.#cu.cuFuncGetAttribute(this.#int, FUNCTION[key], fn);
    return this.#readInt("cuFuncGetAttribute", status);
  }

  #parameters(fn: bigint): readonly ParameterInfo[] | undefined {
    const { cuFuncGetParamInfo } = this.#cu;
    if (cuFuncGetParamInfo === null) return undefined;
    const parameters: ParameterInfo[] = [];
    // The driver does not report how many there are: it refuses the first index past the end.
    while (cuFuncGetParamInfo(fn, BigInt(parameters.length), this.#word, this.#word2) === SUCCESS) {
      parameters.push({ offset: Number(this.#word[0]), bytes: Number(this.#word2[0]) });
    }
    return parameters;
  }

  prepareLaunch(fn: bigint, shape: LaunchShape, name: string): PreparedLaunch {
    const { sharedBytes, parameterBytes, block: [blockX, blockY, blockZ] } = shape;
    if (this.#clusterBlocks(fn) > PORTABLE_CLUSTER) {
      const status = this.#cu.cuFuncSetAttribute(fn, FUNCTION.largeClusters, 1);
      this.#check(status, "cuFuncSetAttribute", `${name}, a cluster of more than 8 blocks`);
    }
    if (sharedBytes > this.#functionFact(fn, "maxDynamicShared")) {
      const status = this.#cu.cuFuncSetAttribute(fn, FUNCTION.maxDynamicShared, sharedBytes);
      this.#check(status, "cuFuncSetAttribute", `${name}, ${sharedBytes} bytes of shared memory`);
    }
    // One buffer, which the argument block keeps alive: `extra`, the size it points to, the arguments.
    const memory = new ArrayBuffer(LAUNCH_HEADER_BYTES + parameterBytes);
    const header = new BigUint64Array(memory, 0, LAUNCH_HEADER_BYTES / 8);
    const extra = this.#library.addressOf(header);
    const [pointer, size] = [extra + BigInt(LAUNCH_HEADER_BYTES), extra + 40n];
    header.set([LAUNCH_PARAM.pointer, pointer, LAUNCH_PARAM.size, size, LAUNCH_PARAM.end]);
    header[5] = BigInt(parameterBytes);
    const argumentBlock = new Uint8Array(memory, LAUNCH_HEADER_BYTES);

    const { cuLaunchKernel } = this.#cu;
    const context = thread.current;
    return {
      argumentBlock,
      launch: (gridX: number, gridY: number, gridZ: number, stream: bigint): void => {
        if (thread.current !== context) this.makeCurrent(context);
        // deno-fmt-ignore
        const status = cuLaunchKernel(
          fn, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, 0n, extra,
        );
        if (status !== SUCCESS) {
          const sizes = `grid ${gridX}×${gridY}×${gridZ}, block ${blockX}×${blockY}×${blockZ}`;
          throw this.#error(status, "cuLaunchKernel", `kernel ${name}, ${sizes}`);
        }
      },
    };
  }

  encodeTensorMap(map: TensorMap): HostBytes | undefined {
    const { cuTensorMapEncodeTiled } = this.#cu;
    if (cuTensorMapEncodeTiled === null) return undefined;
    const room = this.#mapRoom ??= alignedRoom(this.#library);
    const status = cuTensorMapEncodeTiled(
      room,
      TENSOR_TYPES.findIndex(({ name }) => name === map.type),
      map.extents.length,
      map.address,
      BigUint64Array.from(map.extents, BigInt),
      // One longer than needed: runtimes pass an empty array as the null pointer.
      BigUint64Array.from([...map.strides, 0], BigInt),
      Uint32Array.from(map.box),
      Uint32Array.from(map.elementStrides),
      INTERLEAVES.indexOf(map.interleave),
      SWIZZLES.indexOf(map.swizzle),
      PROMOTIONS.indexOf(map.promotion),
      FILLS.indexOf(map.fill),
    );
    if (status === ERROR_INVALID_VALUE || status === ERROR_NOT_SUPPORTED) return undefined;
    this.#check(status, "cuTensorMapEncodeTiled");
    return room.slice();
  }

  beginCapture(stream: bigint): void {
    this.#check(
      this.#cu.cuStreamBeginCapture_v2(stream, CAPTURE_MODE_RELAXED),
      "cuStreamBeginCapture",
    );
  }

  endCapture(stream: bigint): bigint {
    const ended = this.#cu.cuStreamEndCapture(stream, this.#word);
    const recorded = this.#readWord("cuStreamEndCapture", ended);
    const status = this.#cu.cuGraphInstantiateWithFlags(this.#word, recorded, 0n);
    const graph = this.#word[0] ?? 0n;
    this.#check(this.#cu.cuGraphDestroy(recorded), "cuGraphDestroy");
    this.#check(status, "cuGraphInstantiateWithFlags");
    return graph;
  }

  launchGraph(graph: bigint, stream: bigint): void {
    this.#check(this.#cu.cuGraphLaunch(graph, stream), "cuGraphLaunch");
  }

  destroyGraph(graph: bigint): void {
    this.#check(this.#cu.cuGraphExecDestroy(graph), "cuGraphExecDestroy");
  }

  close(): void {
    this.#library.close();
  }

  #device(ordinal: number): number {
    return this.#readInt("cuDeviceGet", this.#cu.cuDeviceGet(this.#int, ordinal));
  }

  #readInt(call: string, status: number): number {
    this.#check(status, call);
    return this.#int[0] ?? 0;
  }

  #readWord(call: string, status: number, about?: string): bigint {
    this.#check(status, call, about);
    return this.#word[0] ?? 0n;
  }

  #isReady(status: number, call: string): boolean {
    if (status === ERROR_NOT_READY) return false;
    this.#check(status, call);
    return true;
  }

  #check(status: number, call: string, about?: string): void {
    if (status !== SUCCESS) throw this.#error(status, call, about);
  }

  #error(code: number, call: string, about?: string): CudaError {
    const { cuGetErrorName, cuGetErrorString } = this.#cu;
    const text = (get: typeof cuGetErrorName): string | undefined => {
      const address = get(code, this.#word) === SUCCESS ? this.#word[0] ?? 0n : 0n;
      return address === 0n ? undefined : this.#library.readText(address);
    };
    const name = text(cuGetErrorName) ?? "CUDA_ERROR_UNKNOWN";
    const description = text(cuGetErrorString) ?? "unknown to this driver";
    return new CudaError({ name, code, description, call, about });
  }
}

/** The arguments after the first of cuIpcOpenMemHandle; see IS_IPC_HANDLE_ON_STACK. */
function ipcArguments(handle: HostBytes): (number | bigint | HostBytes)[] {
  if (!IS_IPC_HANDLE_ON_STACK) return [handle, IPC_LAZY_PEER_ACCESS];
  const words = new BigUint64Array(handle.slice().buffer);
  return [IPC_LAZY_PEER_ACCESS, 0n, 0n, 0n, 0n, ...words];
}

/** Memory for a tensor map on the alignment that libcuda demands. */
function alignedRoom(library: CudaLibrary): HostBytes {
  const room = new Uint8Array(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGN);
  return alignedPart(library, room, TENSOR_MAP_ALIGN);
}

/** All but `align` bytes of some memory, from an aligned address on. */
function alignedPart({ addressOf }: CudaLibrary, memory: HostBytes, align: number): HostBytes {
  const skip = Number(-addressOf(memory) & BigInt(align - 1));
  return memory.subarray(skip, skip + memory.length - align);
}

function textOf(bytes: HostBytes): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}

function terminated(text: string): HostBytes {
  return new TextEncoder().encode(`${text}\0`);
}
