/** What the npm package says of itself beyond what deno.json says. Both ways to build it (`pack.ts`, `build_npm.ts`) use this. */
import config from "../../deno.json" with { type: "json" };

/** Where modules lie in the package: `deno pack` puts them at its top, dnt into folders by module system. */
export type Folder = "." | "./esm";

/** The runtime's own module for each runtime, by the conditions that choose it; see ffi/runtime/runtime.ts. */
export function runtimeConditions(folder: Folder): Readonly<Record<string, string>> {
  return {
    deno: `${folder}/ffi/runtime/deno.js`,
    bun: `${folder}/ffi/runtime/bun.js`,
    default: `${folder}/ffi/runtime/node.js`,
  };
}

/** The fields of package.json that both packages share. */
export function packageFields(folder: Folder): Record<string, unknown> {
  const { name, version, license } = config;
  const door = (module: string): Record<string, string> => ({
    types: `${folder}/${module}.d.ts`,
    default: `${folder}/${module}.js`,
  });
  return {
    name,
    version,
    description: "Triton-C kernels for NVIDIA GPUs, compiled ahead of time, with typed wrappers",
    keywords: ["cuda", "gpu", "kernel", "ptx", "triton"],
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.16" },
    exports: {
      ".": door("mod"),
      "./ffi": door("ffi/mod"),
      "./ffi/cublas": door("ffi/cublas/mod"),
      "./ffi/dlpack": door("ffi/dlpack/mod"),
      "./formats": door("formats/mod"),
      "./formats/npy": door("formats/npy"),
      "./formats/npz": door("formats/npz"),
      "./formats/safetensors": door("formats/safetensors"),
      "./bench": door("bench/mod"),
      "./testing": door("testing/mod"),
      "./kernels": { types: "./kernels/mod.d.ts", default: "./kernels/mod.js" },
      "./kernels/*": { types: "./kernels/*.d.ts", default: "./kernels/*.js" },
      "./package.json": "./package.json",
    },
    imports: { "#runtime": runtimeConditions(folder) },
    peerDependencies: { koffi: "^3.0.0" },
    peerDependenciesMeta: { koffi: { optional: true } },
  };
}
