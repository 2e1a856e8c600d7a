/** The fields of package.json of each package. Both ways to build them (`pack.ts`, `build_npm.ts`) use these. */
import config from "../../deno.json" with { type: "json" };

/** Where the modules of `@tri/tri` are in the package: `deno pack` puts them at its top, dnt into a folder. */
export type Folder = "." | "./esm";

type Fields = Readonly<Record<string, unknown>>;

/** Exports of the repository's deno.json that are no part of the run time. */
const OF_THE_COMMAND: readonly string[] = ["./cli", "./compiler"];

/** Exports that programs do not name: conditions and the emulator's threads load them. */
const HIDDEN = /^\.\/ffi\/(?:runtime|threads)\//;

/** The entry points of `@tri/tri`: export and module, such as `./ffi` and `./ffi/mod.ts`. */
export function runTimeModules(): readonly (readonly [name: string, module: string])[] {
  return Object.entries(config.exports).filter(([name]) => !OF_THE_COMMAND.includes(name));
}

/** The runtime's own module for each runtime, by the conditions that select it; see ffi/runtime/runtime.ts. */
export function runtimeConditions(folder: Folder): Readonly<Record<string, string>> {
  return {
    deno: `${folder}/ffi/runtime/deno.js`,
    bun: `${folder}/ffi/runtime/bun.js`,
    default: `${folder}/ffi/runtime/node.js`,
  };
}

/**
 * What all packages say of themselves. `repository` is the URL of `origin`; without one the field is absent, and npm
 * refuses to publish with provenance.
 */
export function sharedFields(name: string, repository: string | undefined): Fields {
  return {
    name,
    version: config.version,
    keywords: ["cuda", "gpu", "kernel", "ptx", "triton"],
    license: config.license,
    ...repository === undefined ? {} : { repository: { type: "git", url: repository } },
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.16" },
    publishConfig: { access: "public", provenance: true },
  };
}

/** `@tri/tri`, the run time. */
export function runTimeFields(folder: Folder, repository?: string): Fields {
  const exported = runTimeModules().filter(([name]) => !HIDDEN.test(name)).map(([name, module]) => {
    const stem = `${folder}/${module.slice("./".length, -".ts".length)}`;
    return [name, { types: `${stem}.d.ts`, default: `${stem}.js` }];
  });
  return {
    ...sharedFields("@tri/tri", repository),
    description:
      "Runs kernels that tri compiled, on NVIDIA GPUs or an emulator, from Deno, Node and Bun",
    exports: { ...Object.fromEntries(exported), "./package.json": "./package.json" },
    imports: { "#runtime": runtimeConditions(folder) },
    peerDependencies: { koffi: "^3.0.0" },
    peerDependenciesMeta: { koffi: { optional: true } },
  };
}

/** `@tri/kernels`, the shipped kernels. */
export function kernelsFields(repository?: string): Fields {
  return {
    ...sharedFields("@tri/kernels", repository),
    description: "Matrix products, attention, norms, softmax and more for NVIDIA GPUs, with types",
    exports: {
      ".": { types: "./dist/mod.d.ts", default: "./dist/mod.js" },
      "./*": { types: "./dist/*.d.ts", default: "./dist/*.js" },
      "./manifest.json": "./dist/manifest.json",
      "./package.json": "./package.json",
    },
    peerDependencies: { "@tri/tri": `^${config.version}` },
  };
}
