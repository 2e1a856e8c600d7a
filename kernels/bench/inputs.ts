/** Random operands: a GPU computes zeros with less power, and so at higher clocks, than numbers. */
import type { Device, HalfArray, Tensor } from "@tri/tri/ffi";

/** How many different numbers there are; more would only take longer to draw. */
const DRAWN = 2 ** 20;

/** Float types that operands are made of. */
export type FloatDType = "float32" | "float16";

/** A tensor of about normal numbers: the same in every run, repeated after a million. */
export function normal<D extends FloatDType, const S extends readonly number[]>(
  device: Device,
  dtype: D,
  shape: S,
): Tensor<D, S["length"]> {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const data: Float32Array | HalfArray = dtype === "float32"
    ? new Float32Array(count)
    : new Float16Array(count);
  let state = 1;
  const uniform = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const drawn = Math.min(count, DRAWN);
  // Of twelve uniform numbers the sum has variance 1; four, scaled, are near enough.
  for (let i = 0; i < drawn; i++) {
    data[i] = (uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3);
  }
  for (let end = drawn; end < count; end *= 2) data.copyWithin(end, 0, end);
  return device.tensor(new DataView(data.buffer), shape, { dtype });
}
