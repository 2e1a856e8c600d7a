/**
 * Host memory that the driver keeps in place (page-locked, pinned): only copies of such memory run while the program
 * and kernels go on. It is memory of JavaScript that is registered with the driver, so that arrays of it stay valid
 * whatever becomes of the device.
 */
import { expectBranded, registerBrand } from "../arguments/brands.ts";
import type { Device } from "../device.ts";
import {
  type DType,
  DTYPES,
  expectDType,
  type HostArray,
  hostArray,
  type HostBytes,
} from "../dtype.ts";
import type { DeviceEvent } from "../event.ts";
import { ArgumentError, DisposedError, LaunchError } from "../errors.ts";
import { bytesOf } from "../tensors/host.ts";
import { StreamUses } from "./pool.ts";
import { countElements, describe, type Shape, takeShape } from "../tensors/shape.ts";
import type { Stream } from "../stream.ts";

/** The largest page of the systems that CUDA runs on. Whole pages are registered, which no other memory shares. */
const PAGE_BYTES = 65_536;

/**
 * Elements in pinned host memory, made by `device.pinned()`. `tensor.copyFrom(pinned, { stream })` and
 * `tensor.copyTo(pinned, { stream })` queue copies; `await pinned.finished()` before the program reads or writes the
 * elements again. Dispose it: pinned memory is taken from the whole system.
 */
export class PinnedArray<out D extends DType = DType, out R extends number = number> {
  /** The device whose driver has registered it. */
  readonly device: Device;
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: Shape<R>;
  /** How many elements there are. */
  readonly elements: number;
  readonly #pages: HostBytes;
  readonly #bytes: HostBytes;
  /** Undefined before the first copy, which waits for nothing. */
  #uses: StreamUses<Stream> | undefined;
  /** By stream: after the last copy that was queued there. */
  readonly #marks = new Map<Stream, DeviceEvent>();
  #disposed = false;

  static {
    registerBrand("pinned", (value) => #pages in value);
  }

  /** Use `device.pinned()`. */
  constructor(device: Device, dtype: D, shape: readonly number[]) {
    expectBranded<Device>("device", device, "device of PinnedArray");
    expectDType("dtype", dtype);
    const extents = takeShape(shape);
    const elements = countElements(extents);
    const byteLength = elements * DTYPES[dtype].bytes;
    if (!Number.isSafeInteger(byteLength)) {
      const actual = describe(dtype, extents);
      throw new ArgumentError({ argument: "shape", expected: "fewer than 2^53 bytes", actual });
    }
    const driver = device.enter();
    const pageBytes = Math.ceil(byteLength / PAGE_BYTES) * PAGE_BYTES;
    const room = bytesOf(hostArray("uint8", pageBytes === 0 ? 0 : pageBytes + PAGE_BYTES));
    this.device = device;
    this.dtype = dtype;
    this.shape = extents as readonly number[] as Shape<R>;
    this.elements = elements;
    this.#pages = pageBytes === 0 ? room : driver.pin(room, PAGE_BYTES);
    this.#bytes = this.#pages.subarray(0, byteLength);
  }

  /** Whether it was disposed, by itself or with its device. */
  get disposed(): boolean {
    return this.#disposed || this.device.disposed;
  }

  /** The elements, row by row: the memory itself, which the program reads and writes while no queued copy uses it. */
  get array(): HostArray<D> {
    const { buffer, byteOffset } = this.bytes;
    const { array } = DTYPES[this.dtype];
    return new array(buffer, byteOffset, this.elements);
  }

  /** The bytes of the elements. */
  get bytes(): HostBytes {
    if (this.disposed) throw new DisposedError(`${this}`);
    return this.#bytes;
  }

  /** Such as "pinned float32[2, 3]". */
  toString(): string {
    return `pinned ${describe(this.dtype, this.shape)}`;
  }

  /**
   * Queues a copy, after copies of other streams that it must not overtake; `write` says that it fills the memory. Throws
   * `LaunchError` while the stream is captured.
   *
   * @ignore
   */
  queue(stream: Stream, write: boolean, copy: (bytes: HostBytes) => void): void {
    const { bytes } = this;
    if (stream.recording !== undefined) {
      throw new LaunchError("Cannot record a copy of host memory in a graph", {
        hint: "copy before the graph is launched",
      });
    }
    this.#uses ??= new StreamUses(stream);
    this.#uses.add(stream, write);
    copy(bytes);
    const mark = this.#marks.get(stream) ?? this.device.event({ timing: false });
    this.#marks.set(stream, mark.record(stream));
  }

  /** Whether no queued copy uses the memory any more. */
  get done(): boolean {
    if (this.disposed) throw new DisposedError(`${this}`);
    return [...this.#marks.values()].every((mark) => mark.done);
  }

  /** Resolves when no queued copy uses the memory any more, without blocking the event loop. */
  async finished(): Promise<void> {
    if (this.disposed) throw new DisposedError(`${this}`);
    for (const mark of this.#marks.values()) await mark.finished();
  }

  /** Blocks until no queued copy uses the memory any more. */
  synchronize(): void {
    if (this.disposed) throw new DisposedError(`${this}`);
    for (const mark of this.#marks.values()) mark.synchronize();
  }

  /** What `using` calls at the end of a block. */
  dispose(): void {
    this[Symbol.dispose]();
  }

  /** Waits for queued copies, then gives the memory back to the system. */
  [Symbol.dispose](): void {
    if (this.disposed) return;
    this.#disposed = true;
    this.device.forgetPinned(this);
    const driver = this.device.enter();
    for (const mark of this.#marks.values()) {
      mark.synchronize();
      mark[Symbol.dispose]();
    }
    if (this.#pages.length > 0) driver.unpin(this.#pages);
  }
}
