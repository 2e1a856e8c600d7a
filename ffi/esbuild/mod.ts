/**
 * A plugin for esbuild that puts the images of kernels into the bundle. esbuild leaves `new URL("./image", import.meta.url)` as
 * it is, and the bundle would look for the images beside itself; other bundlers (Vite, webpack, Rollup with a plugin)
 * take such files along.
 *
 * @example
 * ```js
 * import { build } from "esbuild";
 * import { embedImages } from "@tri/tri/esbuild";
 *
 * await build({ entryPoints: ["main.js"], bundle: true, outfile: "bundle.cjs", platform: "node", plugins: [embedImages()] });
 * ```
 *
 * @module
 */

import { theProcess } from "../runtime/builtin.ts";

/** A module, as esbuild asks plugins for it. */
export interface LoadRequest {
  /** Absolute path of the file. */
  readonly path: string;
}

/** A module, as plugins give it to esbuild. */
export interface LoadedModule {
  /** The module's text. */
  readonly contents: string;
  /** Its language. */
  readonly loader: "js" | "ts";
}

/** What of esbuild's `PluginBuild` is used. */
export interface PluginBuild {
  /** Registers what gives the modules whose path matches. */
  onLoad(
    options: { readonly filter: RegExp },
    load: (request: LoadRequest) => LoadedModule | undefined,
  ): void;
}

/** A plugin for esbuild. */
export interface ImagePlugin {
  /** Shown in esbuild's messages. */
  readonly name: string;
  /** Called by esbuild. */
  readonly setup: (build: PluginBuild) => void;
}

/** As wrappers name an image beside themselves. */
const IMAGE = /new URL\(\s*"(\.\/[^"]+\.(?:ptx|cubin)(?:\.br)?)",\s*import\.meta\.url,?\s*\)/g;

/** The plugin. It reads wrappers and their images; an image that is missing fails the build. */
export function embedImages(): ImagePlugin {
  const { readFileSync } = theProcess().getBuiltinModule("node:fs");
  return {
    name: "tri-images",
    setup(build): void {
      build.onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        const text = new TextDecoder().decode(readFileSync(path));
        const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")));
        const contents = text.replaceAll(IMAGE, (_url, image: string) => {
          const base64 = toBase64(readFileSync(`${folder}/${image}`));
          return `new URL("data:application/octet-stream;base64,${base64}")`;
        });
        if (contents === text) return undefined;
        return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
      });
    },
  };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
