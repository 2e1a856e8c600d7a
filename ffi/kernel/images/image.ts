/** Which of a kernel's images a device runs, and loading it. */
import { decompress } from "./decompress.ts";
import { BUNDLED, fromBase64, readFile } from "./file.ts";
import type { Device } from "../../device.ts";
import type { DeviceInfo, Driver } from "../../driver.ts";
import { CudaError, ImageError } from "../../errors.ts";
import type { KernelModule } from "../../module.ts";
import type { ImageFacts, KernelFacts } from "../facts/facts.ts";

/** A loaded image. */
export interface LoadedImage {
  readonly module: KernelModule;
  readonly target: string;
  /** The text of a PTX image. */
  readonly ptx: string | undefined;
  readonly startsEarly: boolean;
}

interface Target {
  readonly sm: number;
  /** The code runs on this architecture alone. */
  readonly isExact: boolean;
}

/** Reads "sm_90a"; undefined for what is not of that form. */
function parseTarget(target: string): Target | undefined {
  const match = /^sm_(\d+)(a?)$/.exec(target);
  return match === null ? undefined : { sm: Number(match[1]), isExact: match[2] === "a" };
}

/**
 * How well an image suits a device: larger is better, 0 is not at all. Cubins run on their own architecture
 * and on later ones of the same major version; PTX on everything later; code for an `a` target on that
 * architecture alone (CUDA programming guide, binary and PTX compatibility).
 */
function suitability({ target, kind }: ImageFacts, { sm }: DeviceInfo): number {
  const code = parseTarget(target);
  if (code === undefined || code.sm > sm || (code.isExact && code.sm !== sm)) return 0;
  if (kind === "cubin" && Math.floor(code.sm / 10) !== Math.floor(sm / 10)) return 0;
  const exactness = code.isExact ? 0.5 : 0;
  return (kind === "cubin" ? 10000 : 0) + code.sm + exactness;
}

/** The images that a device can run, the best first; `kinds` are those that its driver loads. */
export function chooseImages(
  images: readonly ImageFacts[],
  info: DeviceInfo,
  kinds: Driver["imageKinds"],
): readonly ImageFacts[] {
  return images.filter(({ kind }) => kinds.includes(kind)).map((image) => ({
    image,
    rank: suitability(image, info),
  }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ image }) => image);
}

/** Loads the best image that the device's driver takes. */
export function loadImage<Name extends string>(
  facts: KernelFacts<Name>,
  device: Device,
): LoadedImage {
  let refusal: unknown;
  for (const image of chooseImages(facts.images, device.info, device.driver.imageKinds)) {
    const name = imageName(facts.name, image);
    const bytes = readImage(image, name);
    try {
      return {
        module: device.loadModule(bytes, name),
        target: image.target,
        ptx: image.kind === "ptx" ? new TextDecoder().decode(bytes) : undefined,
        startsEarly: image.startsEarly ?? false,
      };
    } catch (error) {
      if (!isWrongDriver(error)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  const present = facts.images.map(({ target, kind }) => `${target} (${kind})`).join(", ");
  throw new ImageError(
    facts.name,
    `there is none for ${device.label}, which is ${device.arch}; there is ${
      present || "no image at all"
    }`,
    { hint: `build one with \`tri build --arch ${device.arch}\`` },
  );
}

function imageName(kernel: string, image: ImageFacts): string {
  return `${kernel}.${image.target}.${image.kind}`;
}

function readImage(image: ImageFacts, name: string): Uint8Array {
  const stored = "url" in image ? readFile(imageUrl(image.url, name)) : fromBase64(image.base64);
  const { bytes, uncompressedBytes, part } = image;
  if (bytes !== undefined && stored.length !== bytes) {
    throw new ImageError(
      name,
      `it has ${stored.length} bytes, and that of the wrapper's build had ${bytes}`,
    );
  }
  if (uncompressedBytes === undefined) return stored;
  if (part === undefined) return decompress(stored, uncompressedBytes, name);
  const all = decompress(stored, part.total, name);
  // A copy, so that the code of other targets is not kept.
  return all.slice(part.offset, part.offset + uncompressedBytes);
}

/** Bundles in CommonJS have no URL that images could be relative to. */
function imageUrl(url: () => URL, name: string): URL {
  try {
    return url();
  } catch (cause) {
    throw new ImageError(name, "its wrapper has no import.meta.url", { hint: BUNDLED, cause });
  }
}

/** The image is sound, but this driver is too old for it; an older one may do. */
function isWrongDriver(error: unknown): boolean {
  const cause = error instanceof ImageError ? error.cause : error;
  return cause instanceof CudaError &&
    (cause.cudaName === "CUDA_ERROR_NO_BINARY_FOR_GPU" ||
      cause.cudaName === "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
}
