/** What `manifest.json` says of a kernel, for tools in any language: plain data. */
import type { InstanceInfo } from "../compiler/contract/types.ts";
import type { CompiledEntry, CompiledKernel } from "../compiler/options.ts";
import type { WrapperImage } from "./wrapper.ts";

/** One kernel. Its instances are the entries of each of its images. */
export interface KernelManifest {
  /** Rises when a reader of the old form would misunderstand the new one. */
  readonly schema: 1;
  readonly name: string;
  readonly doc: string;
  readonly instances: readonly InstanceInfo[];
  readonly images: readonly ImageManifest[];
}

/** Code for one target. */
export interface ImageManifest {
  readonly target: string;
  readonly kind: "cubin" | "ptx";
  /** Path from the wrapper's folder; absent when the wrapper holds the image. */
  readonly path?: string;
  /** What launching each entry takes. */
  readonly entries: readonly CompiledEntry[];
}

/** The manifest's facts of one kernel. */
export function buildManifest(
  { name, doc, instances, modules }: CompiledKernel,
  images: readonly WrapperImage[],
  embed: boolean,
): KernelManifest {
  return {
    schema: 1,
    name,
    doc,
    instances,
    images: images.filter(({ kernel }) => kernel === name).map(({ target, kind, path }) => ({
      target,
      kind,
      ...embed ? {} : { path },
      entries: modules.find((module) => module.target === target)?.entries ?? [],
    })),
  };
}
