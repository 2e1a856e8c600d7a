/**
 * From compiled kernels to TypeScript: wrappers, the index of a folder, facts for the manifest. What is to be
 * written is decided as plain data; ts-morph, which writes it, is loaded only when there is something to write.
 */
import { buildIndex, type IndexedModule } from "./index_module.ts";
import { buildManifest, type KernelManifest } from "./manifest.ts";
import { definitionsOf } from "./definitions.ts";
import type { ExportedNames, ModuleStructure } from "./structure.ts";
import { buildWrapper } from "./wrapper.ts";
import type { WrapperInput } from "./input.ts";

export type { ImageManifest, KernelManifest } from "./manifest.ts";
export type { IndexedModule } from "./index_module.ts";
export type { ExportedNames } from "./structure.ts";
export { checkWrappable, CodegenError } from "./plan.ts";
export type { Measured, WrapperImage, WrapperInput } from "./input.ts";

/** A generated wrapper. */
export interface GeneratedWrapper {
  /** Its modules by what follows the stem: `.ts`, or `.js`, `.d.ts` and `.d.ts.map`. */
  readonly modules: ReadonlyMap<string, string>;
  /** By kernel: what the manifest says of it. */
  readonly manifest: Readonly<Record<string, KernelManifest>>;
  /** What the wrapper exports. */
  readonly exports: ExportedNames;
}

/** The wrapper module of one `.tc` file. Throws a `CodegenError` for kernels that cannot have one. */
export async function generateWrapper(input: WrapperInput): Promise<GeneratedWrapper> {
  const { printModule } = await import("./emit.ts");
  const wrapper = buildWrapper(input, await hashOf(input.source.text));
  const typescript = printModule(wrapper);
  const manifest = input.kernels.map((
    kernel,
  ) => [kernel.name, buildManifest(kernel, input.images, input.embed, input.exports)]);
  const modules = input.javascript === undefined
    ? new Map([[".ts", typescript]])
    : await javascriptModules(input, typescript, input.javascript.sourcePath);
  return {
    modules,
    manifest: Object.fromEntries(manifest),
    exports: exportsOf(wrapper),
  };
}

async function javascriptModules(
  { kernels, stem, exports }: WrapperInput,
  typescript: string,
  sourcePath: string,
): Promise<ReadonlyMap<string, string>> {
  const { declarationMap, toJavaScript } = await import("./javascript.ts");
  const base = stem.slice(stem.lastIndexOf("/") + 1);
  const { module, declarations } = toJavaScript(typescript, base);
  const map = declarationMap(
    declarations,
    definitionsOf(kernels, exports),
    sourcePath,
    `${base}.d.ts`,
  );
  return new Map([
    [".js", module],
    [".d.ts", `${declarations}//# sourceMappingURL=${base}.d.ts.map\n`],
    [".d.ts.map", map],
  ]);
}

/** The `mod.ts` of a folder, or its `mod.js`. */
export async function generateIndex(
  modules: readonly IndexedModule[],
  options: { readonly javascript?: boolean } = {},
): Promise<ReadonlyMap<string, string>> {
  const { printModule } = await import("./emit.ts");
  const typescript = printModule(buildIndex(modules, options.javascript ? ".js" : ".ts"));
  if (!options.javascript) return new Map([[".ts", typescript]]);
  const { toJavaScript } = await import("./javascript.ts");
  const { module, declarations } = toJavaScript(typescript, "mod");
  return new Map([[".js", module], [".d.ts", declarations]]);
}

function exportsOf({ declarations }: ModuleStructure): ExportedNames {
  const exported = declarations.flatMap((one) =>
    one.kind !== "reexport" && one.kind !== "function" && one.isExported ? [one] : []
  );
  const names = (isValue: boolean): string[] =>
    exported.filter(({ kind }) => (kind === "const") === isValue).map(({ name }) => name);
  return { values: names(true), types: names(false) };
}

/** Enough of the content's SHA-256 to distinguish versions. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
