/** Convolutions of fresh random pictures, compared with sums in double precision. */
import { conv2d } from "../../../generated/conv2d.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { denseStrides } from "../../../ffi/shape.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../assert.ts";
import { assertRounded, roundingError } from "../bounds.ts";
import { numbersOf, randomNumbers, stridedOf } from "../numbers.ts";

export type ConvolutionType = typeof conv2d.variants[number];

type Four = readonly [number, number, number, number];
type Pair = readonly [number, number];

/** A convolution; pairs are height and width. */
export interface Convolution {
  /** Pictures, height, width, channels. */
  readonly x: Four;
  /** Filters, height, width; channels are those of x. */
  readonly f: readonly [number, number, number];
  readonly stride?: Pair;
  readonly pad?: Pair;
  readonly dilation?: Pair;
  /** Memory has the channels before height and width. */
  readonly channelsFirst?: boolean;
  /** Elements between pixels that belong to no channel. */
  readonly gap?: number;
}

/** Strides of [n, h, w, c] with channels first, or last with a gap. */
function stridesOf([, h, w, c]: Four, channelsFirst: boolean, gap: number): Four {
  return channelsFirst ? [c * h * w, w, 1, h * w] : [h * w * (c + gap), w * (c + gap), c + gap, 1];
}

/** Convolves and compares; gives the name of the entry, where the device says it. */
export function checkConvolution(
  device: Device,
  dtype: ConvolutionType,
  convolution: Convolution,
  profile: boolean,
): string | undefined {
  const { x: shape, f: [filters, r, s], channelsFirst = false, gap = 0 } = convolution;
  const [stride, pad, dilation] = [
    convolution.stride ?? [1, 1],
    convolution.pad ?? [0, 0],
    convolution.dilation ?? [1, 1],
  ];
  const [pictures, , , channels] = shape;
  const filterShape = [filters, r, s, channels] as const;
  const count = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);
  const xs = randomNumbers(dtype, count(shape), 1);
  const fs = randomNumbers(dtype, count(filterShape), 1);
  const x = stridedOf(device, dtype, xs, shape, stridesOf(shape, channelsFirst, gap));
  const f = stridedOf(device, dtype, fs, filterShape, stridesOf(filterShape, channelsFirst, gap));
  const options = {
    strideH: stride[0],
    strideW: stride[1],
    padH: pad[0],
    padW: pad[1],
    dilationH: dilation[0],
    dilationW: dilation[1],
  };
  const launch = (): { result: Tensor; kernel: string | undefined } => {
    if (!profile) return { result: conv2d(x, f, options), kernel: undefined };
    const all = conv2d(x, f, { ...options, profile: true });
    return { result: all.result, kernel: all.profile.kernel };
  };
  const { result: y, kernel } = launch();
  const extent = (axis: 0 | 1, filter: number): number =>
    Math.floor(
      (must(shape[axis + 1], "extent") + 2 * pad[axis] - dilation[axis] * (filter - 1) - 1) /
        stride[axis],
    ) + 1;
  const [high, wide] = [extent(0, r), extent(1, s)];
  assertEquals([...y.shape], [pictures, high, wide, filters]);

  const ys = numbersOf(y);
  const [inX, inF] = [denseStrides(shape), denseStrides(filterShape)];
  const at = (values: readonly number[], strides: readonly number[], ...index: number[]): number =>
    values[index.reduce((sum, i, axis) => sum + i * (strides[axis] ?? 0), 0)] ?? NaN;
  let index = 0;
  for (let n = 0; n < pictures; n++) {
    for (let p = 0; p < high; p++) {
      for (let q = 0; q < wide; q++) {
        for (let k = 0; k < filters; k++) {
          let [sum, magnitude] = [0, 0];
          for (let i = 0; i < r; i++) {
            for (let j = 0; j < s; j++) {
              const h = p * stride[0] + i * dilation[0] - pad[0];
              const w = q * stride[1] + j * dilation[1] - pad[1];
              if (h < 0 || h >= shape[1] || w < 0 || w >= shape[2]) continue;
              for (let c = 0; c < channels; c++) {
                const product = at(xs, inX, n, h, w, c) * at(fs, inF, k, i, j, c);
                sum += product;
                magnitude += Math.abs(product);
              }
            }
          }
          const error = roundingError("float32", magnitude, r * s * channels + 1);
          assertRounded(
            dtype,
            ys[index++] ?? NaN,
            sum,
            error,
            () => `${dtype} ${JSON.stringify(convolution)} [${n}, ${p}, ${q}, ${k}]`,
          );
        }
      }
    }
  }
  for (const tensor of [x, f, y]) tensor.buffer[Symbol.dispose]();
  return kernel;
}
