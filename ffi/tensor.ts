/** Tensors: typed, strided views of device memory. */
import type { DeviceBuffer } from "./buffer.ts";
import type { Device } from "./device.ts";
import { bytesOf, type DType, DTYPES, type HostArray, hostArray } from "./dtype.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import { checkData } from "./host.ts";
import {
  checkLayout,
  countElements,
  denseStrides,
  describe,
  gather,
  isDense,
  listed,
  scatter,
  type Shape,
  spanElements,
} from "./shape.ts";
import type { Stream } from "./stream.ts";

/** Where a tensor's elements lie in its buffer. Strides and offset in elements. */
export interface TensorLayout<D extends DType = DType> {
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: readonly number[];
  /** From one element to the next along each axis. */
  readonly strides: readonly number[];
  /** Of the first element. */
  readonly offset: number;
}

/**
 * Elements of type `D` in `R` dimensions on a device. `device.tensor()`, `empty()` and `zeros()` make one that
 * owns its memory; `transpose()`, `narrow()` and the like make views of it. Disposing the owner frees the memory
 * and ends its views; disposing a view ends only that view.
 */
export class Tensor<out D extends DType = DType, out R extends number = number> {
  /** The device that it belongs to. */
  readonly device: Device;
  /** The memory that it views. */
  readonly buffer: DeviceBuffer;
  /** The element type. */
  readonly dtype: D;
  /** The extent of each axis. */
  readonly shape: Shape<R>;
  /** From one element to the next along each axis, in elements. */
  readonly strides: Shape<R>;
  /** Of the first element in the buffer, in elements. */
  readonly offset: number;
  /** How many elements there are. */
  readonly elements: number;
  /** Bytes from the first element to the end of the last, gaps included. */
  readonly spanBytes: number;
  readonly #address: bigint;
  readonly #owner: boolean;
  #disposed = false;

  /** Views a buffer; `owner` says that disposing the tensor disposes the buffer. */
  constructor(buffer: DeviceBuffer, layout: TensorLayout<D>, owner = false) {
    const { dtype, shape, strides, offset } = layout;
    checkLayout(shape, strides);
    const elementBytes = DTYPES[dtype].bytes;
    this.device = buffer.device;
    this.buffer = buffer;
    this.dtype = dtype;
    this.shape = [...shape] as readonly number[] as Shape<R>;
    this.strides = [...strides] as readonly number[] as Shape<R>;
    this.offset = offset;
    this.elements = countElements(shape);
    this.spanBytes = spanElements(shape, strides) * elementBytes;
    this.#address = buffer.address + BigInt(offset * elementBytes);
    this.#owner = owner;
    if (offset * elementBytes + this.spanBytes > buffer.bytes) {
      const reach = `${this} with strides ${listed(strides)} and offset ${offset}`;
      throw new ArgumentError({
        argument: "buffer",
        expected: `${offset * elementBytes + this.spanBytes} bytes for ${reach}`,
        actual: `${buffer.bytes} bytes`,
      });
    }
  }

  /** Address of the first element on the device. */
  get address(): bigint {
    if (this.disposed) throw this.#disposedError();
    return this.#address;
  }

  /** Whether it was disposed, by itself, with its memory or with its device. */
  get disposed(): boolean {
    return this.#disposed || this.buffer.disposed;
  }

  /** Whether the elements lie row by row without gaps. */
  get isContiguous(): boolean {
    return isDense(this.shape, this.strides);
  }

  /** Such as "float32[2, 3]". */
  toString(): string {
    return describe(this.dtype, this.shape);
  }

  /**
   * The elements, row by row without gaps whatever the strides. The copy is queued behind the work that is
   * queued now, so later launches do not change what it returns.
   */
  async read(): Promise<HostArray<D>> {
    const { raw, stream } = this.#download();
    await stream.finished();
    return this.#dense(raw);
  }

  /** Like {@linkcode read}, but blocks until the elements are here. */
  readSync(): HostArray<D> {
    const { raw, stream } = this.#download();
    stream.synchronize();
    return this.#dense(raw);
  }

  /** Replaces the elements by `data`, which is row by row without gaps; blocks until they are copied. */
  write(data: HostArray<D>): void {
    checkData(data, this.dtype);
    if (data.length !== this.elements) {
      throw new ArgumentError({
        argument: "data",
        expected: `${this.elements} elements for ${this}`,
        actual: `${data.length}`,
      });
    }
    const elementBytes = DTYPES[this.dtype].bytes;
    let bytes = bytesOf(data);
    if (!this.isContiguous) {
      // The gaps between the elements must survive: read the whole span, change the elements, write it back.
      const { raw, stream } = this.#download();
      stream.synchronize();
      const span = bytesOf(raw);
      scatter(span, bytes, { shape: this.shape, strides: this.strides, elementBytes });
      bytes = span;
    }
    this.buffer.upload(bytes, this.offset * elementBytes);
  }

  /** The view with the axes in another order; `order[i]` is the axis that becomes axis `i`. */
  permute(order: Shape<R>): Tensor<D, R> {
    const axes = [...order];
    if (
      axes.length !== this.shape.length ||
      !axes.toSorted((a, b) => a - b).every((axis, i) => axis === i)
    ) {
      throw new ArgumentError({
        argument: "order",
        expected: `each axis from 0 to ${this.shape.length - 1} once`,
        actual: listed(axes),
      });
    }
    const reordered = (values: readonly number[]): number[] =>
      axes.map((axis) => values[axis] ?? 0);
    return this.#view({ shape: reordered(this.shape), strides: reordered(this.strides) });
  }

  /** The view with the order of all axes reversed: rows become columns. Nothing is copied. */
  transpose(): Tensor<D, R> {
    return this.#view({ shape: [...this.shape].reverse(), strides: [...this.strides].reverse() });
  }

  /** The view of `length` elements along an axis, from `start` on, every `step`-th. */
  narrow(axis: number, start: number, length: number, step = 1): Tensor<D, R> {
    const extent = this.shape[axis];
    if (extent === undefined) {
      throw new ArgumentError({
        argument: "axis",
        expected: `an axis of ${this}: 0 to ${this.shape.length - 1}`,
        actual: `${axis}`,
      });
    }
    const numbers = [start, length, step].every((value) =>
      Number.isSafeInteger(value) && value >= 0
    );
    const last = length === 0 ? start : start + (length - 1) * step + 1;
    if (!numbers || step === 0 || last > extent) {
      throw new ArgumentError({
        argument: "start, length, step",
        expected: `a range inside axis ${axis} of ${this}`,
        actual: `${length} elements from ${start}, step ${step}`,
      });
    }
    const stride = this.strides[axis] ?? 0;
    const { shape, strides }: TensorLayout = this;
    return this.#view({
      shape: shape.with(axis, length),
      strides: strides.with(axis, stride * step),
      offset: this.offset + (length === 0 ? 0 : start * stride),
    });
  }

  /** The view of a contiguous tensor in another shape. */
  reshape<const S extends readonly number[]>(shape: S): Tensor<D, S["length"]> {
    checkLayout(shape, undefined);
    if (!this.isContiguous) {
      throw new ArgumentError({
        argument: "this",
        expected: "a contiguous tensor",
        actual: `${this} with strides ${listed(this.strides)}`,
      }, { hint: "reshape before transposing or narrowing, or copy the tensor first" });
    }
    if (countElements(shape) !== this.elements) {
      throw new ArgumentError({
        argument: "shape",
        expected: `${this.elements} elements, as in ${this}`,
        actual: `${listed(shape)}: ${countElements(shape)} elements`,
      });
    }
    return new Tensor<D, S["length"]>(this.buffer, {
      dtype: this.dtype,
      shape,
      strides: denseStrides(shape),
      offset: this.offset,
    });
  }

  /** Frees the memory if the tensor owns it; work already queued still has it. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    if (this.#owner) this.buffer[Symbol.dispose]();
  }

  #view(change: Partial<TensorLayout>): Tensor<D, R> {
    if (this.disposed) throw this.#disposedError();
    const { dtype, shape, strides, offset } = this;
    return new Tensor<D, R>(this.buffer, { shape, strides, offset, ...change, dtype });
  }

  /** Queues a copy of the whole span; `raw` has it once the stream is done. */
  #download(): { readonly raw: HostArray<D>; readonly stream: Stream } {
    const { bytes } = DTYPES[this.dtype];
    if (this.disposed) throw this.#disposedError();
    const raw = hostArray(this.dtype, this.spanBytes / bytes);
    return { raw, stream: this.buffer.download(bytesOf(raw), this.offset * bytes) };
  }

  #dense(raw: HostArray<D>): HostArray<D> {
    if (this.isContiguous) return raw;
    const dense = hostArray(this.dtype, this.elements);
    const elementBytes = DTYPES[this.dtype].bytes;
    gather(bytesOf(dense), bytesOf(raw), {
      shape: this.shape,
      strides: this.strides,
      elementBytes,
    });
    return dense;
  }

  #disposedError(): DisposedError {
    return new DisposedError(`Tensor ${this}`);
  }
}
