/** Tensors: typed, strided views of device memory. */
import type { DeviceBuffer } from "../memory/buffer.ts";
import type { Device } from "../device.ts";
import { expectBranded, isBranded, registerBrand } from "../arguments/brands.ts";
import { type DType, DTYPES, expectDType, type HostArray, type HostData } from "../dtype.ts";
import { convertElements, expectElement } from "./elements.ts";
import { ArgumentError, DisposedError } from "../errors.ts";
import { bytesOf, checkData, lengthOf, takeData } from "./host.ts";
import { expectInteger, expectIntegers } from "../arguments/numbers.ts";
import { checkOptions, optionNames, own } from "../arguments/options.ts";
import type { PinnedArray } from "../memory/pinned.ts";
import {
  countElements,
  denseStrides,
  describe,
  isDense,
  listed,
  MAX_RANK,
  type Shape,
  spanElements,
  takeLayout,
  takeShape,
} from "./shape.ts";
import type { Stream } from "../stream.ts";
import {
  copyFromPinned,
  copyTensor,
  copyToPinned,
  denseArray,
  denseBytes,
  downloadBytes,
  downloadSpan,
  fillTensor,
  readDense,
  writeDense,
} from "./tensor_copy.ts";
import { inspectTensor } from "./tensor_text.ts";
import { describeValue } from "../arguments/values.ts";

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

/** Methods by which `console.log` of Node and Bun, and of Deno, asks an object for its text. */
const CONSOLES = ["nodejs.util.inspect.custom", "Deno.customInspect"] as const;

/** How a copy is queued. */
export interface CopyOptions {
  /** The stream that copies; it waits for what other streams do with the memory. */
  readonly stream?: Stream;
}

const COPY_OPTIONS = optionNames<CopyOptions>({ stream: true });

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
    for (const console of CONSOLES) {
      const value = function (this: Tensor): string {
        return this.inspect();
      };
      Object.defineProperty(this.prototype, Symbol.for(console), { value });
    }
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

  /** Whether the elements are row by row without gaps. */
  get isContiguous(): boolean {
    return isDense(this.shape, this.strides);
  }

  /** Such as "float32[2, 3]". */
  toString(): string {
    return describe(this.dtype, this.shape);
  }

  /**
   * For `console.log`: what the tensor is, how it is laid out, and its first elements where no queued work has to be
   * waited for.
   */
  inspect(): string {
    return inspectTensor(this);
  }

  /**
   * The elements, row by row without gaps whatever the strides. The copy is queued after the work that is
   * queued now, so later launches do not change what it returns.
   */
  async read(): Promise<HostArray<D>> {
    if (this.disposed) throw this.#disposedError();
    const { raw, stream } = downloadSpan(this);
    await stream.finished();
    return denseArray(this, raw);
  }

  /** Like {@linkcode read}, but blocks until the elements are here. */
  readSync(): HostArray<D> {
    if (this.disposed) throw this.#disposedError();
    const { raw, stream } = downloadSpan(this);
    stream.synchronize();
    return denseArray(this, raw);
  }

  /**
   * Reads the elements into a typed array of the caller, row by row: one that `read` returns, or of their bits
   * (`Uint16Array` for float16 and bfloat16). The copy is queued on the stream of the options, else on the one that wrote
   * last. Throws `ArgumentError` for an array of another length or type, and for one whose memory is shared or can be
   * resized.
   */
  async readInto<A extends HostArray<D> | (D extends "float16" ? Uint16Array : never)>(
    target: A,
    options: CopyOptions = {},
  ): Promise<A> {
    const on = this.#streamOf("options of readInto", options);
    checkData(target, this.dtype);
    const bytes = bytesOf(target);
    if (bytes.buffer !== target.buffer) {
      throw new ArgumentError({
        argument: "target",
        expected: "a typed array of an ArrayBuffer of fixed length",
        actual: "one whose memory is shared or resizable",
      });
    }
    this.#expectElements("target", lengthOf(target));
    const { raw, stream } = downloadBytes(this, on);
    await stream.finished();
    bytes.set(denseBytes(this, raw));
    return target;
  }

  /** A tensor of its own memory with the same elements, row by row without gaps. */
  clone(): Tensor<D, R> {
    if (this.disposed) throw this.#disposedError();
    const copy = this.#sameShape(this.dtype);
    copy.copyFrom(this);
    return copy;
  }

  /** A view of the tensor if its elements are row by row without gaps, else a copy for which they are. */
  contiguous(): Tensor<D, R> {
    return this.isContiguous ? this.#view({}) : this.clone();
  }

  /**
   * Replaces the elements by those of a tensor, or of pinned host memory, of the same type and shape. Without gaps they are
   * copied in the order of the streams and nothing waits: on the stream of the options, else on the one that wrote this
   * tensor last. Tensors with gaps are copied by way of the host, which blocks. The source may be on another device: GPUs
   * copy between each other in the order of both streams, an emulator by way of the host. Throws `ArgumentError` for
   * another type or shape, for pinned memory of another device, and for pinned memory and a tensor with gaps.
   */
  copyFrom(source: Tensor<D> | PinnedArray<D>, options: CopyOptions = {}): void {
    const isPinned = isBranded<PinnedArray<D>>("pinned", source);
    if (!isPinned) expectBranded<Tensor<D>>("tensor", source, "source of copyFrom");
    const stream = this.#streamOf("options of copyFrom", options);
    this.#expectAlike("source", source, isPinned);
    if (isPinned) copyFromPinned(this, source, stream);
    else copyTensor(this, source, stream);
  }

  /**
   * Queues a copy of the elements to pinned host memory of the same type and shape: on the stream of the options, else on
   * the one that wrote this tensor last. `await target.finished()` before they are read. Throws `ArgumentError` for another
   * type, shape or device, and for a tensor with gaps.
   */
  copyTo(target: PinnedArray<D>, options: CopyOptions = {}): void {
    expectBranded<PinnedArray<D>>("pinned", target, "target of copyTo");
    const stream = this.#streamOf("options of copyTo", options);
    this.#expectAlike("target", target);
    copyToPinned(this, target, stream);
  }

  #streamOf(argument: string, options: CopyOptions): Stream | undefined {
    if (this.disposed) throw this.#disposedError();
    checkOptions(argument, options, COPY_OPTIONS);
    const stream = own(options, "stream");
    if (stream === undefined) return undefined;
    expectBranded<Stream>("stream", stream, "stream");
    if (stream.device === this.device) return stream;
    const expected = `a stream of ${this.device.label}`;
    throw new ArgumentError({ argument: "stream", expected, actual: "one of another device" });
  }

  #expectAlike(argument: string, other: Tensor<D> | PinnedArray<D>, onDevice = true): void {
    const { dtype, shape, device }: { dtype: DType; shape: readonly number[]; device: Device } =
      other;
    if (
      dtype === this.dtype && listed(shape) === listed(this.shape) &&
      (device === this.device || !onDevice)
    ) return;
    throw new ArgumentError({
      argument,
      expected: `${this} on ${this.device.label}`,
      actual: `${other} on ${device.label}`,
    });
  }

  /**
   * Sets every element to a number, rounded to the type: integers for integer types, true or false for bool. Throws
   * `ArgumentError` for what the type does not have, and where elements of the tensor share memory.
   */
  fill(value: number | bigint | boolean): void {
    if (this.disposed) throw this.#disposedError();
    const element = expectElement("value of fill", value, this.dtype);
    fillTensor(this, element);
  }

  /**
   * A tensor of its own memory with the elements converted to another type on the host, which blocks: floats are
   * rounded once, floats become integers by truncation and saturate, integers wrap.
   */
  cast<T extends DType>(dtype: T): Tensor<T, R> {
    if (this.disposed) throw this.#disposedError();
    expectDType("dtype", dtype);
    const bytes = convertElements(this.dtype, readDense(this), dtype);
    const result = this.#sameShape(dtype);
    result.buffer.upload(bytes, 0);
    return result;
  }

  /**
   * Replaces the elements by `data`, which is row by row without gaps: a typed array, bytes or numbers, as
   * `device.tensor` takes them for the type. Blocks until they are copied. Throws `ArgumentError` for data of another
   * length or type, and where elements of the tensor share memory.
   */
  write(data: HostData<D>): void {
    if (this.disposed) throw this.#disposedError();
    const { bytes, length } = takeData(data, this.dtype);
    this.#expectElements("data", length);
    writeDense(this, bytes);
  }

  #expectElements(argument: string, length: number): void {
    if (length === this.elements) return;
    const expected = `${this.elements} elements for ${this}`;
    throw new ArgumentError({ argument, expected, actual: `${length}` });
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
      offset: this.offset + (length === 0 || this.elements === 0 ? 0 : start * stride),
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

  /** What `using` calls at the end of a block, for programs without `using`. */
  dispose(): void {
    this[Symbol.dispose]();
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

  /** A tensor with undefined content, of its own memory and of this one's shape. */
  #sameShape<T extends DType>(dtype: T): Tensor<T, R> {
    const { shape, buffer: { stream } }: { shape: readonly number[]; buffer: DeviceBuffer } = this;
    const { buffer, strides } = this.device.empty(dtype, shape, { stream });
    return new Tensor<T, R>(buffer, { dtype, shape, strides, offset: 0 }, true);
  }

  #disposedError(): DisposedError {
    return new DisposedError(`Tensor ${this}`);
  }
}
