/** Whether two tensors share memory, as far as their strides show. */
import { DTYPES } from "../../dtype.ts";
import type { Tensor } from "../../tensors/tensor.ts";

/** Whether the memory that two tensors span has a byte in common, other than between the rows of one of them. */
export function overlap(a: Tensor, b: Tensor): boolean {
  const distance = Number(b.address - a.address);
  return a.spanBytes > 0 && b.spanBytes > 0 && distance < a.spanBytes && -distance < b.spanBytes &&
    !liesBetweenRows(a, b);
}

/** Stretches of memory by number; `end` is excluded. */
export interface Stretches {
  readonly start: readonly number[];
  readonly end: readonly number[];
}

/** Whether two of the stretches have a byte in common. */
export function meets({ start, end }: Stretches, one: number, two: number): boolean {
  const [oneStart, oneEnd] = [start[one] ?? 0, end[one] ?? 0];
  const [twoStart, twoEnd] = [start[two] ?? 0, end[two] ?? 0];
  return oneStart < oneEnd && twoStart < twoEnd && oneStart < twoEnd && twoStart < oneEnd;
}

/**
 * Whether two tensors whose stretches meet may still lie apart, as columns of one matrix do: both are rows of
 * the same pitch, and modulo that pitch their rows do not meet. False: not known to lie apart.
 */
export function liesBetweenRows(a: Tensor, b: Tensor): boolean {
  const [rows, others] = [rowsOf(a), rowsOf(b)];
  if (rows === undefined || others === undefined || rows.pitch !== others.pitch) return false;
  const distance = Number((b.address - a.address) % BigInt(rows.pitch));
  const offset = distance < 0 ? distance + rows.pitch : distance;
  return offset >= rows.bytes && offset + others.bytes <= rows.pitch;
}

/** Whether two tensors are the same elements in the same order. */
export function isSameMemory(a: Tensor, b: Tensor): boolean {
  return a.address === b.address && a.dtype === b.dtype && a.shape.length === b.shape.length &&
    a.shape.every((extent, axis) => extent === b.shape[axis]) &&
    a.strides.every((stride, axis) => stride === b.strides[axis]);
}

/** A tensor as equally spaced rows of bytes; undefined when it is not of that form. */
function rowsOf(tensor: Tensor): { readonly pitch: number; readonly bytes: number } | undefined {
  const { bytes } = DTYPES[tensor.dtype];
  const axes = [...tensor.shape.keys()].filter((axis) => (tensor.shape[axis] ?? 0) > 1);
  const stride = (axis: number): number => tensor.strides[axis] ?? 0;
  const outer = axes.toSorted((a, b) => stride(b) - stride(a))[0];
  if (outer === undefined) return undefined;
  const inside = axes.filter((axis) => axis !== outer);
  const elements = inside.reduce(
    (span, axis) => span + ((tensor.shape[axis] ?? 1) - 1) * stride(axis),
    1,
  );
  return { pitch: stride(outer) * bytes, bytes: elements * bytes };
}
