/** Convolutions of fresh random pictures and their gradients, compared with sums in double precision. */
import { addParts } from "../../../generated/add_parts.ts";
import { conv2d } from "../../../generated/conv2d.ts";
import { conv2dBackwardData, conv2dBackwardWeights } from "../../../generated/conv2d_backward.ts";
import type { groupedConv2d } from "../../../generated/grouped_conv2d.ts";
import type {
  groupedConv2dBackwardData,
  groupedConv2dBackwardWeights,
} from "../../../generated/grouped_conv2d_backward.ts";
import type { Device, Tensor } from "../../../ffi/mod.ts";
import { denseStrides } from "../../../ffi/tensors/shape.ts";
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
  /** Filters, height, width; channels are those of a group of x. */
  readonly f: readonly [number, number, number];
  /** Groups of channels and filters; one by default. */
  readonly groups?: number;
  readonly stride?: Pair;
  readonly pad?: Pair;
  readonly dilation?: Pair;
  /** Memory has the channels before height and width. */
  readonly channelsFirst?: boolean;
  /** Elements between pixels that belong to no channel. */
  readonly gap?: number;
  /** Parts in which the gradient by the filters is computed. */
  readonly splits?: number;
}

/** Small convolutions for each way in which instances access memory. */
export const SMALL = {
  odd: [
    {
      x: [2, 9, 7, 3],
      f: [5, 3, 2],
      stride: [2, 1],
      pad: [1, 2],
      dilation: [1, 2],
      gap: 1,
      splits: 2,
    },
    { x: [1, 5, 6, 11], f: [3, 3, 3], pad: [1, 1], channelsFirst: true, splits: 3 },
    { x: [1, 1, 1, 1], f: [1, 1, 1] },
    { x: [1, 5, 4, 6], f: [9, 2, 3], pad: [0, 1], groups: 3, splits: 2 },
    // Each channel by itself, and with two filters each.
    { x: [2, 4, 5, 8], f: [8, 3, 3], pad: [1, 1], groups: 8 },
    { x: [1, 4, 5, 5], f: [10, 2, 2], stride: [2, 1], groups: 5, channelsFirst: true },
  ],
  /** Few channels, filters without gaps, and results of whole vectors. */
  few: [
    { x: [2, 9, 7, 3], f: [8, 3, 2], stride: [2, 1], pad: [1, 2], dilation: [1, 2], splits: 2 },
  ],
  /** Channels that are whole vectors. */
  aligned: [
    { x: [2, 6, 7, 40], f: [24, 3, 3], stride: [1, 2], pad: [1, 1], gap: 8, splits: 2 },
  ],
  /** Groups whose channels and filters are whole vectors. */
  grouped: [
    { x: [2, 6, 5, 48], f: [48, 3, 2], stride: [2, 1], pad: [1, 1], gap: 8, groups: 3, splits: 2 },
    { x: [1, 5, 7, 16], f: [144, 2, 3], dilation: [2, 1], pad: [1, 3], groups: 2, splits: 3 },
    { x: [1, 7, 4, 144], f: [16, 3, 1], pad: [2, 0], groups: 2 },
    // Channels or filters of a group that are whole steps, and tiles that reach into the next group.
    { x: [2, 6, 5, 192], f: [72, 3, 2], stride: [2, 1], pad: [1, 1], gap: 8, groups: 3, splits: 2 },
    { x: [1, 5, 7, 24], f: [192, 2, 3], dilation: [2, 1], pad: [1, 3], groups: 3, splits: 3 },
    { x: [2, 4, 5, 256], f: [144, 3, 3], pad: [1, 1], groups: 2, splits: 2 },
    { x: [1, 4, 6, 128], f: [128, 3, 3], stride: [2, 2], pad: [1, 1], groups: 2 },
  ],
} as const satisfies Readonly<Record<string, readonly Convolution[]>>;

/** The tensors of a convolution: Y is made of X and F. */
type Name = "x" | "f" | "y";

/** A convolution with everything that follows from its sizes. */
interface Whole {
  readonly convolution: Convolution;
  readonly shapes: Readonly<Record<Name, Four>>;
  readonly options: {
    readonly strideH: number;
    readonly strideW: number;
    readonly padH: number;
    readonly padW: number;
    readonly dilationH: number;
    readonly dilationW: number;
    readonly groups: number;
  };
}

function wholeOf(convolution: Convolution): Whole {
  const { x, f: [filters, r, s], groups = 1 } = convolution;
  const [strideH, strideW] = convolution.stride ?? [1, 1];
  const [padH, padW] = convolution.pad ?? [0, 0];
  const [dilationH, dilationW] = convolution.dilation ?? [1, 1];
  const [pictures, height, width, channels] = x;
  const high = Math.floor((height + 2 * padH - dilationH * (r - 1) - 1) / strideH) + 1;
  const wide = Math.floor((width + 2 * padW - dilationW * (s - 1) - 1) / strideW) + 1;
  return {
    convolution,
    shapes: { x, f: [filters, r, s, channels / groups], y: [pictures, high, wide, filters] },
    options: { strideH, strideW, padH, padW, dilationH, dilationW, groups },
  };
}

/** Strides of [n, h, w, c] with channels first, or last with a gap. */
function stridesOf([, h, w, c]: Four, { channelsFirst = false, gap = 0 }: Convolution): Four {
  return channelsFirst ? [c * h * w, w, 1, h * w] : [h * w * (c + gap), w * (c + gap), c + gap, 1];
}

const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** A tensor of fresh numbers, in the storage of the convolution. */
function operandOf<D extends ConvolutionType>(
  device: Device,
  dtype: D,
  name: Name,
  { shapes, convolution }: Whole,
): { readonly tensor: Tensor<D, 4>; readonly values: readonly number[] } {
  const shape = shapes[name];
  const values = randomNumbers(dtype, countOf(shape), 1);
  const tensor = stridedOf(device, dtype, values, shape, stridesOf(shape, convolution));
  return { tensor, values };
}

/** Visits each product of the convolution: indices of an element of Y, one of F and one of X, of dense tensors. */
function eachProduct(
  { shapes, options }: Whole,
  visit: (at: Readonly<Record<Name, number>>) => void,
): void {
  const { x: [, height, width], f: [filters, rows, columns, channels] } = shapes;
  const [inX, inF] = [denseStrides(shapes.x), denseStrides(shapes.f)];
  const place = (strides: readonly number[], ...index: number[]): number =>
    index.reduce((sum, i, axis) => sum + i * (strides[axis] ?? 0), 0);
  const [pictures, high, wide] = shapes.y;
  let y = 0;
  for (let n = 0; n < pictures; n++) {
    for (let p = 0; p < high; p++) {
      for (let q = 0; q < wide; q++) {
        for (let k = 0; k < filters; k++, y++) {
          const first = Math.floor(k * options.groups / filters) * channels;
          for (let r = 0; r < rows; r++) {
            const h = p * options.strideH + r * options.dilationH - options.padH;
            if (h < 0 || h >= height) continue;
            for (let s = 0; s < columns; s++) {
              const w = q * options.strideW + s * options.dilationW - options.padW;
              if (w < 0 || w >= width) continue;
              const [x, f] = [place(inX, n, h, w, first), place(inF, k, r, s, 0)];
              for (let c = 0; c < channels; c++) visit({ y, f: f + c, x: x + c });
            }
          }
        }
      }
    }
  }
}

/** Compares what a kernel made of two of the tensors with sums of their products. */
function assertSums(
  whole: Whole,
  dtype: ConvolutionType,
  found: readonly number[],
  [result, a, b]: readonly [Name, Name, Name],
  values: Readonly<Partial<Record<Name, readonly number[]>>>,
): void {
  const size = countOf(whole.shapes[result]);
  assertEquals(found.length, size);
  const [sums, magnitudes, terms] = [0, 1, 2].map(() => new Float64Array(size));
  if (sums === undefined || magnitudes === undefined || terms === undefined) return;
  eachProduct(whole, (at) => {
    const product = (values[a]?.[at[a]] ?? NaN) * (values[b]?.[at[b]] ?? NaN);
    const index = at[result];
    sums[index] = (sums[index] ?? NaN) + product;
    magnitudes[index] = (magnitudes[index] ?? NaN) + Math.abs(product);
    terms[index] = (terms[index] ?? NaN) + 1;
  });
  found.forEach((value, index) => {
    const error = roundingError("float32", magnitudes[index] ?? NaN, (terms[index] ?? NaN) + 1);
    const what = (): string => `${dtype} ${JSON.stringify(whole.convolution)} ${result}[${index}]`;
    assertRounded(dtype, value, sums[index] ?? NaN, error, what);
  });
}

function dispose(...tensors: readonly Tensor[]): void {
  for (const { buffer } of tensors) buffer[Symbol.dispose]();
}

/** What a kernel made of two of the tensors. */
interface Made {
  readonly result: Tensor;
  /** The name of the entry, where the device says it. */
  readonly kernel: string | undefined;
  /** What else was made on the way. */
  readonly between?: Tensor;
}

type Operand = Tensor<ConvolutionType, 4>;

/** Lets a kernel make one of the tensors of the other two, and compares it; gives the name of the entry. */
function checkMade(
  device: Device,
  dtype: ConvolutionType,
  convolution: Convolution,
  [result, a, b]: readonly [Name, Name, Name],
  make: (left: Operand, right: Operand, whole: Whole) => Made,
): string | undefined {
  const whole = wholeOf(convolution);
  const [left, right] = [operandOf(device, dtype, a, whole), operandOf(device, dtype, b, whole)];
  const made = make(left.tensor, right.tensor, whole);
  const values = { [a]: left.values, [b]: right.values };
  assertSums(whole, dtype, numbersOf(made.result), [result, a, b], values);
  dispose(
    left.tensor,
    right.tensor,
    made.result,
    ...made.between === undefined ? [] : [made.between],
  );
  return made.kernel;
}

/** Convolves and compares; gives the name of the entry, where the device says it. */
export function checkConvolution(
  device: Device,
  dtype: ConvolutionType,
  convolution: Convolution,
  profile: boolean,
  convolve: typeof conv2d | typeof groupedConv2d = conv2d,
): string | undefined {
  return checkMade(device, dtype, convolution, ["y", "x", "f"], (x, f, { options, shapes }) => {
    const all = profile ? convolve(x, f, { ...options, profile: true }) : undefined;
    const result = all?.result ?? convolve(x, f, options);
    assertEquals([...result.shape], [...shapes.y]);
    return { result, kernel: all?.profile.kernel };
  });
}

/** The gradient by the pictures: computed and compared; gives the name of the entry, where the device says it. */
export function checkDataGradient(
  device: Device,
  dtype: ConvolutionType,
  convolution: Convolution,
  profile: boolean,
  derive: typeof conv2dBackwardData | typeof groupedConv2dBackwardData = conv2dBackwardData,
): string | undefined {
  return checkMade(device, dtype, convolution, ["x", "y", "f"], (y, f, whole) => {
    // Numbers that the kernel has to replace.
    const out = operandOf(device, dtype, "x", whole).tensor;
    const options = { ...whole.options, out };
    if (!profile) return { result: derive(y, f, options), kernel: undefined };
    const all = derive(y, f, { ...options, profile: true });
    return { result: all.result, kernel: all.profile.kernel };
  });
}

/** The gradient by the filters: computed in parts, added and compared; gives the name of the entry that makes the parts. */
export function checkWeightsGradient(
  device: Device,
  dtype: ConvolutionType,
  convolution: Convolution,
  profile: boolean,
  derive: typeof conv2dBackwardWeights | typeof groupedConv2dBackwardWeights =
    conv2dBackwardWeights,
): string | undefined {
  return checkMade(device, dtype, convolution, ["f", "y", "x"], (y, x, whole) => {
    const [filters, r, s, channels] = whole.shapes.f;
    const options = { ...whole.options, r, s, splits: convolution.splits ?? 1 };
    const all = profile ? derive(y, x, { ...options, profile: true }) : undefined;
    const between = all?.result ?? derive(y, x, options);
    const out = device.empty(dtype, [filters, r * s * channels]);
    return { result: addParts(between, { out }), between, kernel: all?.profile.kernel };
  });
}
