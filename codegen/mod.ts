/**
 * From compiled kernels to TypeScript: wrappers, the index of a folder, facts for the manifest. What is to be
 * written is decided as plain data; ts-morph, which writes it, is loaded only when there is something to write.
 */
import { buildIndex, type IndexedModule } from "./index_module.ts";
import { buildManifest, type KernelManifest } from "./manifest.ts";
import { buildWrapper, type WrapperInput } from "./wrapper.ts";

export type { ImageManifest, KernelManifest } from "./manifest.ts";
export type { IndexedModule } from "./index_module.ts";
export { CodegenError } from "./plan.ts";
export type { WrapperImage, WrapperInput } from "./wrapper.ts";

/** A generated wrapper. */
export interface GeneratedWrapper {
  /** Text of the TypeScript module. */
  readonly module: string;
  /** By kernel: what the manifest says of it. */
  readonly manifest: Readonly<Record<string, KernelManifest>>;
}

/** The wrapper module of one `.tc` file. Throws a `CodegenError` for kernels that cannot have one. */
export async function generateWrapper(input: WrapperInput): Promise<GeneratedWrapper> {
  const { printModule } = await import("./emit.ts");
  const module = printModule(buildWrapper(input, await hashOf(input.source.text)));
  const manifest = input.kernels.map((
    kernel,
  ) => [kernel.name, buildManifest(kernel, input.images, input.embed)]);
  return { module, manifest: Object.fromEntries(manifest) };
}

/** The `mod.ts` of a folder. Throws a `CodegenError` for wrappers that export the same name. */
export async function generateIndex(modules: readonly IndexedModule[]): Promise<string> {
  const { printModule } = await import("./emit.ts");
  return printModule(buildIndex(modules));
}

/** Enough of the content's SHA-256 to tell versions apart. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
