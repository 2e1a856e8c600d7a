/** Devices: a GPU (or the emulator instead) with its memory, streams, modules and tensors. */
import { DeviceBuffer } from "./memory/buffer.ts";
import { expectBranded, registerBrand } from "./arguments/brands.ts";
import type { DeviceInfo, Driver } from "./driver.ts";
import {
  type DType,
  type DTypeOf,
  DTYPES,
  expectDType,
  type HostArray,
  type HostData,
  type HostNumbers,
} from "./dtype.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import { checkLength, type Layout } from "./tensors/data_length.ts";
import { DeviceEvent, type EventOptions } from "./event.ts";
import { checkOrdinal, expectDriver } from "./arguments/expect_driver.ts";
import { expectDeviceMemory, expectRelease, ForeignMemory } from "./memory/foreign_memory.ts";
import { bytesOf, takeData } from "./tensors/host.ts";
import { KernelModule } from "./module.ts";
import { chooseDriver, type OpenOptions } from "./open.ts";
import { checkOptions, optionNames, own } from "./arguments/options.ts";
import { PinnedArray } from "./memory/pinned.ts";
import { arePeers } from "./memory/peers.ts";
import { type Allocation, MemoryPool } from "./memory/pool.ts";
import { describe, listed, spanElements, takeLayout } from "./tensors/shape.ts";
import { Stream } from "./stream.ts";
import { Tensor } from "./tensors/tensor.ts";

/** How a tensor is laid out and for which stream its memory is. */
export interface TensorOptions {
  /**
   * In elements, one integer from 0 per axis; row-major without gaps when not given. 0 repeats the elements along an
   * axis.
   */
  readonly strides?: readonly number[];
  /** The stream that uses it first; the device's default stream when not given. */
  readonly stream?: Stream;
}

/** How memory of others is viewed. */
export interface WrapOptions extends TensorOptions {
  /** What has allocated the memory: kept alive until the tensor is disposed. */
  readonly owner?: unknown;
  /** Called once when the tensor no longer uses the memory. */
  readonly release?: () => void;
}

const WRAP_OPTIONS = optionNames<WrapOptions>({
  strides: true,
  stream: true,
  owner: true,
  release: true,
});
const TENSOR_OPTIONS = optionNames<TensorOptions>({ strides: true, stream: true });
const DATA_OPTIONS = optionNames<TensorOptions & { readonly dtype?: DType }>({
  strides: true,
  stream: true,
  dtype: true,
});

/**
 * An open device. Disposing it frees its memory, streams and modules; tensors on it cannot be used afterwards.
 *
 * ```ts
 * using device = Device.open();
 * const x = device.tensor(new Float32Array([1, 2, 3, 4, 5, 6]), [2, 3]);
 * console.log(await x.transpose().read());
 * ```
 */
export class Device {
  /** The driver that runs it. */
  readonly driver: Driver;
  /** Facts about the GPU. */
  readonly info: DeviceInfo;
  /** Why it is this device, as a clause: "there is no NVIDIA driver (libcuda.so.1)". */
  readonly why: string;
  /** Where work goes when no stream is named. */
  readonly defaultStream: Stream;
  readonly #context: bigint;
  readonly #ownsDriver: boolean;
  readonly #pool: MemoryPool<Stream>;
  readonly #streams = new Set<Stream>();
  readonly #modules = new Set<KernelModule>();
  /** Memory of others that has not been released. */
  readonly #foreign = new Set<DeviceBuffer>();
  readonly #pinned = new Set<PinnedArray>();
  /** Orders one stream after another; a wait takes the event as it is then, so one serves all. */
  readonly #orderEvent: bigint;
  readonly #finalizers: FinalizationRegistry<Allocation<Stream>>;
  #disposed = false;

  static {
    registerBrand("device", (value) => #context in value);
  }

  private constructor(driver: Driver, { ordinal, why, ownsDriver }: Opening) {
    this.driver = driver;
    this.why = why;
    this.#ownsDriver = ownsDriver;
    this.info = driver.deviceInfo(checkOrdinal(driver, ordinal));
    this.#context = driver.retainContext(ordinal);
    this.#pool = new MemoryPool(this);
    const pool = this.#pool;
    this.#finalizers = new FinalizationRegistry((allocation) => pool.release(allocation));
    this.#orderEvent = this.enter().createEvent({ timing: false });
    this.defaultStream = this.stream();
  }

  /**
   * Opens a GPU if there is one, else the emulator; `label` says which, and `why` why. The option `device` or the
   * environment variable TRI_DEVICE decide it. Throws `ArgumentError` for options that there are not, and the errors of
   * the driver where a GPU is asked for or there and does not work.
   */
  static open(options: OpenOptions = {}): Device {
    const { driver, ordinal, why } = chooseDriver(options);
    return Device.#openWith(driver, { ordinal, why, ownsDriver: true });
  }

  /**
   * Opens a device of a driver that the caller has and closes. Throws `ArgumentError` for what is no driver,
   * `NoDeviceError` where the driver has no device of this number.
   */
  static fromDriver(driver: Driver, ordinal = 0): Device {
    expectDriver(driver);
    const why = "the program brings its driver";
    return Device.#openWith(driver, { ordinal, why, ownsDriver: false });
  }

  static #openWith(driver: Driver, opening: Opening): Device {
    try {
      return new Device(driver, opening);
    } catch (error) {
      if (opening.ownsDriver) driver.close();
      throw error;
    }
  }

  /** Such as "sm_90". */
  get arch(): string {
    return this.info.arch;
  }

  /** For messages. */
  get label(): string {
    const { kind, ordinal, name } = this.info;
    return kind === "emulator" ? name : `device ${ordinal} (${name})`;
  }

  /** Such as "device 0 (NVIDIA H200), sm_90". */
  toString(): string {
    const { label, arch } = this;
    return label.includes(arch) ? label : `${label}, ${arch}`;
  }

  /** Bytes of the device's memory: all of it, and what no program uses. */
  memoryInfo(): { readonly freeBytes: number; readonly totalBytes: number } {
    return this.enter().memoryInfo();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /**
   * A tensor with a copy of the data, in one dimension when no shape is given. Without `dtype` the typed array decides:
   * `Float32Array` is "float32"; numbers are "float32", bigints "int64", booleans "bool". With `dtype`, bytes and bits
   * of such elements are taken as well: an `ArrayBuffer`, a `DataView`, a `Uint8Array`, and a `Uint16Array` for float16
   * and bfloat16. Without
   * `strides` the data is row by row and of as many elements as the shape. With `strides` it is a copy of the memory, gaps
   * included, from the first element at least to the last; to just the last where several elements share memory. Throws
   * `ArgumentError` for other lengths, `OutOfMemoryError`.
   */
  tensor<
    A extends HostArray | Uint8ClampedArray,
    const S extends readonly number[] = readonly [number],
  >(
    data: A,
    shape?: S,
    options?: TensorOptions & { readonly dtype?: undefined },
  ): Tensor<DTypeOf<A>, S["length"]>;
  /** A tensor of numbers of the type that they have by themselves. */
  tensor<
    V extends number | bigint | boolean,
    const S extends readonly number[] = readonly [number],
  >(
    data: HostNumbers & Iterable<V>,
    shape?: S,
    options?: TensorOptions & { readonly dtype?: undefined },
  ): Tensor<
    V extends number ? "float32" : V extends bigint ? "int64" : "bool",
    S["length"]
  >;
  /** A tensor with a copy of the data, whose bits or numbers mean elements of type `dtype`. */
  tensor<D extends DType, const S extends readonly number[]>(
    data: HostData<D>,
    shape: S,
    options: TensorOptions & { readonly dtype: D },
  ): Tensor<D, S["length"]>;
  /** The same in one dimension. */
  tensor<D extends DType>(
    data: HostData<D>,
    shape: undefined,
    options: TensorOptions & { readonly dtype: D },
  ): Tensor<D, 1>;
  tensor(
    data: unknown,
    shape?: readonly number[],
    options: TensorOptions & { readonly dtype?: DType | undefined } = {},
  ): Tensor {
    checkOptions("options of tensor", options, DATA_OPTIONS);
    const wanted: unknown = own(options, "dtype");
    if (wanted !== undefined) expectDType("dtype", wanted);
    const { dtype, bytes, length } = takeData(data, wanted);
    const given = own(options, "strides");
    const layout = takeLayout(shape === undefined ? [length] : shape, given);
    checkLength(length, layout, given !== undefined);
    const tensor = this.#allocate(dtype, layout, length, own(options, "stream"));
    tensor.buffer.upload(bytes, 0);
    return tensor;
  }

  /** A tensor with undefined content. Throws `ArgumentError`, `OutOfMemoryError`. */
  empty<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
    options?: TensorOptions,
  ): Tensor<D, S["length"]>;
  empty(dtype: DType, shape: readonly number[], options: TensorOptions = {}): Tensor {
    checkOptions("options of a tensor", options, TENSOR_OPTIONS);
    expectDType("dtype", dtype);
    const layout = takeLayout(shape, own(options, "strides"));
    const elements = spanElements(layout.shape, layout.strides);
    return this.#allocate(dtype, layout, elements, own(options, "stream"));
  }

  /** A tensor of zeros; with strides, the gaps are zero as well. Throws `ArgumentError`, `OutOfMemoryError`. */
  zeros<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
    options?: TensorOptions,
  ): Tensor<D, S["length"]> {
    const tensor = this.empty(dtype, shape, options);
    tensor.buffer.fill(0);
    return tensor;
  }

  /**
   * A tensor of memory of the device that something else has allocated: nothing is copied, and disposing the tensor does
   * not free it. `owner` stays reachable as long as the tensor is not disposed; `release` is called once, when the tensor
   * or the device is disposed and queued work has been waited for. Throws `ArgumentError` for memory that the driver does
   * not know.
   */
  wrap<D extends DType, const S extends readonly number[]>(
    address: bigint,
    dtype: D,
    shape: S,
    options: WrapOptions = {},
  ): Tensor<D, S["length"]> {
    checkOptions("options of wrap", options, WRAP_OPTIONS);
    expectDType("dtype", dtype);
    const layout = takeLayout(shape, own(options, "strides"));
    const align = DTYPES[dtype].bytes;
    const bytes = spanElements(layout.shape, layout.strides) * align;
    const driver = this.enter();
    expectDeviceMemory(driver, address, { bytes, align, device: this.label });
    const { stream = this.defaultStream } = { stream: own(options, "stream") };
    this.#expectOwn("stream", stream);
    const [owner, release] = [own(options, "owner"), own(options, "release")];
    expectRelease(release);
    const memory = new ForeignMemory(stream, { address, owner, release });
    return this.view(dtype, layout, bytes, memory);
  }

  /**
   * Elements in host memory that the driver keeps in place (pinned), all zero: copies of them run beside the program and
   * beside kernels. Throws `ArgumentError`, `TriError` where the host has no memory, `CudaError` where it may not be kept.
   */
  pinned<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
  ): PinnedArray<D, S["length"]> {
    const pinned = new PinnedArray<D, S["length"]>(this, dtype, shape);
    this.#pinned.add(pinned);
    return pinned;
  }

  /** A new stream. */
  stream(): Stream {
    const stream = new Stream(this);
    this.#streams.add(stream);
    return stream;
  }

  /** A new event; with `timing: false` it is cheaper and cannot measure time. */
  event(options: EventOptions = {}): DeviceEvent {
    return new DeviceEvent(this, options);
  }

  /**
   * Loads a kernel image: the bytes of a cubin, or PTX as bytes or text. `name` is for messages. Throws `ImageError`
   * for what is neither, and for code that the device does not run.
   */
  loadModule(image: Uint8Array | string, name: string): KernelModule {
    const bytes = typeof image === "string"
      ? new TextEncoder().encode(image)
      : bytesOf(image, "image");
    const module = new KernelModule(this, bytes, name);
    this.#modules.add(module);
    return module;
  }

  /** Blocks until everything queued on the device is done. */
  synchronize(): void {
    this.enter().synchronize();
  }

  /** Gives memory that is kept for reuse back to the driver; returns how many bytes. */
  trim(): number {
    this.enter();
    return this.#pool.trim();
  }

  /** What `using` calls at the end of a block, for programs without `using`. */
  dispose(): void {
    this[Symbol.dispose]();
  }

  /** Waits for the device, then gives back everything that it was asked for. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    const driver = this.enter();
    const { defaultStream, info } = this;
    // After a fault on the device every step may fail; the first error says why, and the rest is still given back.
    const errors: unknown[] = [];
    const steps: readonly (() => void)[] = [
      () => driver.synchronize(),
      ...[...this.#foreign].map((buffer) => () => buffer[Symbol.dispose]()),
      ...[...this.#pinned].map((pinned) => () => pinned[Symbol.dispose]()),
      ...[...this.#modules].map((module) => () => module[Symbol.dispose]()),
      ...[...this.#streams].map((stream) => () => stream[Symbol.dispose]()),
      () => this.#pool.close(),
      () => driver.destroyEvent(this.#orderEvent),
      () => driver.destroyStream(defaultStream.handle),
      () => driver.releaseContext(info.ordinal),
      () => this.#ownsDriver && driver.close(),
    ];
    for (const step of steps) {
      try {
        step();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#disposed = true;
    if (errors.length > 0) throw errors[0];
  }

  // What follows is for the run time itself.

  /** The driver, with this device's context current. */
  enter(): Driver {
    if (this.#disposed) throw new DisposedError(`Device ${this.info.ordinal} (${this.info.name})`);
    this.driver.makeCurrent(this.#context);
    return this.driver;
  }

  /**
   * Memory for a buffer; it comes back when the buffer is collected as garbage, if not before.
   *
   * @ignore
   */
  take(buffer: DeviceBuffer, bytes: number, stream: Stream): Allocation<Stream> {
    const allocation = this.#pool.take(bytes, stream);
    this.#finalizers.register(buffer, allocation, allocation);
    return allocation;
  }

  /**
   * Takes a disposed buffer's memory back.
   *
   * @ignore
   */
  giveBack(allocation: Allocation<Stream>): void {
    this.#finalizers.unregister(allocation);
    this.#pool.release(allocation);
  }

  /** Lets the later work of one stream of this device wait for what is queued on another, of any device. */
  order(earlier: Stream, later: Stream): void {
    expectBranded<Stream>("stream", earlier, "earlier of order");
    this.#expectOwn("later of order", later);
    const { device } = earlier;
    if (!arePeers(device, this)) return earlier.synchronize();
    device.enter().recordEvent(device.#orderEvent, earlier.handle);
    this.enter().waitForEvent(later.handle, device.#orderEvent);
  }

  /** Before a stream is disposed: waits for it and takes over the memory kept for it. */
  retire(stream: Stream): void {
    this.#expectOwn("stream of retire", stream);
    this.enter().synchronizeStream(stream.handle);
    this.#streams.delete(stream);
    this.#pool.move(stream, this.defaultStream);
  }

  /**
   * A tensor of memory that has been checked.
   *
   * @ignore
   */
  view<D extends DType, R extends number>(
    dtype: D,
    layout: Layout,
    bytes: number,
    memory: ForeignMemory,
  ): Tensor<D, R> {
    const buffer = new DeviceBuffer(this, bytes, memory.uses.writer, memory);
    this.#foreign.add(buffer);
    return new Tensor(buffer, { dtype, ...layout, offset: 0 }, true);
  }

  /**
   * Lets others have their memory again.
   *
   * @ignore
   */
  forgetForeign(buffer: DeviceBuffer, memory: ForeignMemory): void {
    if (this.#foreign.delete(buffer)) memory.release();
  }

  /** Pinned memory is gone. */
  forgetPinned(pinned: PinnedArray): void {
    expectBranded<PinnedArray>("pinned", pinned, "pinned of forgetPinned");
    this.#pinned.delete(pinned);
  }

  /** A module is gone. */
  forget(module: KernelModule): void {
    expectBranded<KernelModule>("module", module, "module of forget");
    if (module.device !== this) {
      throw new ArgumentError({
        argument: "module of forget",
        expected: `a module of ${this.label}`,
        actual: "one of another device",
      });
    }
    this.#modules.delete(module);
  }

  #allocate(
    dtype: DType,
    { shape, strides }: Layout,
    elements: number,
    stream: Stream = this.defaultStream,
  ): Tensor {
    const bytes = elements * DTYPES[dtype].bytes;
    if (!Number.isSafeInteger(bytes)) {
      throw new ArgumentError({
        argument: "shape",
        expected: "fewer than 2^53 bytes",
        actual: `${describe(dtype, shape)} with strides ${listed(strides)}`,
      });
    }
    const buffer = new DeviceBuffer(this, bytes, stream);
    if (bytes > 0) this.driver.describe?.(buffer.address, { dtype, shape, strides });
    return new Tensor(buffer, { dtype, shape, strides, offset: 0 }, true);
  }

  #expectOwn(argument: string, stream: unknown): void {
    expectBranded<Stream>("stream", stream, argument);
    if (stream.device === this) return;
    throw new ArgumentError({
      argument,
      expected: `a stream of ${this.label}`,
      actual: "one of another device",
    });
  }
}

interface Opening {
  readonly ordinal: number;
  readonly why: string;
  readonly ownsDriver: boolean;
}
