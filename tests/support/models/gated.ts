/** Gated linear units and their derivatives. */
import { geglu, gegluBackward, swiglu, swigluBackward } from "../../../generated/gated.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { erf } from "../reference/erf.ts";
import { matrixOf, randomNumbers } from "../numbers.ts";
import { assertWithin, at, type Expected, type ModelFloat } from "./compare.ts";

/** A gate and its slope, each with its magnitude. */
type Gate = (x: number) => { readonly value: Expected; readonly slope: Expected };

const swish: Gate = (x) => {
  const open = 1 / (1 + Math.exp(-x));
  return {
    value: [x * open, Math.abs(x * open)],
    slope: [open * (1 + x * (1 - open)), open * (1 + Math.abs(x) * (1 - open))],
  };
};

const gelu: Gate = (x) => {
  const cdf = (1 + erf(x / Math.SQRT2)) / 2;
  const density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  return {
    value: [x * cdf, Math.abs(x)],
    slope: [cdf + x * density, 1 + Math.abs(x) * density],
  };
};

/** swiglu(), geglu() and their derivatives, of matrices with gaps after their rows. */
export function checkGated(
  device: Device,
  dtype: ModelFloat,
  [rows, columns]: readonly [number, number],
): void {
  const shape = [rows, columns] as const;
  const [g, u, d] = [4, 3, 2].map((size) => randomNumbers(dtype, rows * columns, size));
  const [gates, ups, slopes] = [g ?? [], u ?? [], d ?? []];
  using gate = matrixOf(device, dtype, gates, shape, 3);
  using up = matrixOf(device, dtype, ups, shape, 8);
  using dy = matrixOf(device, dtype, slopes, shape);
  const times = ([exact, magnitude]: Expected, factor: number): Expected => [
    exact * factor,
    magnitude * Math.abs(factor),
  ];
  for (
    const [name, forward, backward, unit] of [
      ["swiglu", swiglu, swigluBackward, swish],
      ["geglu", geglu, gegluBackward, gelu],
    ] as const
  ) {
    const units = gates.map(unit);
    const check = (tensor: Tensor, expected: readonly Expected[], what: string): void => {
      assertWithin(tensor, expected, `${what} of ${name} of ${gate}`);
      tensor[Symbol.dispose]();
    };
    check(forward(gate, up), units.map(({ value }, i) => times(value, at(ups, i))), "result");
    const { dGate, dUp } = backward(gate, up, dy);
    check(dUp, units.map(({ value }, i) => times(value, at(slopes, i))), "dUp");
    check(
      dGate,
      units.map(({ slope }, i) => times(times(slope, at(ups, i)), at(slopes, i))),
      "dGate",
    );
  }
}
