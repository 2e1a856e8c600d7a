/** Devices: a GPU (or the emulator in its place) with its memory, streams, modules and tensors. */
import { DeviceBuffer } from "./buffer.ts";
import type { DeviceInfo, Driver } from "./driver.ts";
import { bytesOf, type DType, type DTypeOf, DTYPES, type HostArray } from "./dtype.ts";
import { ArgumentError, DisposedError, EMULATOR_REQUEST, NoDeviceError } from "./errors.ts";
import { DeviceEvent } from "./event.ts";
import { checkData } from "./host.ts";
import { KernelModule } from "./module.ts";
import { chooseDriver, type OpenOptions } from "./open.ts";
import { type Allocation, MemoryPool } from "./pool.ts";
import { checkLayout, denseStrides, describe, listed, spanElements } from "./shape.ts";
import { Stream } from "./stream.ts";
import { Tensor } from "./tensor.ts";

/** How a tensor is laid out and for which stream its memory is. */
export interface TensorOptions {
  /** In elements, one per axis; row-major without gaps when not given. */
  readonly strides?: readonly number[];
  /** The stream that uses it first; the device's default stream when not given. */
  readonly stream?: Stream;
}

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
  readonly #pool: MemoryPool;
  readonly #streams = new Set<Stream>();
  readonly #modules = new Set<KernelModule>();
  /** Orders one stream behind another; a wait takes the event as it stands, so one serves all. */
  readonly #orderEvent: bigint;
  readonly #finalizers: FinalizationRegistry<Allocation>;
  #disposed = false;

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
   * environment variable TRI_DEVICE decide it.
   */
  static open(options: OpenOptions = {}): Device {
    const { driver, ordinal, why } = chooseDriver(options);
    return Device.#openWith(driver, { ordinal, why, ownsDriver: true });
  }

  /** Opens a device of a driver that the caller has and closes. */
  static fromDriver(driver: Driver, ordinal = 0): Device {
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

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** A tensor with a copy of the data. Without `dtype` the typed array decides: `Float32Array` is "float32". */
  tensor<A extends HostArray, const S extends readonly number[]>(
    data: A,
    shape: S,
    options?: TensorOptions & { readonly dtype?: undefined },
  ): Tensor<DTypeOf<A>, S["length"]>;
  /** A tensor with a copy of the data, whose bits mean elements of type `dtype`. */
  tensor<D extends DType, const S extends readonly number[]>(
    data: HostArray<D>,
    shape: S,
    options: TensorOptions & { readonly dtype: D },
  ): Tensor<D, S["length"]>;
  tensor(
    data: HostArray,
    shape: readonly number[],
    options: TensorOptions & { readonly dtype?: DType | undefined } = {},
  ): Tensor {
    const dtype = checkData(data, options.dtype);
    checkLayout(shape, options.strides);
    const strides = options.strides ?? denseStrides(shape);
    const needed = spanElements(shape, strides);
    const isDense = options.strides === undefined;
    if (isDense ? data.length !== needed : data.length < needed) {
      throw new ArgumentError({
        argument: "data",
        expected: `${isDense ? "" : "at least "}${needed} elements for shape ${listed(shape)}` +
          (isDense ? "" : ` with strides ${listed(strides)}`),
        actual: `${data.length}`,
      });
    }
    const tensor = this.#allocate(dtype, shape, strides, data.length, options.stream);
    tensor.buffer.upload(bytesOf(data), 0);
    return tensor;
  }

  /** A tensor with undefined content. */
  empty<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
    options?: TensorOptions,
  ): Tensor<D, S["length"]>;
  empty(dtype: DType, shape: readonly number[], options: TensorOptions = {}): Tensor {
    checkLayout(shape, options.strides);
    const strides = options.strides ?? denseStrides(shape);
    return this.#allocate(dtype, shape, strides, spanElements(shape, strides), options.stream);
  }

  /** A tensor of zeros; with strides, the gaps are zero as well. */
  zeros<D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
    options?: TensorOptions,
  ): Tensor<D, S["length"]> {
    const tensor = this.empty(dtype, shape, options);
    tensor.buffer.fill(0);
    return tensor;
  }

  /** A new stream. */
  stream(): Stream {
    const stream = new Stream(this);
    this.#streams.add(stream);
    return stream;
  }

  /** A new event; with `timing: false` it is cheaper and cannot measure time. */
  event(options: { readonly timing?: boolean } = {}): DeviceEvent {
    return new DeviceEvent(this, { timing: options.timing ?? true });
  }

  /** Loads a kernel image: a cubin or PTX text. `name` is for messages. */
  loadModule(image: Uint8Array, name: string): KernelModule {
    const module = new KernelModule(this, bytesOf(image), name);
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

  /** Waits for the device, then gives back everything that it was asked for. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    const driver = this.enter();
    const { defaultStream, info } = this;
    // After a fault on the device every step may fail; the first error tells why, and the rest is still given back.
    const errors: unknown[] = [];
    const steps: readonly (() => void)[] = [
      () => driver.synchronize(),
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
  take(buffer: DeviceBuffer, bytes: number, stream: Stream): Allocation {
    const allocation = this.#pool.take(bytes, stream);
    this.#finalizers.register(buffer, allocation, allocation);
    return allocation;
  }

  /**
   * Takes a disposed buffer's memory back.
   *
   * @ignore
   */
  giveBack(allocation: Allocation): void {
    this.#finalizers.unregister(allocation);
    this.#pool.release(allocation);
  }

  /** Lets the later work of one stream wait for what is queued on another. */
  order(earlier: Stream, later: Stream): void {
    const driver = this.enter();
    driver.recordEvent(this.#orderEvent, earlier.handle);
    driver.waitForEvent(later.handle, this.#orderEvent);
  }

  /** A stream is going: waits for it and takes over the memory kept for it. */
  retire(stream: Stream): void {
    this.enter().synchronizeStream(stream.handle);
    this.#streams.delete(stream);
    this.#pool.move(stream, this.defaultStream);
  }

  /** A module is gone. */
  forget(module: KernelModule): void {
    this.#modules.delete(module);
  }

  #allocate(
    dtype: DType,
    shape: readonly number[],
    strides: readonly number[],
    elements: number,
    stream: Stream = this.defaultStream,
  ): Tensor {
    if (!Object.hasOwn(DTYPES, dtype)) {
      throw new ArgumentError({
        argument: "dtype",
        expected: `one of ${Object.keys(DTYPES).join(", ")}`,
        actual: String(dtype),
      });
    }
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
}

interface Opening {
  readonly ordinal: number;
  readonly why: string;
  readonly ownsDriver: boolean;
}

function checkOrdinal(driver: Driver, ordinal: number): number {
  const count = driver.deviceCount();
  if (Number.isInteger(ordinal) && ordinal >= 0 && ordinal < count) return ordinal;
  if (count === 0) {
    throw new NoDeviceError("No CUDA device: the driver works but sees no GPU", {
      hint: `check \`nvidia-smi\` and CUDA_VISIBLE_DEVICES; without a GPU, ${EMULATOR_REQUEST}`,
    });
  }
  throw new NoDeviceError(`No CUDA device ${ordinal}: ${count} found, numbered from 0`, {
    hint: `use a device number from 0 to ${count - 1}; CUDA_VISIBLE_DEVICES may hide others`,
  });
}
