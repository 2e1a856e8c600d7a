/**
 * `tri build --bundle`: wrappers, run time and images as one module, by esbuild. The native one takes less than a second and
 * is a program; where none may be started its WebAssembly build runs in this process, for seconds. Files are found and
 * read here.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { bug, must } from "../../compiler/support/bug.ts";
import type { Platform } from "../words/options.ts";
import { environmentError } from "../failure.ts";
import { isGranted } from "../host/deno.ts";

/** The version is that of deno.json, which a test compares. */
export const ESBUILD_WASM = "npm:esbuild-wasm@0.28.2/esbuild.wasm";

/** What wrappers import, from here. */
const DOORS: Readonly<Record<string, string>> = {
  "@tri/tri": "../../mod.ts",
  "@tri/tri/ffi": "../../ffi/mod.ts",
};

/** The module of wrappers and the run time in one; `wrappers` is a file's absolute path. */
export async function bundleModule(wrappers: string, platform: Platform): Promise<string> {
  if (!isGranted({ name: "run" })) return await bundleWith(await startWasm(), wrappers, platform);
  const esbuild = await import("esbuild");
  try {
    return await bundleWith(esbuild, wrappers, platform);
  } finally {
    await esbuild.stop();
  }
}

/** The same in both of esbuild's builds. */
export async function bundleWith(
  esbuild: Pick<Esbuild, "build">,
  wrappers: string,
  platform: Platform,
): Promise<string> {
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: `export * from "${pathToFileURL(wrappers).href}";\nexport * from "@tri/tri/ffi";\n`,
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    banner: { js: BANNER },
    logLevel: "silent",
    plugins: [{
      name: "tri",
      setup(build): void {
        build.onResolve(
          { filter: /./ },
          ({ path, importer }) =>
            path.startsWith("node:")
              ? { path, external: true }
              : { path: resolve(path, importer, platform), namespace: "tri" },
        );
        build.onLoad({ filter: /./, namespace: "tri" }, async ({ path }) => ({
          contents: await textAt(new URL(path)),
          loader: path.endsWith(".ts") ? "ts" : "js",
        }));
      },
    }],
  });
  return must(outputFiles[0], "the bundle").text;
}

/** The first line of a bundle, by which tri recognises its own. */
export const BANNER = "// Bundled by tri. Do not edit.";

type Esbuild = typeof import("esbuild-wasm/lib/browser.js");
let started: Promise<Esbuild> | undefined;

/** It starts once in a process. */
export function startWasm(): Promise<Esbuild> {
  started ??= (async () => {
    // A CommonJS module, which Deno gives as the default export.
    const found: Esbuild & { readonly default?: Esbuild } = await import(
      "esbuild-wasm/lib/browser.js"
    );
    const esbuild = found.default ?? found;
    const bytes = readFileSync(new URL(import.meta.resolve(ESBUILD_WASM)));
    await esbuild.initialize({ wasmModule: new WebAssembly.Module(bytes), worker: false });
    return esbuild;
  })();
  return started;
}

/** A module of tri itself, seen from here: on disk or in a registry. */
function moduleUrl(path: string): string {
  return new URL(path, import.meta.url).href;
}

function resolve(path: string, importer: string, platform: Platform): string {
  if (path === "#runtime") return moduleUrl(`../../ffi/runtime/${platform}.ts`);
  const door = DOORS[path];
  if (door !== undefined) return moduleUrl(door);
  if (URL.canParse(path)) return path;
  return path.startsWith(".") ? new URL(path, importer).href : bug(`a wrapper imports ${path}`);
}

/** The emulator's threads start from a file of their own, and a bundle has none: launches run on one thread. */
const NO_THREADS = "export function spawnWorker() {}\n";
const THREADS = moduleUrl("../../ffi/threads/spawn.ts");

/** tri itself may run from a registry. */
async function textAt(url: URL): Promise<string> {
  if (url.href === THREADS) return NO_THREADS;
  if (url.protocol === "file:") return await readFile(url, "utf8");
  const response = await fetch(url);
  if (response.ok) return await response.text();
  throw environmentError(`${url} does not load: ${response.status}`, "Check the network.");
}
