/** Tensors: typed, strided views of device memory. */
import type { DeviceBuffer } from "./buffer.ts";
import type { Device } from "./device.ts";
import { expectBranded, registerBrand } from "./brands.ts";
import { type DType, DTYPES, expectDType, type HostArray, hostArray } from "./dtype.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import { bytesOf, checkData, lengthOf } from "./host.ts";
import { expectInteger, expectIntegers } from "./numbers.ts";
import { checkOptions, optionNames } from "./options.ts";
import { overlapsItself } from "./self_overlap.ts";
import {
  countElements,
  denseStrides,
  describe,
  gather,
  isDense,
  listed,
  MAX_RANK,
  scatter,
  type Shape,
  spanElements,
  takeLayout,
  takeShape,
} from "./shape.ts";
import type { Stream } from "./stream.ts";
import { describeValue } from "./values.ts";

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

const LAYOUT_NAMES = optionNames<TensorLayout>({
  dtype: true,
  shape: true,
  strides: true,
  offset: true,
});

/** Whether the value is a tensor, and not merely of its form. */
export let isTensor: (value: unknown) => value is Tensor;

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

  static {
    isTensor = (value): value is Tensor =>
      typeof value === "object" && value !== null && #address in value;
    registerBrand("tensor", isTensor);
  }

  /**
   * Views a buffer; `owner` says that disposing the tensor disposes the buffer. Extents, strides and the offset are
   * integers from 0, of at most 64 axes; throws `ArgumentError` for others, and where an element would lie outside of
   * the buffer.
   */
  constructor(buffer: DeviceBuffer, layout: TensorLayout<D>, owner = false) {
    expectBranded<DeviceBuffer>("buffer", buffer, "buffer of Tensor");
    checkOptions("layout of Tensor", layout, LAYOUT_NAMES);
    const { dtype } = layout;
    expectDType("dtype", dtype);
    const { shape, strides } = takeLayout(layout.shape, layout.strides);
    const offset = expectInteger("offset", layout.offset);
    const elementBytes = DTYPES[dtype].bytes;
    this.device = buffer.device;
    this.buffer = buffer;
    this.dtype = dtype;
    this.shape = shape as Shape<R>;
    this.strides = strides as Shape<R>;
    this.offset = offset;
    this.elements = countElements(shape);
    this.spanBytes = spanElements(shape, strides) * elementBytes;
    this.#address = buffer.address + BigInt(offset * elementBytes);
    this.#owner = owner === true;
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
   * The elements, row by row without gaps whatever the strides. The copy is queued after the work that is
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

  /**
   * Replaces the elements by `data`, which is row by row without gaps; blocks until they are copied. Throws
   * `ArgumentError` for data of another length or type, and where elements of the tensor share memory.
   */
  write(data: HostArray<D>): void {
    if (this.disposed) throw this.#disposedError();
    checkData(data, this.dtype);
    let bytes = bytesOf(data);
    if (lengthOf(data) !== this.elements) {
      throw new ArgumentError({
        argument: "data",
        expected: `${this.elements} elements for ${this}`,
        actual: `${lengthOf(data)}`,
      });
    }
    if (overlapsItself(this.shape, this.strides)) {
      throw new ArgumentError({
        argument: "this",
        expected: "a tensor whose elements lie apart",
        actual: `${this} with strides ${listed(this.strides)}`,
      }, { hint: "write to the tensor that it repeats elements of" });
    }
    const elementBytes = DTYPES[this.dtype].bytes;
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

  /**
   * The view with the axes in another order; `order[i]` is the axis that becomes axis `i`. Throws `ArgumentError`
   * unless each axis is there once.
   */
  permute(order: Shape<R>): Tensor<D, R> {
    const axes = expectIntegers("order", order, MAX_RANK);
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

  /**
   * The view of `length` elements along an axis, from `start` on, every `step`-th. Throws `ArgumentError` for an axis
   * that the tensor does not have, and for elements outside of it.
   */
  narrow(axis: number, start: number, length: number, step = 1): Tensor<D, R> {
    const extent = Number.isInteger(axis) ? this.shape[axis] : undefined;
    if (extent === undefined) {
      throw new ArgumentError({
        argument: "axis",
        expected: this.shape.length === 0
          ? `a tensor with axes rather than ${this}`
          : `an axis of ${this}: 0 to ${this.shape.length - 1}`,
        actual: describeValue(axis),
      });
    }
    const numbers = [start, length, step].every((value) =>
      Number.isSafeInteger(value) && value >= 0
    );
    if (
      !numbers || step === 0 || (length === 0 ? start : start + (length - 1) * step + 1) > extent
    ) {
      throw new ArgumentError({
        argument: "start, length, step",
        expected: `a range inside axis ${axis} of ${this}`,
        actual: `${describeValue(length)} elements from ${describeValue(start)}, step ${
          describeValue(step)
        }`,
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

  /**
   * The view of a contiguous tensor in another shape. Throws `ArgumentError` for a tensor with gaps, and for a shape of
   * more or fewer elements.
   */
  reshape<const S extends readonly number[]>(shape: S): Tensor<D, S["length"]> {
    if (this.disposed) throw this.#disposedError();
    const extents = takeShape(shape);
    if (!this.isContiguous) {
      throw new ArgumentError({
        argument: "this",
        expected: "a contiguous tensor",
        actual: `${this} with strides ${listed(this.strides)}`,
      }, { hint: "reshape before transposing or narrowing, or copy the tensor first" });
    }
    if (countElements(extents) !== this.elements) {
      throw new ArgumentError({
        argument: "shape",
        expected: `${this.elements} elements, as in ${this}`,
        actual: `${listed(extents)}: ${countElements(extents)} elements`,
      });
    }
    return new Tensor<D, S["length"]>(this.buffer, {
      dtype: this.dtype,
      shape: extents,
      strides: denseStrides(extents),
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
