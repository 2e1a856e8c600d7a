/** What consoles print of a tensor. */
import { cornerShape, cornerText } from "./corner.ts";
import { elementReader } from "./elements.ts";
import { listed } from "./shape.ts";
import type { Tensor } from "./tensor.ts";
import { readDense } from "./tensor_copy.ts";

/** Three lines: type, shape and device; the layout; the first elements where no queued work has to be waited for. */
export function inspectTensor(tensor: Tensor): string {
  const { device, offset, spanBytes } = tensor;
  const state = tensor.disposed ? "disposed" : `on ${device}`;
  const gaps = tensor.isContiguous ? "contiguous" : `strides ${listed(tensor.strides)}`;
  const layout = `${gaps}, offset ${offset}, ${spanBytes} bytes`;
  return [`Tensor ${tensor} ${state}`, layout, cornerOf(tensor)].join("\n");
}

function cornerOf(tensor: Tensor): string {
  if (tensor.disposed) return "";
  const { stream } = tensor.buffer;
  if (stream.recording !== undefined) return "values: not while its stream is captured";
  if (!tensor.device.enter().isStreamDone(stream.handle)) return "values: queued work changes them";
  const { dtype } = tensor;
  const corner = cornerShape(tensor.shape)
    .reduce((view, length, axis) => view.narrow(axis, 0, length), tensor);
  const read = elementReader(dtype, readDense(corner));
  return cornerText(tensor.shape, dtype === "bool" ? (index) => read(index) !== 0 : read);
}
