/** Filters of pictures on the GPU: pixels as a canvas gives them in, pixels of the same size out. */
import type { Device, Tensor } from "@tri/tri/ffi";
import { adjust, blur } from "../../generated/examples/images/filters.ts";

/** What `ImageData` of a canvas is: four bytes a pixel, row by row. */
export interface Picture {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** How to filter; absent values change nothing. */
export interface Filters {
  /** Standard deviation of a Gaussian blur, in pixels. */
  readonly blur?: number;
  /** 0 is grey, 1 leaves colours as they are. */
  readonly saturation?: number;
  /** 1 leaves it as it is. */
  readonly contrast?: number;
  /** Added to colours from 0 to 255. */
  readonly brightness?: number;
}

/** Weights of a Gaussian blur: three standard deviations on both sides, with sum 1. */
export function gaussianWeights(deviation: number): Float32Array<ArrayBuffer> {
  const radius = Math.ceil(3 * deviation);
  const weights = Array.from(
    { length: 2 * radius + 1 },
    (_, i) => Math.exp(-((i - radius) ** 2) / (2 * deviation ** 2)),
  );
  const sum = weights.reduce((a, b) => a + b);
  return Float32Array.from(weights, (weight) => weight / sum);
}

/** Applies the filters to a picture: one copy to the device, one back, no copy between the kernels. */
export async function filterPicture(
  device: Device,
  picture: Picture,
  { blur: deviation = 0, saturation = 1, contrast = 1, brightness = 0 }: Filters,
): Promise<Picture> {
  const { data, width, height } = picture;
  using pixels = device.tensor(data, [height, width, 4]);
  using adjusted = adjust(pixels, { saturation, contrast, brightness });
  using filtered = deviation > 0 ? blurBoth(device, adjusted, deviation) : adjusted.clone();
  const bytes = await filtered.read();
  return { data: new Uint8ClampedArray(bytes.buffer), width, height };
}

/** Blurs along rows, then along columns: the second call sees the picture with its first two axes exchanged. */
function blurBoth(
  device: Device,
  pixels: Tensor<"uint8", 3>,
  deviation: number,
): Tensor<"uint8", 3> {
  using weights = device.tensor(gaussianWeights(deviation));
  using rows = blur(pixels, weights);
  const result = device.empty("uint8", pixels.shape);
  blur(rows.permute([1, 0, 2]), weights, { out: result.permute([1, 0, 2]) });
  return result;
}
