/**
 * Copies between tensors and host memory. Elements without gaps are copied as they lie; others by way of the host,
 * which has the whole span and takes elements out of it or puts them in.
 */
import { type DType, DTYPES, type HostArray, hostArray, type HostBytes } from "../dtype.ts";
import { type Element, fillElements } from "./elements.ts";
import { ArgumentError } from "../errors.ts";
import { bytesOf } from "./host.ts";
import type { PinnedArray } from "../memory/pinned.ts";
import { arePeers, copyFromPeer } from "../memory/peers.ts";
import { overlapsItself } from "./self_overlap.ts";
import { gather, listed, scatter } from "./shape.ts";
import type { Stream } from "../stream.ts";
import type { Tensor } from "./tensor.ts";

/** Elements that `fill` copies from the host; it doubles them on the device. */
const FILL_ELEMENTS = 4096;

/** Memory that a queued copy fills; the stream's work must be done before it is read. */
export interface Download<T> {
  readonly raw: T;
  readonly stream: Stream;
}

/** Queues a copy of the tensor's whole span to a typed array. */
export function downloadSpan<D extends DType>(
  tensor: Tensor<D>,
  stream?: Stream,
): Download<HostArray<D>> {
  const { dtype, spanBytes } = tensor;
  const raw = hostArray(dtype, spanBytes / DTYPES[dtype].bytes);
  return { raw, stream: downloadTo(tensor, bytesOf(raw), stream) };
}

/** The same as bytes, for types that the runtime may have no array of. */
export function downloadBytes(tensor: Tensor, stream?: Stream): Download<HostBytes> {
  const raw = bytesOf(hostArray("uint8", tensor.spanBytes));
  return { raw, stream: downloadTo(tensor, raw, stream) };
}

function downloadTo(tensor: Tensor, bytes: HostBytes, stream: Stream | undefined): Stream {
  return tensor.buffer.download(bytes, tensor.offset * DTYPES[tensor.dtype].bytes, stream);
}

/** The elements of a span that was read, row by row. */
export function denseArray<D extends DType>(tensor: Tensor<D>, raw: HostArray<D>): HostArray<D> {
  if (tensor.isContiguous) return raw;
  const dense = hostArray(tensor.dtype, tensor.elements);
  gatherFrom(tensor, bytesOf(dense), bytesOf(raw));
  return dense;
}

/** The same as bytes. */
export function denseBytes(tensor: Tensor, raw: HostBytes): HostBytes {
  if (tensor.isContiguous) return raw;
  const dense = bytesOf(hostArray("uint8", tensor.elements * DTYPES[tensor.dtype].bytes));
  gatherFrom(tensor, dense, raw);
  return dense;
}

function gatherFrom({ dtype, shape, strides }: Tensor, dense: HostBytes, raw: HostBytes): void {
  gather(dense, raw, { shape, strides, elementBytes: DTYPES[dtype].bytes });
}

/** The elements, row by row; blocks. */
export function readDense(tensor: Tensor): HostBytes {
  const { raw, stream } = downloadBytes(tensor);
  stream.synchronize();
  return denseBytes(tensor, raw);
}

/** Replaces the elements by those in host memory, row by row; blocks. */
export function writeDense(tensor: Tensor, dense: HostBytes): void {
  const { dtype, shape, strides, offset, buffer } = tensor;
  let bytes = dense;
  if (overlapsItself(shape, strides)) {
    throw new ArgumentError({
      argument: "this",
      expected: "a tensor whose elements lie apart",
      actual: `${tensor} with strides ${listed(strides)}`,
    }, { hint: "write to the tensor that it repeats elements of" });
  }
  const elementBytes = DTYPES[dtype].bytes;
  if (!tensor.isContiguous) {
    // The gaps between the elements must survive: read the whole span, change the elements, write it back.
    const { raw: span, stream } = downloadBytes(tensor);
    stream.synchronize();
    const aligned = dense.byteOffset % elementBytes === 0 ? dense : dense.slice();
    scatter(span, aligned, { shape, strides, elementBytes });
    bytes = span;
  }
  buffer.upload(bytes, offset * elementBytes);
}

/** Replaces the elements by those of a tensor of the same type and shape, on any device. */
export function copyTensor(to: Tensor, from: Tensor, stream: Stream = to.buffer.stream): void {
  const isDirect = to.isContiguous && from.isContiguous && to.buffer !== from.buffer &&
    arePeers(to.device, from.device);
  if (!isDirect) return writeDense(to, readDense(from));
  if (to.device !== from.device) return copyFromPeer(to, from, stream);
  const source = from.address;
  from.buffer.use(stream, false);
  to.buffer.use(stream, true);
  if (to.spanBytes === 0) return;
  to.device.enter().copyOnDevice(to.address, source, to.spanBytes, stream.handle);
}

/** Sets every element. */
export function fillTensor(tensor: Tensor, element: Element): void {
  const { elements, dtype, buffer, offset, spanBytes } = tensor;
  const isDense = tensor.isContiguous;
  const first = isDense ? Math.min(elements, FILL_ELEMENTS) : elements;
  const bytes = fillElements(dtype, first, () => element);
  if (!isDense) return writeDense(tensor, bytes);
  buffer.upload(bytes, offset * DTYPES[dtype].bytes);
  const { stream } = buffer;
  const driver = tensor.device.enter();
  for (let done = bytes.length; done < spanBytes;) {
    const length = Math.min(done, spanBytes - done);
    driver.copyOnDevice(tensor.address + BigInt(done), tensor.address, length, stream.handle);
    done += length;
  }
}

/** Queues a copy from pinned memory; nothing waits for it. */
export function copyFromPinned(
  to: Tensor,
  from: PinnedArray,
  stream: Stream = to.buffer.stream,
): void {
  expectDense(to);
  from.queue(stream, false, (bytes) => {
    to.buffer.use(stream, true);
    if (bytes.length === 0) return;
    to.device.enter().copyToDevice(to.address, bytes, stream.handle);
  });
}

/** Queues a copy to pinned memory; nothing waits for it. */
export function copyToPinned(
  from: Tensor,
  to: PinnedArray,
  stream: Stream = from.buffer.stream,
): void {
  expectDense(from);
  to.queue(stream, true, (bytes) => {
    from.buffer.use(stream, false);
    if (bytes.length === 0) return;
    from.device.enter().copyToHost(bytes, from.address, stream.handle);
  });
}

function expectDense(tensor: Tensor): void {
  if (tensor.isContiguous) return;
  throw new ArgumentError({
    argument: "this",
    expected: "a tensor without gaps, because the copy is not done by the host",
    actual: `${tensor} with strides ${listed(tensor.strides)}`,
  }, { hint: "copy to a contiguous tensor and rearrange it on the device" });
}
