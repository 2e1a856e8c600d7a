/** What wrappers are generated from. */
import type { KernelOutline } from "../compiler/options.ts";
import type { ChosenNames } from "./plan.ts";

/** What a wrapper is made from. */
export interface WrapperInput {
  readonly source: { readonly name: string; readonly text: string };
  /** Version of tri. */
  readonly generator: string;
  /** Path of the wrapper from the output folder, without `.ts`. */
  readonly stem: string;
  readonly kernels: readonly KernelOutline[];
  /** In the order that the wrapper shall list them. */
  readonly images: readonly WrapperImage[];
  /** What tuning measured, for kernels that were compiled in several configurations. */
  readonly measured?: readonly Measured[];
  /** The names to export, by kernel, in place of those that follow from the kernels' names. */
  readonly exports?: ChosenNames;
  /** Puts the images into the module instead of naming their files. */
  readonly embed: boolean;
  /** JavaScript with declarations and a map to the source, instead of TypeScript. */
  readonly javascript?: {
    /** The source's path from the wrapper's folder, with slashes. */
    readonly sourcePath: string;
  };
  /** Where wrappers import the run time from; the package when absent. */
  readonly runtime?: string;
}

/** Which configurations were the fastest, of some instances of a kernel on one kind of GPU. */
export interface Measured {
  readonly kernel: string;
  readonly variant: string;
  /** `general`, or what entries' names end in: `a16`, `s1`. */
  readonly specialization: string;
  /** The product's name. */
  readonly gpu: string;
  /** Such as "sm_90". */
  readonly arch: string;
  /** By values of the kernel's key; configurations with their microseconds, the fastest first. */
  readonly points: readonly {
    readonly at: Readonly<Record<string, number>>;
    readonly timings: readonly { readonly config: string; readonly microseconds: number }[];
  }[];
}

/** An image of a kernel. */
export interface WrapperImage {
  readonly kernel: string;
  /** Such as "sm_90". */
  readonly target: string;
  readonly kind: "cubin" | "ptx";
  /** Path from the wrapper's folder, such as "transpose/transpose.sm_90.cubin". */
  readonly path: string;
  /** Size of the content. */
  readonly bytes: number;
  /** SHA-256 of the content, 64 hexadecimal digits. */
  readonly sha256: string;
  /** Its content is compressed by Brotli; how many bytes it has otherwise. */
  readonly uncompressedBytes?: number;
  /** It is a part of what the content decompresses to: where it begins, and the size of all. */
  readonly part?: { readonly offset: number; readonly total: number };
  /** Read only if it is embedded in the module. */
  readonly content: () => Uint8Array;
}
