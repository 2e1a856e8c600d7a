/**
 * What the run time needs of a driver. libcuda is one (`cuda/driver.ts`); tests have a fake one, and the
 * emulator implements the same interface. Handles and addresses are 64-bit integers that only the driver interprets;
 * 0n is never a handle, except as a stream, where it is the legacy default stream.
 *
 * All calls but `deviceCount`, `deviceInfo` and the context calls act on the current context. Copies, fills
 * and launches are ordered by their stream and may return before they are done; host memory given to a copy
 * must stay untouched until the stream has been waited for. Failures throw the errors of `errors.ts`.
 */
import type { DType, HostBytes } from "./dtype.ts";
import type { LaunchProfile } from "./profile.ts";
import type { TensorMap } from "./tensor_map.ts";

/** Facts about one device. */
export interface DeviceInfo {
  /** From 0 to the number of devices. */
  readonly ordinal: number;
  /** Whether kernels run on a GPU, or on the processor as a GPU would run them. */
  readonly kind: "gpu" | "emulator";
  /** The product name. */
  readonly name: string;
  /** Such as "sm_90": the architecture without its "a" or "f" suffix. */
  readonly arch: string;
  /** Ten times the major plus the minor compute capability: 90 for sm_90. */
  readonly sm: number;
  /** How many multiprocessors it has. */
  readonly multiprocessors: number;
  /** All of its memory. */
  readonly memoryBytes: number;
  /** The largest product of a block's sizes. */
  readonly maxThreadsPerBlock: number;
  /** Shared memory that one block can ask for, dynamic and static together. */
  readonly maxSharedBytes: number;
  /** The largest grid along each axis. */
  readonly maxGrid: readonly [x: number, y: number, z: number];
  /** CUDA version of the driver as it counts: 1000 × major + 10 × minor, 13000 for 13.0; 0 without one. */
  readonly driverVersion: number;
}

/** Facts about one kernel of a loaded module. */
export interface FunctionInfo {
  /** The largest block that its registers allow. */
  readonly maxThreadsPerBlock: number;
  /** Dynamic shared memory that a launch may ask for at present. */
  readonly maxDynamicSharedBytes: number;
  /** Shared memory that the image itself asks for. */
  readonly staticSharedBytes: number;
  /** Per thread. */
  readonly registers: number;
  /** Blocks of a cluster that the image demands; the grid's first extent must be a multiple. 1: none. */
  readonly clusterBlocks: number;
  /** Per thread; more than 0 means spilled registers or local arrays. */
  readonly localBytes: number;
  /**
   * Where each parameter lies in the argument block; undefined when the driver does not report it (before CUDA 12.4).
   */
  readonly parameters: readonly ParameterInfo[] | undefined;
}

/** One kernel parameter: its offset in the argument block. */
export interface ParameterInfo {
  /** In bytes. */
  readonly offset: number;
  /** Its size. */
  readonly bytes: number;
}

/** What stays the same between launches of one kernel. */
export interface LaunchShape {
  /** Threads per block. */
  readonly block: readonly [x: number, y: number, z: number];
  /** Dynamic shared memory; more than 48 KiB is asked of the driver when the launch is prepared. */
  readonly sharedBytes: number;
  /** Size of the argument block. */
  readonly parameterBytes: number;
  /** What messages call the parameters, in order; the image's names for them when absent. */
  readonly parameterNames?: readonly string[];
  /**
   * The kernel waits for what is before it in its stream (`griddepcontrol.wait`, each thread before it accesses memory of
   * the device and before it ends), so a driver may start it before that has ended. Where a kernel does not keep that, it
   * races with what is before it: PTX without any such wait is refused, the emulator reports each thread that does not
   * wait, and of cubins nothing is checked.
   */
  readonly startsEarly?: boolean;
}

/** What lies in an allocation, for messages. */
export interface Contents {
  /** The element type. */
  readonly dtype: DType;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis, in elements. */
  readonly strides: readonly number[];
}

/** What a stream has recorded. */
export interface RecordedGraph {
  /** For `launchGraph` and `destroyGraph`. */
  readonly handle: bigint;
  /** How many launches, copies and other steps it has. */
  readonly nodes: number;
}

/** A kernel ready to be launched again and again. */
export interface PreparedLaunch {
  /** The packed arguments, little-endian, each on its natural alignment; the caller changes them between launches. */
  readonly argumentBlock: HostBytes;
  /** Queues one launch. The arguments are copied before it returns. Makes the kernel's context current. */
  launch(gridX: number, gridY: number, gridZ: number, stream: bigint): void;
  /** How many clusters the device runs at a time; absent without clusters, or where the driver does not say. */
  readonly clustersAtOnce?: number;
  /** Like `launch`, and says what the kernel did; absent where the driver cannot count. */
  profile?(gridX: number, gridY: number, gridZ: number, stream: bigint): LaunchProfile;
}

/** Calls that concern two devices. Devices may be opened by drivers of their own, as long as these have one name. */
export interface PeerCalls {
  /** Whether kernels of a device can access memory of another one. */
  canAccess(ordinal: number, peer: number): boolean;
  /** Lets kernels of the current context, which is the device's, access memory of the other device. */
  enableAccess(peer: number): void;
  /** Queues a copy from memory of another device to memory of the stream's device. Needs no access by kernels. */
  copy(to: bigint, from: bigint, bytes: number, stream: bigint): void;
}

/** A GPU driver, or the emulator instead. */
export interface Driver {
  /** For messages: "libcuda", "emulator". */
  readonly name: string;
  /** Which images it loads. */
  readonly imageKinds: readonly ("cubin" | "ptx")[];
  /**
   * Whether it notices accesses outside allocations and after `free`. Allocations must then be as large as what
   * lies in them, and freed when that is gone, rather than rounded up and handed out again.
   */
  readonly watchesMemory: boolean;

  /** How many GPUs there are. */
  deviceCount(): number;
  /** Facts about one GPU. */
  deviceInfo(ordinal: number): DeviceInfo;
  /** Bytes of the current context's device. */
  memoryInfo(): { readonly freeBytes: number; readonly totalBytes: number };

  /** The device's primary context; each retain needs one release. */
  retainContext(ordinal: number): bigint;
  /** Gives one retain back. */
  releaseContext(ordinal: number): void;
  /** Cheap when the context is already current. */
  makeCurrent(context: bigint): void;
  /** Waits for everything queued on the current context. */
  synchronize(): void;

  /** At least 256-byte aligned. Throws `OutOfMemoryError`. */
  allocate(bytes: number): bigint;
  /** Waits until the device no longer uses the memory. */
  free(address: bigint): void;
  /** The allocation that an address is in; undefined where the driver has none. */
  memoryAt(address: bigint): { readonly address: bigint; readonly bytes: number } | undefined;
  /** A handle by which other processes open an allocation, whose first address is given. Throws where there is none. */
  exportMemory(address: bigint): HostBytes;
  /** The memory of a handle of another process. */
  importMemory(handle: HostBytes): bigint;
  /** Gives back what `importMemory` returned. */
  closeMemory(address: bigint): void;
  /** Says what an allocation is for, so that messages can name its elements; absent where nothing reads it. */
  describe?(address: bigint, contents: Contents): void;
  /**
   * Keeps host memory in place, so that copies of it run beside the program: of `memory`, which is longer by `align`, as
   * many bytes less from an address on that is a multiple of `align`. Returns them.
   */
  pin(memory: HostBytes, align: number): HostBytes;
  /** Gives back what `pin` returned. */
  unpin(memory: HostBytes): void;
  /** Queues a copy from host memory. */
  copyToDevice(to: bigint, from: HostBytes, stream: bigint): void;
  /** Queues a copy to host memory. */
  copyToHost(to: HostBytes, from: bigint, stream: bigint): void;
  /** Queues a copy within the device. */
  copyOnDevice(to: bigint, from: bigint, bytes: number, stream: bigint): void;
  /** What it can do with memory of other devices; absent where each device has its memory for itself. */
  readonly peers?: PeerCalls;
  /** Sets every byte to `value`. */
  fill(to: bigint, value: number, bytes: number, stream: bigint): void;

  /** A stream that does not wait for the legacy default stream. */
  createStream(): bigint;
  /** Its work is still done. */
  destroyStream(stream: bigint): void;
  /** Blocks until all work queued on the stream is done. */
  synchronizeStream(stream: bigint): void;
  /** Whether all work queued on the stream is done. */
  isStreamDone(stream: bigint): boolean;
  /** Lets later work of the stream wait for the event as recorded now. */
  waitForEvent(stream: bigint, event: bigint): void;

  /** An event; without timing it is cheaper. */
  createEvent(options: { readonly timing: boolean }): bigint;
  /** Waits that are queued for it stay. */
  destroyEvent(event: bigint): void;
  /** Puts the event after all that is queued on the stream. */
  recordEvent(event: bigint, stream: bigint): void;
  /** Blocks until the stream has reached the event. */
  synchronizeEvent(event: bigint): void;
  /** Whether the stream has reached the event; true when it was never recorded. */
  isEventDone(event: bigint): boolean;
  /** Milliseconds between two recorded events that are done. */
  elapsedMilliseconds(start: bigint, end: bigint): number;

  /** Loads a cubin or PTX text; `name` is for messages. Throws `ImageError`. */
  loadModule(image: HostBytes, name: string): bigint;
  /** Its kernels must not be launched any more. */
  unloadModule(module: bigint): void;
  /** Throws `CudaError` when the module has no such kernel. */
  getFunction(module: bigint, name: string): bigint;
  /** The memory of a variable in global or constant memory; undefined when the module has no such variable. */
  findVariable(
    module: bigint,
    name: string,
  ): { readonly address: bigint; readonly bytes: number } | undefined;
  /** Facts about a kernel. */
  functionInfo(fn: bigint): FunctionInfo;
  /** `name` is for messages. */
  prepareLaunch(fn: bigint, shape: LaunchShape, name: string): PreparedLaunch;

  /**
   * The 128 bytes of a tensor map, as kernels take it by value; undefined where the driver has none, or refuses this
   * one.
   */
  encodeTensorMap(map: TensorMap): HostBytes | undefined;

  /** From here on the stream records its work instead of doing it. */
  beginCapture(stream: bigint): void;
  /** Ends the recording; the result can be launched. */
  endCapture(stream: bigint): RecordedGraph;
  /** Queues the recorded work. */
  launchGraph(graph: bigint, stream: bigint): void;
  /** Launches that are queued are still done. */
  destroyGraph(graph: bigint): void;

  /** Closes the driver; it must not be used afterwards. */
  close(): void;
}
