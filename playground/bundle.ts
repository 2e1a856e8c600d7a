/** The modules of the page as scripts, by esbuild: the page, its worker, what keeps them for offline use, the guide's pages. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Scripts by name, minified. `page.js`, `worker.js`, `offline.js` and `guide.js` begin; the others are parts that they import. */
export type Scripts = ReadonlyMap<string, string>;

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.join(HERE, "..");

const ENTRIES = {
  page: "page/main.ts",
  worker: "worker.ts",
  offline: "offline.ts",
  guide: "guide/start.ts",
} as const;

/** What a page has in place of a module: no libraries, no threads, no package for a handful of numbers. */
const REPLACED: Readonly<Record<string, string>> = {
  "#runtime": path.join(ROOT, "ffi/runtime/browser.ts"),
  "vscode-languageserver-protocol": path.join(HERE, "session/protocol.ts"),
};

/** Modules that a page cannot use: no threads of Node, and no libcuda. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  [path.join(ROOT, "ffi/threads/spawn.ts")]: "export function spawnWorker() {}\n",
  [path.join(ROOT, "ffi/cuda/library.ts")]:
    "export const cudaLibraries = () => [];\nexport function openCudaDriver() {}\n",
};

/** Bundles the scripts of the page. */
export function bundleScripts(): Promise<Scripts> {
  return bundle(ENTRIES);
}

/** Bundles the script of the panel that an editor shows, `panel.js`. */
export function bundlePanel(): Promise<Scripts> {
  return bundle({ panel: "panel/main.ts" });
}

async function bundle(entries: Readonly<Record<string, string>>): Promise<Scripts> {
  const esbuild = await import("esbuild");
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: Object.fromEntries(
        Object.entries(entries).map(([name, file]) => [
          name,
          path.join(HERE, file),
        ]),
      ),
      bundle: true,
      write: false,
      minify: true,
      format: "esm",
      // The emulator is a part of its own: what is edited is checked before it is there.
      splitting: true,
      platform: "browser",
      target: "es2022",
      outdir: HERE,
      legalComments: "none",
      logLevel: "silent",
      plugins: [{
        name: "tri",
        setup(build): void {
          build.onResolve({ filter: /^[#@\w]/ }, ({ path: name, importer, kind }) => {
            if (kind === "entry-point") return undefined;
            return { path: REPLACED[name] ?? packageFile(name, importer) };
          });
          build.onLoad({ filter: /(spawn|library)\.ts$/ }, ({ path: file }) => {
            const contents = LEFT_OUT[file];
            return contents === undefined ? undefined : { contents, loader: "ts" };
          });
        },
      }],
    });
    return new Map(outputFiles.map(({ path: file, text }) => [path.basename(file), text]));
  } finally {
    await esbuild.stop();
  }
}

/** Not for calling: Deno installs what a module imports, and only the bundle runs these packages. */
const PACKAGES = {
  "@codemirror/autocomplete": () => import("@codemirror/autocomplete"),
  "@codemirror/commands": () => import("@codemirror/commands"),
  "@codemirror/lint": () => import("@codemirror/lint"),
  "@codemirror/state": () => import("@codemirror/state"),
  "@codemirror/view": () => import("@codemirror/view"),
  "@std/collections/distinct-by": () => import("@std/collections/distinct-by"),
} as const;

/** The module of a package: ours are named in deno.json, and packages name theirs. */
function packageFile(name: string, importer: string): string {
  if (Object.hasOwn(PACKAGES, name)) {
    return fileURLToPath(import.meta.resolve(name));
  }
  // `require` finds the version that the lock file says, as CommonJS; the package names its module.
  const found = createRequire(pathToFileURL(importer)).resolve(name);
  for (
    let folder = path.dirname(found);
    folder !== path.dirname(folder);
    folder = path.dirname(folder)
  ) {
    const file = path.join(folder, "package.json");
    if (!existsSync(file)) continue;
    const { module }: { readonly module?: string } = JSON.parse(readFileSync(file, "utf8"));
    return module === undefined ? found : path.join(folder, module);
  }
  return found;
}
